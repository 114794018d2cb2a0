#include "runtime/plan_cache.h"

#include <algorithm>

#include "base/log.h"

namespace tutti::runtime {

namespace {

constexpr size_t kMostCalls = 4096;
// Results larger than this leave most caches anyway: write them past it. Not in place, where their lines have just been
// read: that was a quarter slower.
constexpr size_t kStreamingBytes = size_t{32} << 20;

size_t max_operands(const algorithms::Plan& plan) {
  size_t most = 0;
  for (const algorithms::Lane& lane : plan.lanes)
    for (const algorithms::Step& step : lane.steps) most = std::max<size_t>({most, step.sources, step.destinations});
  return most;
}

std::string name_of(const algorithms::Choice& choice) {
  return fmt::format("{}(lanes={})", choice.generator, choice.lanes);
}

}  // namespace

void PlanCache::configure(int rank, const algorithms::Snapshot& snapshot, const transport::QueueShape& shape) {
  rank_ = rank;
  snapshot_ = snapshot;
  shape_ = shape;
}

void PlanCache::trim() {
  if (calls_.size() <= kMostCalls) [[likely]]
    return;
  last_ = nullptr;
  calls_.clear();
}

Result<std::shared_ptr<BoundPlan>> PlanCache::plan_for(const algorithms::Choice& choice,
                                                       const algorithms::Request& request) {
  const std::string key = fmt::format("{} {} {}", static_cast<int>(request.collective), request.root, name_of(choice));
  if (const auto it = plans_.find(key); it != plans_.end()) return it->second;
  TUTTI_ASSIGN_OR_RETURN(algorithms::Plan plan, algorithms::make_plan(choice, request, snapshot_, rank_));
  if (plan.lanes.size() > shape_.lanes)
    return error(Code::kInvalidUsage, "plan {} has {} lanes, connections have {}", plan.header.name, plan.lanes.size(),
                 shape_.lanes);
  auto bound = std::make_shared<BoundPlan>();
  bound->plan = std::move(plan);
  bound->max_operands = max_operands(bound->plan);
  for (const algorithms::Lane& lane : bound->plan.lanes) bound->peer_operands += lane.operands.size();
  bound->queues.resize(shape_.flights);
  for (auto& flight : bound->queues)
    for (const algorithms::Lane& lane : bound->plan.lanes) flight.emplace_back(lane.operands.size());
  plans_.emplace(key, bound);
  return bound;
}

Result<const PreparedCall*> PlanCache::prepare(Collective kind, uint64_t count, DataType type, ReduceOp op, int root) {
  const Key key{count, root, kind, type, op};
  if (last_ != nullptr && last_key_ == key) [[likely]]
    return last_;
  auto it = calls_.find(key);
  if (it == calls_.end()) {
    algorithms::Request request;
    request.collective = kind;
    request.count = count;
    request.type = type;
    request.op = op;
    request.root = root;
    TUTTI_ASSIGN_OR_RETURN(const algorithms::Choice choice, algorithms::select(request, snapshot_));
    TUTTI_ASSIGN_OR_RETURN(std::shared_ptr<BoundPlan> bound, plan_for(choice, request));
    if (op == ReduceOp::kPreMulSum && bound->max_operands > 64)
      return error(Code::kInvalidUsage, "plan {} combines {} operands at once; PreMulSum allows 64", name_of(choice),
                   bound->max_operands);
    log_info(Subsystem::kColl, "rank {}: {} of {} {} ({} bytes), {}: plan {}, {}", rank_, name_of(kind), count,
             name_of(type), request.bytes(), name_of(op), bound->plan.header.name, choice.why);
    auto call = std::make_unique<PreparedCall>();
    const algorithms::PlanHeader& header = bound->plan.header;
    call->bound = std::move(bound);
    call->op = op;
    call->fingerprint.count = count;
    call->fingerprint.plan = header.hash;
    call->fingerprint.snapshot = snapshot_.number;
    call->fingerprint.root = root;
    call->fingerprint.kind = kind;
    call->fingerprint.type = type;
    call->fingerprint.op = op;
    call->slicing = algorithms::make_slicing(header, count, size_of(type), shape_.slot_bytes, choice.slices);
    call->scratch_bytes =
        header.scratch_chunks * size_of(type) * (header.scratch_per_loop ? call->slicing.piece : call->slicing.chunk);
    call->reduce = kernels::host_kernels().reduce[static_cast<int>(type)][static_cast<int>(op)];
    call->divisor = op == ReduceOp::kAvg ? static_cast<uint32_t>(header.nranks) : 0;
    call->streaming = request.bytes() >= kStreamingBytes;
    it = calls_.emplace(key, std::move(call)).first;
  }
  last_key_ = key;
  last_ = it->second.get();
  return last_;
}

}  // namespace tutti::runtime
