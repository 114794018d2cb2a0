#include "algorithms/table.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "algorithms/schedule.h"

namespace tutti::algorithms {
namespace {

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();
constexpr std::string_view kTableForm = "\"algorithm:from-to;...\", such as one_shot:0-8K;tree:8K-256K;ring:256K-max";

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

template <class Number>
bool parse_number(std::string_view text, Number& value) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && end == text.data() + text.size();
}

// "8K", "1M", "max", "77".
std::optional<size_t> parse_bytes(std::string_view text) {
  if (lower_case(text) == "max") return kNoLimit;
  size_t unit = 1;
  if (!text.empty()) {
    const size_t place = std::string_view("kmg").find(static_cast<char>(std::tolower(text.back())));
    if (place != std::string_view::npos) {
      unit = size_t{1} << (10 * (place + 1));
      text.remove_suffix(1);
    }
  }
  size_t value = 0;
  if (!parse_number(text, value) || value > kNoLimit / unit) return std::nullopt;
  return value * unit;
}

std::string bytes_text(size_t bytes) {
  if (bytes == kNoLimit) return "max";
  for (int place = 3; place > 0; --place) {
    const size_t unit = size_t{1} << (10 * place);
    if (bytes != 0 && bytes % unit == 0) return fmt::format("{}{}", bytes / unit, " KMG"[place]);
  }
  return fmt::format("{}", bytes);
}

// "ring" or "ring(lanes=2)".
Status parse_algorithm(std::string_view variable, Collective collective, std::string_view text, Row& row) {
  constexpr std::string_view kLanes = "(lanes=";
  std::string_view name = text;
  if (const size_t open = text.find('('); open != std::string_view::npos) {
    name = trim(text.substr(0, open));
    std::string_view lanes = text.substr(open);
    const bool well_formed = lanes.starts_with(kLanes) && lanes.ends_with(')');
    if (well_formed) lanes = lanes.substr(kLanes.size(), lanes.size() - kLanes.size() - 1);
    if (!well_formed || !parse_number(lanes, row.lanes) || row.lanes < 1 || row.lanes > 64) {
      return error(Code::kInvalidUsage, "{}: \"{}\" is not \"algorithm\" or \"algorithm(lanes=1..64)\"", variable,
                   text);
    }
  }
  row.generator = lower_case(name);
  if (find_generator(collective, row.generator) == nullptr) {
    return error(Code::kInvalidUsage, "{}: unknown algorithm \"{}\"; {} has {}", variable, name, name_of(collective),
                 generator_names(collective));
  }
  return {};
}

constexpr std::array<std::string_view, 7> kNcclWords = {"ring",     "tree", "collnetdirect", "collnetchain", "nvls",
                                                        "nvlstree", "pat"};
constexpr std::array<std::string_view, 5> kNcclFunctions = {"allreduce", "broadcast", "reduce", "allgather",
                                                            "reducescatter"};

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// "ring,tree" or "^tree".
Result<AlgoFilter> parse_nccl_list(std::string_view text, std::string_view list) {
  AlgoFilter filter;
  const bool exclude = list.starts_with('^');
  if (exclude) list.remove_prefix(1);
  std::string ignored;
  for (const std::string_view part : split(list, ',')) {
    const std::string word = lower_case(part);
    if (!is_one_of(kNcclWords, word)) {
      return error(Code::kInvalidUsage,
                   "NCCL_ALGO=\"{}\": unknown word \"{}\"; accepted are ring, tree, collnetdirect, collnetchain, nvls, "
                   "nvlstree, pat, as \"list\", \"^list\" or \"list;function:list\"",
                   text, part);
    }
    if (word == "ring" || word == "tree") {
      (exclude ? filter.without : filter.only).push_back(word);
    } else {
      if (!ignored.empty()) ignored += ", ";
      ignored += word;
    }
  }
  if (!ignored.empty()) {
    filter.note = fmt::format("NCCL_ALGO: {} ignored: only NVIDIA's own hardware or library has it", ignored);
  }
  return filter;
}

}  // namespace

const Row* Table::find(size_t bytes) const {
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const Row& candidate) { return candidate.from <= bytes && bytes <= candidate.to; });
  return row == rows.end() ? nullptr : &*row;
}

std::string to_text(const Row& row) {
  std::string text = row.generator;
  if (row.lanes != 0) text += fmt::format("(lanes={})", row.lanes);
  return text + fmt::format(":{}-{}", bytes_text(row.from), bytes_text(row.to));
}

std::string to_text(const Table& table) {
  std::string text;
  for (const Row& row : table.rows) {
    if (!text.empty()) text += ';';
    text += to_text(row);
  }
  return text;
}

Result<Table> parse_table(std::string_view variable, Collective collective, std::string_view text) {
  Table table;
  for (const std::string_view part : split(text, ';')) {
    if (part.empty()) continue;
    Row row;
    const auto halves = split(part, ':');
    TUTTI_RETURN_IF_ERROR(parse_algorithm(variable, collective, halves[0], row));
    if (halves.size() > 1) {
      const auto ends = split(halves[1], '-');
      const auto from = parse_bytes(ends[0]);
      const auto to = ends.size() == 2 ? parse_bytes(ends[1]) : std::nullopt;
      if (halves.size() > 2 || !from || !to) {
        return error(Code::kInvalidUsage, "{}: \"{}\" has no size range \"from-to\"; accepted is {}", variable, part,
                     kTableForm);
      }
      if (*from > *to) {
        return error(Code::kInvalidUsage, "{}: \"{}\" is an empty range: {} bytes is more than {}", variable, part,
                     *from, *to);
      }
      row.from = *from;
      row.to = *to;
    }
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty()) {
    return error(Code::kInvalidUsage, "{}=\"{}\" names no algorithm; accepted is {}", variable, text, kTableForm);
  }
  return table;
}

Result<AlgoFilter> parse_nccl_algo(Collective collective, std::string_view text) {
  const std::string mine = lower_case(name_of(collective));
  AlgoFilter general;
  std::optional<AlgoFilter> special;
  const auto parts = split(text, ';');
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty()) continue;
    const size_t colon = parts[i].find(':');
    if (colon == std::string_view::npos) {
      if (i != 0) {
        return error(Code::kInvalidUsage, "NCCL_ALGO=\"{}\": \"{}\" names no function; only the first list may do so",
                     text, parts[i]);
      }
      TUTTI_ASSIGN_OR_RETURN(general, parse_nccl_list(text, parts[i]));
      continue;
    }
    const std::string function = lower_case(trim(parts[i].substr(0, colon)));
    if (!is_one_of(kNcclFunctions, function)) {
      return error(Code::kInvalidUsage,
                   "NCCL_ALGO=\"{}\": unknown function \"{}\"; accepted are allreduce, broadcast, reduce, allgather, "
                   "reducescatter",
                   text, function);
    }
    TUTTI_ASSIGN_OR_RETURN(AlgoFilter filter, parse_nccl_list(text, trim(parts[i].substr(colon + 1))));
    if (function == mine) special = std::move(filter);
  }
  return special ? *special : general;
}

}  // namespace tutti::algorithms
