#include "algorithms/select.h"

#include <algorithm>

#include "algorithms/lower.h"
#include "algorithms/schedule.h"

namespace tutti::algorithms {
namespace {

struct Pick {
  Row row;
  std::string why;
};

// What NCCL_ALGO leaves of a default. Its words are about ring and tree only; all other algorithms are Tutti's own and
// stay available unless only ring or tree are allowed.
Pick filtered(Pick pick, const AlgoFilter& filter) {
  const auto has = [](const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (filter.only.size() == 1) {
    pick.row = Row{filter.only[0], 0, 0, std::numeric_limits<size_t>::max()};
    pick.why = fmt::format("NCCL_ALGO allows only {}", filter.only[0]);
  } else if (has(filter.without, pick.row.generator)) {
    const std::string excluded = pick.row.generator;
    pick.row.generator = has(filter.without, "ring") ? (has(filter.without, "tree") ? "two_shot" : "tree") : "ring";
    pick.why = fmt::format("NCCL_ALGO excludes {}", excluded);
  }
  if (!filter.note.empty()) pick.why += fmt::format(" ({})", filter.note);
  return pick;
}

Result<Pick> pick_row(const Request& request, const Snapshot& snapshot) {
  const size_t bytes = request.bytes();
  const auto& table = snapshot.overrides.allreduce;
  std::string gap;
  if (table) {
    if (const Row* row = table->find(bytes)) return Pick{*row, fmt::format("TUTTI_ALLREDUCE says {}", to_text(*row))};
    gap = "; TUTTI_ALLREDUCE has no row for this size";
  }
  const std::string_view text = default_table(snapshot.topology);
  TUTTI_ASSIGN_OR_RETURN(const Table defaults, parse_table("default table", request.collective, text));
  const Row* row = defaults.find(bytes);
  if (row == nullptr)
    return error(Code::kInternalError, "the default table \"{}\" has no row for {} bytes", text, bytes);
  return filtered({*row, fmt::format("default for {} ranks on {} nodes: {}{}", snapshot.topology.nranks(),
                                     snapshot.topology.nodes(), to_text(*row), gap)},
                  snapshot.overrides.allreduce_algo);
}

constexpr uint32_t kMostScaledSources = 64;  // that a kernel takes

// A PreMulSum multiplies while it adds; see Generator::computes_once for what that asks of a plan.
Pick fit_for_premul(Pick pick, const Request& request, const Generator& generator, const Shape& shape) {
  if (request.op != ReduceOp::kPreMulSum) return pick;
  const bool narrow = request.type == DataType::kFloat16 || request.type == DataType::kBfloat16 ||
                      request.type == DataType::kFloat8e4m3 || request.type == DataType::kFloat8e5m2;
  const bool bits_differ = narrow && !generator.computes_once;
  if (!bits_differ && shape.max_sources <= kMostScaledSources) return pick;
  pick.row.generator = "halving_doubling";
  pick.why += fmt::format("; halving_doubling instead, since {} {} in a PreMulSum of {}", generator.name,
                          bits_differ ? "would round differently on different ranks" : "scales more than 64 operands",
                          name_of(request.type));
  return pick;
}

}  // namespace

std::string_view default_table(const topology::Topology& topology) {
  const int ranks = topology.nranks();
  const int nodes = topology.nodes();
  if (nodes > 1 && nodes < ranks) return "hierarchy_leaders:0-32K;hierarchy:32K-max";
  if (nodes > 1) {
    if (ranks == 2) return "one_shot:0-64K;two_shot:64K-max";
    return "recursive_doubling:0-32K;tree:32K-1M;ring:1M-max";
  }
  if (ranks == 1) return "one_shot:0-max";
  if (ranks == 2) return "one_shot:0-32K;two_shot:32K-max";
  if (ranks <= 8 && topology.oversubscribed())
    return "one_shot:0-8K;two_shot:8K-64K;ring:64K-256K;tree:256K-1M;ring:1M-max";
  if (ranks <= 8) return "one_shot:0-8K;two_shot:8K-max";
  // Every round costs a change of process where ranks share cores: then the fewest rounds win at every size.
  if (topology.oversubscribed()) return "recursive_doubling:0-16K;halving_doubling:16K-max";
  return "recursive_doubling:0-16K;halving_doubling:16K-4M;ring:4M-max";
}

Result<Overrides> parse_overrides(const std::optional<std::string>& allreduce, const std::optional<std::string>& algo) {
  Overrides overrides;
  if (allreduce) {
    TUTTI_ASSIGN_OR_RETURN(overrides.allreduce, parse_table("TUTTI_ALLREDUCE", Collective::kAllReduce, *allreduce));
  }
  if (algo) {
    TUTTI_ASSIGN_OR_RETURN(overrides.allreduce_algo, parse_nccl_algo(Collective::kAllReduce, *algo));
  }
  return overrides;
}

Status validate(const Snapshot& snapshot) {
  TUTTI_RETURN_IF_ERROR(topology::validate(snapshot.topology));
  if (snapshot.queue_depth < 2) {
    return error(Code::kInvalidArgument, "snapshot {}: queues of {} slots; plans need at least 2", snapshot.number,
                 snapshot.queue_depth);
  }
  if (snapshot.slot_bytes < 64 || snapshot.slot_bytes % 64 != 0) {
    return error(Code::kInvalidArgument, "snapshot {}: slots of {} bytes; a positive multiple of 64 is needed",
                 snapshot.number, snapshot.slot_bytes);
  }
  if (snapshot.max_lanes < 1) return error(Code::kInvalidArgument, "snapshot {}: no lanes", snapshot.number);
  return {};
}

Result<Choice> select(const Request& request, const Snapshot& snapshot) {
  TUTTI_RETURN_IF_ERROR(validate(snapshot));
  if (request.collective != Collective::kAllReduce) {
    return error(Code::kInvalidUsage, "there is no algorithm for {}", name_of(request.collective));
  }
  TUTTI_ASSIGN_OR_RETURN(Pick pick, pick_row(request, snapshot));
  const Parameters parameters{snapshot.topology, snapshot.queue_depth};
  const Generator* generator = find_generator(request.collective, pick.row.generator);
  if (generator == nullptr) {
    return error(Code::kInvalidUsage, "there is no algorithm \"{}\" for {}; there are {}", pick.row.generator,
                 name_of(request.collective), generator_names(request.collective));
  }
  pick = fit_for_premul(std::move(pick), request, *generator, generator->shape(parameters));
  generator = find_generator(request.collective, pick.row.generator);
  const Shape shape = generator->shape(parameters);
  if (shape.streams > snapshot.max_lanes) {
    return error(Code::kInvalidUsage, "{} needs {} lanes, but there are queues for {}", generator->name, shape.streams,
                 snapshot.max_lanes);
  }
  if (shape.max_chunks > snapshot.slot_bytes / size_of(request.type)) {
    return error(Code::kInvalidUsage,
                 "{} puts {} chunks into a message, but a slot of {} bytes holds {} elements of {}", generator->name,
                 shape.max_chunks, snapshot.slot_bytes, snapshot.slot_bytes / size_of(request.type),
                 name_of(request.type));
  }
  Choice choice;
  choice.generator = pick.row.generator;
  choice.lanes = std::clamp<uint32_t>(pick.row.lanes, 1, snapshot.max_lanes / shape.streams);
  // As many as were proved: larger pieces mean fewer loops, and a step hands on slices while more are coming.
  choice.slices = shape.max_slices != 0 ? shape.max_slices : 2 * snapshot.queue_depth;
  if (pick.row.lanes > choice.lanes) {
    pick.why += fmt::format("; {} lanes instead of {}, since there are queues for {}", choice.lanes, pick.row.lanes,
                            snapshot.max_lanes);
  }
  choice.why = std::move(pick.why);
  return choice;
}

Result<Plan> make_plan(const Choice& choice, const Request& request, const Snapshot& snapshot, int rank) {
  const Generator* generator = find_generator(request.collective, choice.generator);
  if (generator == nullptr) {
    return error(Code::kInvalidUsage, "there is no algorithm \"{}\" for {}", choice.generator,
                 name_of(request.collective));
  }
  return lower(*generator, {snapshot.topology, snapshot.queue_depth}, request.collective, request.root, choice.lanes,
               rank);
}

}  // namespace tutti::algorithms
