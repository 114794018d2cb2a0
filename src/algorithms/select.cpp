#include "algorithms/select.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string_view>

#include "algorithms/lower.h"
#include "algorithms/schedule.h"

namespace tutti::algorithms {

namespace {

constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool parse_bytes(std::string_view text, uint64_t* bytes) {
  if (text == "max") {
    *bytes = kNoLimit;
    return true;
  }
  uint64_t value = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || rest == text.data()) return false;
  const std::string_view unit(rest, static_cast<size_t>(text.data() + text.size() - rest));
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  if (shift < 0 || value > kNoLimit >> shift) return false;
  *bytes = value << shift;
  return true;
}

std::string print_bytes(uint64_t bytes) {
  if (bytes == kNoLimit) return "max";
  for (const auto& [shift, unit] : {std::pair{30, 'G'}, std::pair{20, 'M'}, std::pair{10, 'K'}})
    if (bytes != 0 && bytes % (uint64_t{1} << shift) == 0) return fmt::format("{}{}", bytes >> shift, unit);
  return std::to_string(bytes);
}

// Words of NCCL_ALGO that mean something to NCCL and have no counterpart on host memory.
constexpr std::array<std::string_view, 5> kForeignWords = {"collnetdirect", "collnetchain", "nvls", "nvlstree", "pat"};

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return result;
}

const TableEntry* find(const Table& table, uint64_t bytes) {
  for (const TableEntry& entry : table)
    if (bytes >= entry.begin && bytes < entry.end) return &entry;
  return nullptr;
}

// Slices a step: enough to keep a queue busy in both halves of it.
uint32_t default_slices(const Snapshot& snapshot) {
  return std::max<uint32_t>(1, snapshot.queue_depth / 2);
}

Choice to_choice(const TableEntry& entry, const Snapshot& snapshot, std::string why) {
  Choice choice;
  choice.generator = entry.generator;
  choice.lanes = entry.lanes;
  choice.slices = default_slices(snapshot);
  choice.why = std::move(why);
  return choice;
}

}  // namespace

Result<Table> parse_table(Collective collective, const std::string& text, const std::string& variable) {
  Table table;
  for (const std::string_view item : split(text, ';')) {
    if (item.empty()) continue;
    const auto bad = [&](std::string_view why) {
      return error(Code::kInvalidUsage,
                   "{}=\"{}\": entry \"{}\": {}; accepted is <algorithm>[*<lanes>]:<from>-<to> with algorithms {} and "
                   "sizes like 0, "
                   "8K, 4M, max",
                   variable, text, item, why, generator_names(collective));
    };
    const size_t colon = item.find(':');
    if (colon == std::string_view::npos) return bad("no colon");
    TableEntry entry;
    std::string_view name = item.substr(0, colon);
    if (const size_t star = name.find('*'); star != std::string_view::npos) {
      const std::string_view digits = name.substr(star + 1);
      const auto [rest, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), entry.lanes);
      if (failure != std::errc() || rest != digits.data() + digits.size() || entry.lanes == 0)
        return bad("bad lane count");
      name = name.substr(0, star);
    }
    if (find_generator(collective, name) == nullptr) return bad("unknown algorithm");
    entry.generator = name;
    const std::string_view range = item.substr(colon + 1);
    const size_t dash = range.find('-');
    if (dash == std::string_view::npos || !parse_bytes(range.substr(0, dash), &entry.begin) ||
        !parse_bytes(range.substr(dash + 1), &entry.end))
      return bad("bad size range");
    if (entry.begin >= entry.end) return bad("empty size range");
    table.push_back(entry);
  }
  return table;
}

std::string print_table(const Table& table) {
  std::string text;
  for (const TableEntry& entry : table) {
    text += fmt::format("{}{}{}:{}-{}", text.empty() ? "" : ";", entry.generator,
                        entry.lanes == 1 ? "" : fmt::format("*{}", entry.lanes), print_bytes(entry.begin),
                        print_bytes(entry.end));
  }
  return text;
}

