// Selection: which plan for which size. A table that a person can read, and write in the same form:
//
//   TUTTI_ALLREDUCE="one_shot:0-8K;ring*2:8K-max"
//
// Entries are separated by ";": generator, optionally "*lanes", a colon, and a range of bytes (the size of one rank's
// buffer; the upper end is excluded; K, M, G are powers of 1024; "max": no limit). Sizes that no entry covers use the
// default table. NCCL_ALGO is understood where its words match (ring, tree): see parse_nccl_algo().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/plan.h"
#include "base/status.h"
#include "topology/topology.h"

namespace tutti::algorithms {

// What all ranks must hold equal to make equal plans.
struct Snapshot {
  uint32_t number = 1;
  topology::Topology topology;
  uint32_t queue_depth = 8;  // slots a queue
  uint32_t lanes = 8;        // lanes that connections have
  std::string allreduce;     // TUTTI_ALLREDUCE of rank 0
  std::string nccl_algo;     // NCCL_ALGO of rank 0
};

struct Request {
  Collective collective = Collective::kAllReduce;
  uint64_t bytes = 0;  // of one block
  int root = -1;
};

struct Choice {
  std::string generator;
  uint32_t lanes = 1;   // copies of the schedule side by side
  uint32_t slices = 1;  // slices a step, at most; the plan's own limit also holds
  std::string why;      // for the log: "default table, 4 ranks on 1 node", "TUTTI_ALLREDUCE"
  std::string name() const { return lanes == 1 ? generator : generator + "*" + std::to_string(lanes); }
};

struct TableEntry {
  std::string generator;
  uint32_t lanes = 1;
  uint64_t begin = 0;  // bytes
  uint64_t end = 0;    // excluded; UINT64_MAX: no limit
  friend bool operator==(const TableEntry&, const TableEntry&) = default;
};
using Table = std::vector<TableEntry>;

// Errors (kInvalidUsage) name the variable, the value, the entry and what is accepted.
Result<Table> parse_table(Collective collective, const std::string& text, const std::string& variable);
std::string print_table(const Table& table);

// NCCL_ALGO: "ring", "tree,ring", "^tree", "allreduce:ring;broadcast:tree". Returns the table that it asks for: the
// first word that Tutti has; empty when the value leaves the choice open. Words of NCCL that have no counterpart (nvls,
// collnet..., pat) are passed over; unknown words are errors.
Result<Table> parse_nccl_algo(Collective collective, const std::string& text);

// The default for this topology.
Table default_table(Collective collective, const topology::Topology& topology);

// Pure: the same inputs give the same answer on every rank.
Result<Choice> select(const Request& request, const Snapshot& snapshot);
Result<Plan> make_plan(const Choice& choice, const Request& request, const Snapshot& snapshot, int rank);

}  // namespace tutti::algorithms
