#include "algorithms/lower.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace tutti::algorithms {
namespace {

constexpr uint32_t kMaxLanes = 64;  // of a plan, streams times copies

bool contains(const std::vector<Operand>& operands, const Operand& operand) {
  return std::find(operands.begin(), operands.end(), operand) != operands.end();
}

// Whether `copy` only hands on what `first` has just put into a local buffer.
bool hands_on(const Operation& first, const Operation& copy) {
  return copy.is_copy() && copy.run == first.run && copy.sources[0].role != Role::kPeer &&
         contains(first.destinations, copy.sources[0]) &&
         std::none_of(copy.destinations.begin(), copy.destinations.end(),
                      [&](const Operand& to) { return contains(first.destinations, to); });
}

// Removes scratch destinations that are not read before they are written again. From the back: `read_later` holds the
// scratch chunks whose present content somebody will read.
void drop_dead_scratch(std::vector<Operation>& operations) {
  std::set<uint32_t> read_later;
  for (auto operation = operations.rbegin(); operation != operations.rend(); ++operation) {
    const uint32_t chunks = operation->run.chunks;
    const auto dead = [&](const Operand& to) {
      if (to.role != Role::kScratch || operation->destinations.size() == 1) return false;
      const auto next = read_later.lower_bound(to.index);
      return next == read_later.end() || *next >= to.index + chunks;
    };
    std::erase_if(operation->destinations, dead);
    for (const Operand& to : operation->destinations) {
      if (to.role == Role::kScratch) {
        for (uint32_t i = 0; i < chunks; ++i) read_later.erase(to.index + i);
      }
    }
    for (const Operand& from : operation->sources) {
      if (from.role == Role::kScratch) {
        for (uint32_t i = 0; i < chunks; ++i) read_later.insert(from.index + i);
      }
    }
  }
}

class Hasher {
 public:
  void add(uint64_t value) {
    state_ ^= value + 0x9e3779b97f4a7c15u + (state_ << 6) + (state_ >> 2);
    state_ = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9u;
    state_ = (state_ ^ (state_ >> 27)) * 0x94d049bb133111ebu;
    state_ ^= state_ >> 31;
  }
  void add(std::string_view text) {
    add(text.size());
    for (const char c : text) add(static_cast<uint64_t>(static_cast<unsigned char>(c)));
  }
  uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0x7475747469000001u;  // changes whenever a generator's plans change
};

}  // namespace

void pass_fuse(Schedule& schedule) {
  std::vector<Operation> fused;
  std::unordered_map<uint32_t, size_t> latest;  // stream -> its last operation so far
  for (Operation& operation : schedule.operations) {
    const auto before = latest.find(operation.stream);
    // Only an operation that directly precedes in program order: what stands in between may touch the same chunk.
    if (before != latest.end() && before->second + 1 == fused.size() && hands_on(fused.back(), operation)) {
      auto& destinations = fused.back().destinations;
      destinations.insert(destinations.end(), operation.destinations.begin(), operation.destinations.end());
      continue;
    }
    latest[operation.stream] = fused.size();
    fused.push_back(std::move(operation));
  }
  drop_dead_scratch(fused);
  schedule.operations = std::move(fused);
}

void pass_depend(Schedule& schedule) {
  struct Uses {
    int64_t writer = -1;
    std::vector<uint32_t> readers;  // since then
  };
  std::map<std::pair<Role, uint32_t>, Uses> uses;
  for (uint32_t index = 0; index < schedule.operations.size(); ++index) {
    Operation& operation = schedule.operations[index];
    std::map<uint32_t, uint32_t> latest;  // of each other stream, the last operation to wait for
    const auto wait_for = [&](int64_t other) {
      if (other < 0) return;
      const uint32_t stream = schedule.operations[static_cast<size_t>(other)].stream;
      if (stream != operation.stream) latest[stream] = std::max(latest[stream], static_cast<uint32_t>(other));
    };
    const auto each_chunk = [&](const std::vector<Operand>& operands, auto&& visit) {
      for (const Operand& operand : operands) {
        if (operand.role == Role::kPeer) continue;
        for (uint32_t i = 0; i < operation.run.chunks; ++i) visit(uses[{operand.role, operand.index + i}]);
      }
    };
    each_chunk(operation.sources, [&](Uses& use) { wait_for(use.writer); });
    each_chunk(operation.destinations, [&](Uses& use) {
      wait_for(use.writer);
      for (const uint32_t reader : use.readers) wait_for(reader);
    });
    each_chunk(operation.sources, [&](Uses& use) { use.readers.push_back(index); });
    each_chunk(operation.destinations, [&](Uses& use) { use = {index, {}}; });
    for (const auto& [stream, other] : latest) operation.after.push_back(other);
  }
}

void pass_lanes(Schedule& schedule, Shape& shape, uint32_t lanes) {
  const std::vector<Operation> original = std::move(schedule.operations);
  schedule.operations.clear();
  schedule.operations.reserve(original.size() * lanes);
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    const auto move = [&](std::vector<Operand>& operands) {
      for (Operand& operand : operands) {
        if (operand.role == Role::kPeer) continue;
        if (operand.role == Role::kScratch) {
          operand.index += lane * shape.scratch_chunks;
        } else {
          const uint32_t block = operand.index / shape.chunks;
          operand.index = (block * lanes + lane) * shape.chunks + operand.index % shape.chunks;
        }
      }
    };
    const auto first = static_cast<uint32_t>(schedule.operations.size());
    for (Operation operation : original) {
      operation.run.first += lane * shape.chunks;
      operation.stream += lane * shape.streams;
      move(operation.sources);
      move(operation.destinations);
      for (uint32_t& other : operation.after) other += first;
      schedule.operations.push_back(std::move(operation));
    }
  }
  shape.chunks *= lanes;
  shape.scratch_chunks *= lanes;
  shape.streams *= lanes;
}