Result<Table> parse_nccl_algo(Collective collective, const std::string& text) {
  const std::string function = lower_case(name_of(collective));
  std::string chosen;
  for (const std::string_view part : split(text, ';')) {
    const size_t colon = part.find(':');
    if (colon == std::string_view::npos) {
      if (chosen.empty()) chosen = part;
    } else if (lower_case(part.substr(0, colon)) == function) {
      chosen = part.substr(colon + 1);
    }
  }
  std::string_view list = chosen;
  const bool exclude = list.starts_with('^');
  if (exclude) list.remove_prefix(1);
  std::vector<std::string> words;
  for (const std::string_view item : split(list, ',')) {
    const std::string word = lower_case(item);
    if (word.empty()) continue;
    const bool foreign = std::find(kForeignWords.begin(), kForeignWords.end(), word) != kForeignWords.end();
    if (!foreign && word != "ring" && word != "tree")
      return error(Code::kInvalidUsage, "NCCL_ALGO=\"{}\": unknown word \"{}\"; accepted are ring, tree, {}", text,
                   word, fmt::join(kForeignWords, ", "));
    if (!foreign) words.push_back(word);
  }
  if (exclude) {
    // What is left of NCCL's own pair; with neither excluded the choice stays open.
    if (words.size() != 1) return Table{};
    words = {words.front() == "ring" ? "tree" : "ring"};
  }
  if (words.empty()) return Table{};
  return Table{{words.front(), 1, 0, kNoLimit}};
}

Table default_table(Collective, const topology::Topology& topology) {
  const int n = topology.nranks();
  const auto available = [](std::string_view name) { return find_generator(Collective::kAllReduce, name) != nullptr; };
  if (n == 1) return {{"one_shot", 1, 0, kNoLimit}};
  const bool mixed = topology.nodes() > 1 && topology.nodes() < n;
  if (mixed && available("hierarchy")) return {{"hierarchy", 1, 0, kNoLimit}};
  if (n == 2) return {{"one_shot", 1, 0, 16 << 10}, {"two_shot", 1, 16 << 10, kNoLimit}};
  if (n <= 16) return {{"one_shot", 1, 0, 8 << 10}, {"two_shot", 1, 8 << 10, kNoLimit}};
  return {{"recursive_doubling", 1, 0, 16 << 10}, {"tree", 1, 16 << 10, 256 << 10}, {"ring", 1, 256 << 10, kNoLimit}};
}

Result<Choice> select(const Request& request, const Snapshot& snapshot) {
  const topology::Topology& topology = snapshot.topology;
  if (!snapshot.allreduce.empty() && request.collective == Collective::kAllReduce) {
    TUTTI_ASSIGN_OR_RETURN(const Table table, parse_table(request.collective, snapshot.allreduce, "TUTTI_ALLREDUCE"));
    if (const TableEntry* entry = find(table, request.bytes); entry != nullptr)
      return to_choice(*entry, snapshot, "as TUTTI_ALLREDUCE says");
  }
  if (!snapshot.nccl_algo.empty()) {
    TUTTI_ASSIGN_OR_RETURN(const Table table, parse_nccl_algo(request.collective, snapshot.nccl_algo));
    if (const TableEntry* entry = find(table, request.bytes); entry != nullptr)
      return to_choice(*entry, snapshot, "as NCCL_ALGO says");
  }
  const Table table = default_table(request.collective, topology);
  const TableEntry* entry = find(table, request.bytes);
  if (entry == nullptr)
    return error(Code::kInternalError, "the default table \"{}\" has no entry for {} bytes", print_table(table),
                 request.bytes);
  return to_choice(*entry, snapshot,
                   fmt::format("by the default table for {} ranks on {} nodes: {}", topology.nranks(), topology.nodes(),
                               print_table(table)));
}

Result<Plan> make_plan(const Choice& choice, const Request& request, const Snapshot& snapshot, int rank) {
  const Generator* generator = find_generator(request.collective, choice.generator);
  if (generator == nullptr)
    return error(Code::kInternalError, "{} has no algorithm \"{}\"", name_of(request.collective), choice.generator);
  const Parameters parameters{snapshot.topology, snapshot.queue_depth};
  return lower(*generator, parameters, request.collective, request.root, choice.lanes, rank);
}

}  // namespace tutti::algorithms
