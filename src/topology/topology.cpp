#include "topology/topology.h"

#include <algorithm>

namespace tutti::topology {

int Topology::nodes() const {
  return node.empty() ? 0 : *std::max_element(node.begin(), node.end()) + 1;
}

std::vector<std::vector<int>> Topology::members() const {
  std::vector<std::vector<int>> result(static_cast<size_t>(nodes()));
  for (int rank = 0; rank < nranks(); ++rank) {
    result[static_cast<size_t>(node[static_cast<size_t>(rank)])].push_back(rank);
  }
  std::sort(result.begin(), result.end());
  return result;
}

bool Topology::oversubscribed() const {
  const auto by_node = members();
  for (size_t i = 0; i < by_node.size(); ++i) {
    const size_t index = static_cast<size_t>(node[static_cast<size_t>(by_node[i].front())]);
    if (index < cores.size() && cores[index] > 0 && by_node[i].size() > static_cast<size_t>(cores[index])) return true;
  }
  return false;
}

Topology Topology::single_node(int nranks) {
  Topology topology;
  topology.node.assign(static_cast<size_t>(nranks), 0);
  return topology;
}

Status validate(const Topology& topology) {
  if (topology.node.empty()) return error(Code::kInvalidArgument, "the topology has no ranks");
  for (int rank = 0; rank < topology.nranks(); ++rank) {
    const int node = topology.node[static_cast<size_t>(rank)];
    if (node < 0 || node >= topology.nranks()) {
      return error(Code::kInvalidArgument, "topology: rank {} is on node {}, which is outside 0..{}", rank, node,
                   topology.nranks() - 1);
    }
  }
  const auto by_node = topology.members();
  if (by_node.front().empty()) {
    return error(Code::kInvalidArgument, "topology: of nodes 0..{}, at least one has no rank", topology.nodes() - 1);
  }
  if (!topology.cores.empty() && topology.cores.size() != by_node.size()) {
    return error(Code::kInvalidArgument, "topology: cores are given for {} nodes, but there are {}",
                 topology.cores.size(), by_node.size());
  }
  for (const Link& link : topology.links) {
    if (link.from < 0 || link.from >= topology.nodes() || link.to < 0 || link.to >= topology.nodes()) {
      return error(Code::kInvalidArgument, "topology: a link from node {} to node {}, but nodes are 0..{}", link.from,
                   link.to, topology.nodes() - 1);
    }
    if (!(link.capacity >= 0) || !(link.latency_us >= 0)) {
      return error(Code::kInvalidArgument, "topology: the link from node {} to node {} has {} GB/s and {} us",
                   link.from, link.to, link.capacity, link.latency_us);
    }
  }
  return {};
}

}  // namespace tutti::topology