Result<Plan> pass_number(const Schedule& schedule, const PlanHeader& header) {
  constexpr size_t kMost = std::numeric_limits<uint16_t>::max();
  Plan plan;
  plan.header = header;
  plan.rank = schedule.rank;
  plan.lanes.resize(header.lanes);
  std::vector<Dependence> place;  // of each operation
  for (const Operation& operation : schedule.operations) {
    Lane& lane = plan.lanes[operation.stream];
    place.push_back({operation.stream, static_cast<uint32_t>(lane.steps.size())});
    if (operation.sources.size() > kMost || operation.destinations.size() > kMost || operation.run.chunks > kMost) {
      return error(Code::kInternalError,
                   "{}: rank {} lane {} step {}: {} sources, {} destinations, {} chunks; at most {}", header.name,
                   plan.rank, place.back().lane, place.back().step, operation.sources.size(),
                   operation.destinations.size(), operation.run.chunks, kMost);
    }
    Step step;
    step.first_source = static_cast<uint32_t>(lane.operands.size());
    step.sources = static_cast<uint16_t>(operation.sources.size());
    step.destinations = static_cast<uint16_t>(operation.destinations.size());
    step.first_dependence = static_cast<uint32_t>(lane.dependences.size());
    step.dependences = static_cast<uint16_t>(operation.after.size());
    step.chunks = static_cast<uint16_t>(operation.run.chunks);
    step.first_chunk = operation.run.first;
    step.completes = operation.completes;
    lane.operands.insert(lane.operands.end(), operation.sources.begin(), operation.sources.end());
    lane.operands.insert(lane.operands.end(), operation.destinations.begin(), operation.destinations.end());
    for (const uint32_t other : operation.after) lane.dependences.push_back(place[other]);
    lane.steps.push_back(step);
  }
  for (const Lane& lane : plan.lanes) {
    for (const Operand& operand : lane.operands) {
      if (operand.role == Role::kScratch && operand.index >= header.scratch_chunks) {
        return error(Code::kInternalError, "{}: rank {} uses scratch chunk {}, but the plan has {}", header.name,
                     plan.rank, operand.index, header.scratch_chunks);
      }
    }
    for (const Dependence& dependence : lane.dependences) {
      plan.lanes[dependence.lane].steps[dependence.step].depended_on = true;
    }
  }
  return plan;
}

PlanHeader make_header(const Generator& generator, const Parameters& parameters, Collective collective, int root,
                       uint32_t lanes) {
  const Shape shape = generator.shape(parameters);
  PlanHeader header;
  header.name = lanes == 1 ? std::string(generator.name) : fmt::format("{}(lanes={})", generator.name, lanes);
  header.collective = collective;
  header.nranks = parameters.nranks();
  header.root = root;
  header.chunks = shape.chunks * lanes;
  header.scratch_chunks = shape.scratch_chunks * lanes;
  header.lanes = shape.streams * lanes;
  header.max_chunks = shape.max_chunks;
  header.max_slices = shape.max_slices;
  header.queue_depth = parameters.queue_depth;
  header.lending = shape.lending;

  Hasher hasher;
  hasher.add(header.name);
  hasher.add(static_cast<uint64_t>(collective));
  hasher.add(static_cast<uint64_t>(static_cast<int64_t>(root)));
  hasher.add(static_cast<uint64_t>(header.nranks));
  hasher.add(lanes);
  hasher.add(header.queue_depth);
  if (generator.uses_nodes) {
    for (const int node : parameters.topology.node) hasher.add(static_cast<uint64_t>(node));
  }
  header.hash = hasher.value();
  return header;
}

Result<Plan> lower(const Generator& generator, const Parameters& parameters, Collective collective, int root,
                   uint32_t lanes, int rank) {
  if (rank < 0 || rank >= parameters.nranks()) {
    return error(Code::kInvalidArgument, "{}: rank {} is outside 0..{}", generator.name, rank, parameters.nranks() - 1);
  }
  if (parameters.queue_depth < 2) {
    return error(Code::kInvalidArgument, "{}: queues of {} slots; plans need at least 2", generator.name,
                 parameters.queue_depth);
  }
  const uint32_t streams = generator.shape(parameters).streams;
  if (lanes == 0 || lanes > kMaxLanes / streams) {
    return error(Code::kInvalidArgument, "{}: {} copies of {} lanes; at least 1 copy and at most {} lanes are possible",
                 generator.name, lanes, streams, kMaxLanes);
  }
  Schedule schedule = generator.schedule(parameters, rank);
  Shape shape = generator.shape(parameters);
  pass_fuse(schedule);
  pass_depend(schedule);
  pass_lanes(schedule, shape, lanes);
  return pass_number(schedule, make_header(generator, parameters, collective, root, lanes));
}

}  // namespace tutti::algorithms
