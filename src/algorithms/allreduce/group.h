// Building blocks that the AllReduce generators share: patterns over any group of ranks, so that a hierarchy can use
// the same ring across nodes that the flat ring uses across ranks.
#pragma once

#include <vector>

#include "algorithms/schedule.h"

namespace tutti::algorithms::allreduce {

// Some ranks, ascending, and where this rank stands among them.
struct Group {
  std::vector<int> ranks;
  int me = 0;

  int size() const { return static_cast<int>(ranks.size()); }
  int rank(int index) const { return ranks[static_cast<size_t>((index % size() + size()) % size())]; }
  static Group all(int nranks, int me);
};

// The only operation of a lone rank: its contribution is the result.
void add_alone(Schedule& schedule, Run run);

// The operand `chunks` further on in the same buffer.
inline Operand advance(Operand base, uint32_t chunks) {
  return {base.role, base.index + chunks};
}

}  // namespace tutti::algorithms::allreduce
