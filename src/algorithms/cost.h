// Cost constants: what a message, a byte and a reduction cost on this cluster. Data of the snapshot.
#pragma once

namespace tutti::algorithms {

struct LinkCost {
  double latency_us = 1;  // from publishing a message to the receiver's having it
  double gbs = 10;        // GB/s (1e9 bytes per second) of one direction
  friend bool operator==(const LinkCost&, const LinkCost&) = default;
};

struct CostConstants {
  LinkCost within{0.3, 8};   // ranks of one node
  LinkCost across{15, 2.5};  // ranks of different nodes
  double step_us = 0.05;     // of a rank, to run one slice of one step
  double memory_gbs = 10;    // a rank's rate of reading operands while it reduces or copies
  friend bool operator==(const CostConstants&, const CostConstants&) = default;
};

}  // namespace tutti::algorithms
