// Topology: which ranks there are and what connects them. Pure data, equal on every rank, part of the snapshot from
// which plans are made; discovery fills it, measurement corrects it.
#pragma once

#include <vector>

#include "base/status.h"

namespace tutti::topology {

// A directed connection between two nodes, where it was measured or configured.
struct Link {
  int from = 0;           // node
  int to = 0;             // node
  double capacity = 0;    // GB/s (1e9 bytes per second); 0: unknown
  double latency_us = 0;  // 0: unknown
  friend bool operator==(const Link&, const Link&) = default;
};

struct Topology {
  std::vector<int> node;    // node of each rank: ranks of one node share memory. Numbers are 0 .. nodes()-1
  std::vector<int> cores;   // processor cores of each node; empty: unknown
  std::vector<Link> links;  // between nodes; what is not listed is unknown
  friend bool operator==(const Topology&, const Topology&) = default;

  int nranks() const { return static_cast<int>(node.size()); }
  int nodes() const;
  // The ranks of each node, ascending; the nodes in the order of their lowest rank.
  std::vector<std::vector<int>> members() const;
  // True when some node has more ranks than cores, as far as is known.
  bool oversubscribed() const;

  static Topology single_node(int nranks);
};

// Names the first rank, node or link that is not as documented above.
Status validate(const Topology& topology);

}  // namespace tutti::topology
