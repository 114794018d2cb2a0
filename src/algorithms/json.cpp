#include "algorithms/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

namespace tutti::algorithms {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr std::array<std::string_view, 4> kRoles = {"input", "output", "scratch", "rank"};

// Reads fields and keeps the first error; later reads then do nothing. The JSON library's own exceptions are never
// provoked: every type is asked for first.
class Reader {
 public:
  explicit Reader(std::string_view what) : what_(what) {}

  const Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }

  void fail(std::string_view field, std::string_view expected) {
    if (ok())
      status_ = error(Code::kInvalidArgument, "{}: field \"{}\" is missing or is not {}", what_, field, expected);
  }

  // The named member of an object, or nullptr after an error.
  const Json* member(const Json& object, std::string_view field) {
    if (!ok()) return nullptr;
    const auto found = object.is_object() ? object.find(std::string(field)) : object.end();
    if (!object.is_object() || found == object.end()) {
      fail(field, "given");
      return nullptr;
    }
    return &*found;
  }

  template <class Value>
  void read(const Json& object, std::string_view field, Value& value) {
    if (const Json* found = member(object, field)) convert(*found, field, value);
  }

  void convert(const Json& from, std::string_view field, bool& value) {
    if (!from.is_boolean()) return fail(field, "true or false");
    value = from.get<bool>();
  }
  void convert(const Json& from, std::string_view field, double& value) {
    if (!from.is_number()) return fail(field, "a number");
    value = from.get<double>();
  }
  void convert(const Json& from, std::string_view field, std::string& value) {
    if (!from.is_string()) return fail(field, "a text");
    value = from.get<std::string>();
  }
  template <class Integer>
  requires std::is_integral_v<Integer>
  void convert(const Json& from, std::string_view field, Integer& value) {
    const bool negative = from.is_number_integer() && !from.is_number_unsigned();
    const bool fits = from.is_number_unsigned() ? std::in_range<Integer>(from.get<uint64_t>())
                                                : negative && std::in_range<Integer>(from.get<int64_t>());
    if (!fits) return fail(field, "an integer in range");
    value = negative ? static_cast<Integer>(from.get<int64_t>()) : static_cast<Integer>(from.get<uint64_t>());
  }
  template <class Value>
  void convert(const Json& from, std::string_view field, std::vector<Value>& values) {
    if (!from.is_array()) return fail(field, "a list");
    for (const Json& element : from) convert(element, field, values.emplace_back());
  }
  void convert(const Json& from, std::string_view field, Operand& operand) {
    const auto role = from.is_array() && from.size() == 2 && from[0].is_string()
                          ? std::find(kRoles.begin(), kRoles.end(), from[0].get<std::string>())
                          : kRoles.end();
    if (role == kRoles.end()) return fail(field, "a list of [\"input\" | \"output\" | \"scratch\" | \"rank\", number]");
    operand.role = static_cast<Role>(role - kRoles.begin());
    convert(from[1], field, operand.index);
  }
  void convert(const Json& from, std::string_view field, Dependence& dependence) {
    if (!from.is_array() || from.size() != 2) return fail(field, "a list of [lane, step]");
    convert(from[0], field, dependence.lane);
    convert(from[1], field, dependence.step);
  }
  void convert(const Json& from, std::string_view, topology::Link& link) {
    read(from, "from", link.from);
    read(from, "to", link.to);
    read(from, "gbs", link.capacity);
    read(from, "latency_us", link.latency_us);
  }
  void convert(const Json& from, std::string_view, LinkCost& cost) {
    read(from, "latency_us", cost.latency_us);
    read(from, "gbs", cost.gbs);
  }

 private:
  std::string what_;
  Status status_;
};

Result<Json> parse(std::string_view what, std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return error(Code::kInvalidArgument, "{}: not JSON ({} characters)", what, text.size());
  Reader reader(what);
  int format = 0;
  reader.read(json, "format", format);
  TUTTI_RETURN_IF_ERROR(reader.status());
  if (format != kFormat) {
    return error(Code::kInvalidArgument, "{}: format {}, but this version reads format {}", what, format, kFormat);
  }
  return json;
}

Json operand_json(const Operand& operand) {
  return Json::array({kRoles[static_cast<size_t>(operand.role)], operand.index});
}

