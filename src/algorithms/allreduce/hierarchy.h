// Two-level hierarchy: reduce within each node, AllReduce across nodes, broadcast within each node, so that every byte
// crosses between nodes as seldom as possible. Nodes may differ in size.
//
// hierarchy: as many rails as the smallest node has ranks; on each node the i-th rank reduces the i-th part of the data
// for its node, and the i-th ranks of all nodes form a ring. For large sizes.
// hierarchy_leaders: one rank a node does it all, with recursive doubling across nodes. For small sizes.
#pragma once

#include "algorithms/schedule.h"

namespace tutti::algorithms::allreduce {

Shape hierarchy_shape(const Parameters& parameters);
Schedule hierarchy_schedule(const Parameters& parameters, int rank);

Shape hierarchy_leaders_shape(const Parameters& parameters);
Schedule hierarchy_leaders_schedule(const Parameters& parameters, int rank);

}  // namespace tutti::algorithms::allreduce
