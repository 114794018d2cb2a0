// Selection as text: which algorithm for which size, in the form in which it is printed, read and overridden.
//
//   one_shot:0-8K;tree:8K-256K;ring(lanes=2):256K-max
//
// Sizes are bytes of one rank's buffer; K, M and G are powers of 1024; both ends belong to the range, and the first row
// that holds a size wins. A word alone means all sizes.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/types.h"

namespace tutti::algorithms {

struct Row {
  std::string generator;
  uint32_t lanes = 0;  // copies of the schedule side by side; 0: left to the selection
  size_t from = 0;     // bytes
  size_t to = std::numeric_limits<size_t>::max();
  friend bool operator==(const Row&, const Row&) = default;
};

struct Table {
  std::vector<Row> rows;
  friend bool operator==(const Table&, const Table&) = default;

  // nullptr when no row holds `bytes`.
  const Row* find(size_t bytes) const;
};

std::string to_text(const Row& row);
std::string to_text(const Table& table);
// `variable` is named in errors (kInvalidUsage), together with the bad part and what is accepted.
Result<Table> parse_table(std::string_view variable, Collective collective, std::string_view text);

// What NCCL_ALGO says about one collective. NCCL's words that Tutti has nothing for are accepted and have no effect.
struct AlgoFilter {
  std::vector<std::string> only;     // of "ring", "tree"; empty: any
  std::vector<std::string> without;  // of "ring", "tree"
  std::string note;                  // why words were ignored; for the log
  friend bool operator==(const AlgoFilter&, const AlgoFilter&) = default;
};

// The forms of NCCL: "ring", "ring,tree", "^tree", "ring;allreduce:tree;broadcast:^ring".
Result<AlgoFilter> parse_nccl_algo(Collective collective, std::string_view text);

}  // namespace tutti::algorithms