Json step_json(const Lane& lane, const Step& step) {
  Json sources = Json::array();
  Json destinations = Json::array();
  for (uint32_t i = 0; i < step.sources; ++i) sources.push_back(operand_json(lane.operands[step.first_source + i]));
  for (uint32_t i = 0; i < step.destinations; ++i) {
    destinations.push_back(operand_json(lane.operands[step.first_source + step.sources + i]));
  }
  Json after = Json::array();
  for (uint32_t i = 0; i < step.dependences; ++i) {
    const Dependence& other = lane.dependences[step.first_dependence + i];
    after.push_back(Json::array({other.lane, other.step}));
  }
  return {{"first_chunk", step.first_chunk}, {"chunks", step.chunks},       {"sources", sources},
          {"destinations", destinations},    {"completes", step.completes}, {"after", after},
          {"depended_on", step.depended_on}};
}

void read_step(Reader& reader, const Json& json, Lane& lane) {
  Step step;
  std::vector<Operand> sources;
  std::vector<Operand> destinations;
  std::vector<Dependence> after;
  reader.read(json, "first_chunk", step.first_chunk);
  reader.read(json, "chunks", step.chunks);
  reader.read(json, "sources", sources);
  reader.read(json, "destinations", destinations);
  reader.read(json, "completes", step.completes);
  reader.read(json, "after", after);
  reader.read(json, "depended_on", step.depended_on);
  if (sources.size() > UINT16_MAX || destinations.size() > UINT16_MAX || after.size() > UINT16_MAX) {
    return reader.fail("steps", "short enough");
  }
  step.first_source = static_cast<uint32_t>(lane.operands.size());
  step.sources = static_cast<uint16_t>(sources.size());
  step.destinations = static_cast<uint16_t>(destinations.size());
  step.first_dependence = static_cast<uint32_t>(lane.dependences.size());
  step.dependences = static_cast<uint16_t>(after.size());
  lane.operands.insert(lane.operands.end(), sources.begin(), sources.end());
  lane.operands.insert(lane.operands.end(), destinations.begin(), destinations.end());
  lane.dependences.insert(lane.dependences.end(), after.begin(), after.end());
  lane.steps.push_back(step);
}

void read_lanes(Reader& reader, const Json& json, Plan& plan) {
  const Json* lanes = reader.member(json, "lanes");
  if (lanes == nullptr) return;
  if (!lanes->is_array()) return reader.fail("lanes", "a list");
  for (const Json& steps : *lanes) {
    Lane& lane = plan.lanes.emplace_back();
    if (!steps.is_array()) return reader.fail("lanes", "a list of lists of steps");
    for (const Json& step : steps) {
      if (reader.ok()) read_step(reader, step, lane);
    }
  }
}

void read_collective(Reader& reader, const Json& json, Collective& collective) {
  std::string name;
  reader.read(json, "collective", name);
  for (int i = 0; i <= static_cast<int>(Collective::kBarrier); ++i) {
    collective = static_cast<Collective>(i);
    if (name_of(collective) == name) return;
  }
  reader.fail("collective", "the name of a collective");
}

void read_lending(Reader& reader, const Json& json, Lending& lending) {
  std::string name;
  reader.read(json, "lending", name);
  for (const Lending each : {Lending::kNever, Lending::kOutOfPlace, Lending::kAlways}) {
    lending = each;
    if (name_of(each) == name) return;
  }
  reader.fail("lending", "never, out_of_place or always");
}

void read_hash(Reader& reader, const Json& json, uint64_t& hash) {
  std::string text;
  reader.read(json, "hash", text);
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (failure != std::errc() || end != text.data() + text.size()) reader.fail("hash", "a hexadecimal text");
}

Json cost_json(const LinkCost& cost) {
  return {{"latency_us", cost.latency_us}, {"gbs", cost.gbs}};
}

}  // namespace

