// Selection: from a request and a snapshot to a plan. Pure functions over equal inputs: every rank chooses the same
// without a message.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "algorithms/cost.h"
#include "algorithms/plan.h"
#include "algorithms/table.h"
#include "base/status.h"
#include "base/types.h"
#include "topology/topology.h"

namespace tutti::algorithms {

// What is asked for: an operation without its buffers.
struct Request {
  Collective collective = Collective::kAllReduce;
  size_t count = 0;  // elements of a block
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  int root = -1;

  size_t bytes() const { return count * size_of(type); }  // of a block
};

// What the user said; empty fields: nothing.
struct Overrides {
  std::optional<Table> allreduce;  // TUTTI_ALLREDUCE
  AlgoFilter allreduce_algo;       // NCCL_ALGO
  friend bool operator==(const Overrides&, const Overrides&) = default;
};

// Everything that choosing and making plans depends on besides the request. Made by one rank, numbered and handed to
// all (to_json and snapshot_from_json in json.h carry it).
struct Snapshot {
  uint32_t number = 0;
  topology::Topology topology;
  uint32_t queue_depth = 8;         // slots a queue, at least 2
  uint32_t slot_bytes = 64 * 1024;  // payload of a slot
  uint32_t max_lanes = 8;           // lanes for which there are queues
  CostConstants cost;
  Overrides overrides;
  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

struct Choice {
  std::string generator;  // a name of schedule.h's table
  uint32_t lanes = 1;     // copies of the schedule side by side
  uint32_t slices = 1;    // for make_slicing(): slices of a step, at most
  std::string why;        // for the log
};

// TUTTI_ALLREDUCE and NCCL_ALGO as they stand in the environment. Errors (kInvalidUsage) name variable, value and what
// is accepted.
Result<Overrides> parse_overrides(const std::optional<std::string>& allreduce, const std::optional<std::string>& algo);

// Names the first thing in the snapshot with which no plan can be made.
Status validate(const Snapshot& snapshot);

// The table that is used where the user says nothing, in the user's own form.
std::string_view default_table(const topology::Topology& topology);

Result<Choice> select(const Request& request, const Snapshot& snapshot);

// One rank's part of the chosen plan. It depends on the request's collective and root only and may be used again for
// every other count, type and op for which the same generator and lanes are chosen.
Result<Plan> make_plan(const Choice& choice, const Request& request, const Snapshot& snapshot, int rank);

}  // namespace tutti::algorithms
