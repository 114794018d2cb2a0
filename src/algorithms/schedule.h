// Schedule: who sends which chunk to whom, and whether it is copied or reduced; what a generator writes.
//
// Read this first, then allreduce/*.h (the generators), lower.h (schedule -> plan), check.h (the proof), select.h.
//
// A generator is a pure function of (parameters, rank) and produces one rank's view in time proportional to that
// rank's own steps. It writes single operations in program order and does not care for fusion: "combine into scratch",
// then "copy scratch to the next rank" become one step when the plan is lowered, and the scratch vanishes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/plan.h"
#include "topology/topology.h"

namespace tutti::algorithms {

inline Operand input(uint32_t chunk) {
  return {Role::kInput, chunk};
}
inline Operand output(uint32_t chunk) {
  return {Role::kOutput, chunk};
}
inline Operand scratch(uint32_t chunk) {
  return {Role::kScratch, chunk};
}
inline Operand peer(int rank) {
  return {Role::kPeer, static_cast<uint32_t>(rank)};
}

// A run of chunks of a block.
struct Run {
  uint32_t first = 0;
  uint32_t chunks = 1;
  friend bool operator==(const Run&, const Run&) = default;
};

// One operation of a rank. Operands as in Step; `stream` says which lane of the rank it belongs to.
struct Operation {
  Run run;
  std::vector<Operand> sources;
  std::vector<Operand> destinations;
  uint32_t stream = 0;
  bool completes = false;
  // Operations of other streams of this rank (by position) that must come first; filled by the pass `depend`.
  std::vector<uint32_t> after;

  bool is_copy() const { return sources.size() == 1 && !completes; }
};

// What is equal on all ranks and needed for the plan's header.
struct Shape {
  uint32_t chunks = 1;
  uint32_t scratch_chunks = 0;  // that remain after fusion, on the rank that needs most
  uint32_t streams = 1;
  uint32_t max_chunks = 1;
  uint32_t max_sources = 3;  // operands that a step adds up, at most
  uint32_t max_slices = 1;   // proved for the queue depth asked for; 0: any
  Lending lending = Lending::kNever;
};

// One rank's operations in program order: the meaning is that of executing them one after the other; operations of
// different streams run side by side wherever they do not touch the same chunk.
struct Schedule {
  int rank = 0;
  std::vector<Operation> operations;

  void copy(Run run, Operand from, std::vector<Operand> to, uint32_t stream = 0) {
    operations.push_back({run, {from}, std::move(to), stream, false, {}});
  }
  // Adds up in the order of `sources`. `completes`: no contribution is missing in the result.
  void combine(Run run, std::vector<Operand> sources, std::vector<Operand> to, bool completes, uint32_t stream = 0) {
    operations.push_back({run, std::move(sources), std::move(to), stream, completes, {}});
  }
};

// What a generator may depend on.
struct Parameters {
  const topology::Topology& topology;
  uint32_t queue_depth = 8;  // slots a queue, at least 2

  int nranks() const { return topology.nranks(); }
};

// A row of the table of generators. Functions are pure.
struct Generator {
  std::string_view name;    // the word in TUTTI_ALLREDUCE
  std::string_view about;   // half a sentence for people
  bool uses_nodes = false;  // the schedule depends on which ranks share a node
  // Each chunk's result is computed by one rank and copied to the others. Where it is not, ranks compute equal results
  // from equal operands, which a PreMulSum of 8- and 16-bit floats does not have: a rank's own product is not rounded
  // before it is added, but one that it has sent is.
  bool computes_once = true;
  Shape (*shape)(const Parameters& parameters) = nullptr;
  Schedule (*schedule)(const Parameters& parameters, int rank) = nullptr;
};

// All generators of a collective, in the order in which they are listed to people; empty for one without any.
std::span<const Generator> generators(Collective collective);
// nullptr when there is none of that name.
const Generator* find_generator(Collective collective, std::string_view name);
// "ring, tree, ...": for messages.
std::string generator_names(Collective collective);

}  // namespace tutti::algorithms