std::string to_json(const Plan& plan) {
  const PlanHeader& header = plan.header;
  Json lanes = Json::array();
  for (const Lane& lane : plan.lanes) {
    Json steps = Json::array();
    for (const Step& step : lane.steps) steps.push_back(step_json(lane, step));
    lanes.push_back(std::move(steps));
  }
  const Json json = {{"format", kFormat},
                     {"name", header.name},
                     {"hash", fmt::format("{:016x}", header.hash)},
                     {"collective", name_of(header.collective)},
                     {"nranks", header.nranks},
                     {"root", header.root},
                     {"chunks", header.chunks},
                     {"input_blocks", header.input_blocks},
                     {"output_blocks", header.output_blocks},
                     {"scratch_chunks", header.scratch_chunks},
                     {"scratch_per_loop", header.scratch_per_loop},
                     {"max_chunks", header.max_chunks},
                     {"max_slices", header.max_slices},
                     {"queue_depth", header.queue_depth},
                     {"lending", name_of(header.lending)},
                     {"in_place", header.in_place},
                     {"rank", plan.rank},
                     {"lanes", std::move(lanes)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

Result<Plan> plan_from_json(std::string_view text) {
  TUTTI_ASSIGN_OR_RETURN(const Json json, parse("plan", text));
  Reader reader("plan");
  Plan plan;
  PlanHeader& header = plan.header;
  reader.read(json, "name", header.name);
  read_hash(reader, json, header.hash);
  read_collective(reader, json, header.collective);
  reader.read(json, "nranks", header.nranks);
  reader.read(json, "root", header.root);
  reader.read(json, "chunks", header.chunks);
  reader.read(json, "input_blocks", header.input_blocks);
  reader.read(json, "output_blocks", header.output_blocks);
  reader.read(json, "scratch_chunks", header.scratch_chunks);
  reader.read(json, "scratch_per_loop", header.scratch_per_loop);
  reader.read(json, "max_chunks", header.max_chunks);
  reader.read(json, "max_slices", header.max_slices);
  reader.read(json, "queue_depth", header.queue_depth);
  read_lending(reader, json, header.lending);
  reader.read(json, "in_place", header.in_place);
  reader.read(json, "rank", plan.rank);
  read_lanes(reader, json, plan);
  TUTTI_RETURN_IF_ERROR(reader.status());
  header.lanes = static_cast<uint32_t>(plan.lanes.size());
  return plan;
}

std::string to_json(const Snapshot& snapshot) {
  Json links = Json::array();
  for (const topology::Link& link : snapshot.topology.links) {
    links.push_back({{"from", link.from}, {"to", link.to}, {"gbs", link.capacity}, {"latency_us", link.latency_us}});
  }
  const Overrides& overrides = snapshot.overrides;
  const Json json = {{"format", kFormat},
                     {"number", snapshot.number},
                     {"node", snapshot.topology.node},
                     {"cores", snapshot.topology.cores},
                     {"links", std::move(links)},
                     {"queue_depth", snapshot.queue_depth},
                     {"slot_bytes", snapshot.slot_bytes},
                     {"max_lanes", snapshot.max_lanes},
                     {"within", cost_json(snapshot.cost.within)},
                     {"across", cost_json(snapshot.cost.across)},
                     {"step_us", snapshot.cost.step_us},
                     {"memory_gbs", snapshot.cost.memory_gbs},
                     {"allreduce", overrides.allreduce ? to_text(*overrides.allreduce) : std::string()},
                     {"algo_only", overrides.allreduce_algo.only},
                     {"algo_without", overrides.allreduce_algo.without},
                     {"algo_note", overrides.allreduce_algo.note}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Snapshot> snapshot_from_json(std::string_view text) {
  TUTTI_ASSIGN_OR_RETURN(const Json json, parse("snapshot", text));
  Reader reader("snapshot");
  Snapshot snapshot;
  std::string table;
  reader.read(json, "number", snapshot.number);
  reader.read(json, "node", snapshot.topology.node);
  reader.read(json, "cores", snapshot.topology.cores);
  reader.read(json, "links", snapshot.topology.links);
  reader.read(json, "queue_depth", snapshot.queue_depth);
  reader.read(json, "slot_bytes", snapshot.slot_bytes);
  reader.read(json, "max_lanes", snapshot.max_lanes);
  reader.read(json, "within", snapshot.cost.within);
  reader.read(json, "across", snapshot.cost.across);
  reader.read(json, "step_us", snapshot.cost.step_us);
  reader.read(json, "memory_gbs", snapshot.cost.memory_gbs);
  reader.read(json, "allreduce", table);
  reader.read(json, "algo_only", snapshot.overrides.allreduce_algo.only);
  reader.read(json, "algo_without", snapshot.overrides.allreduce_algo.without);
  reader.read(json, "algo_note", snapshot.overrides.allreduce_algo.note);
  TUTTI_RETURN_IF_ERROR(reader.status());
  if (!table.empty()) {
    TUTTI_ASSIGN_OR_RETURN(snapshot.overrides.allreduce, parse_table("snapshot", Collective::kAllReduce, table));
  }
  TUTTI_RETURN_IF_ERROR(validate(snapshot));
  return snapshot;
}

}  // namespace tutti::algorithms
