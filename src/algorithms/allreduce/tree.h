// Double binary tree: two complementary trees carry half of the data each; a rank that is inner in one is a leaf in the
// other. Sums go up in one stream while results come down in another, slice by slice: log2(n) rounds for the first
// slice, and 2 times the data each way at most.
#pragma once

#include "algorithms/schedule.h"

namespace tutti::algorithms::allreduce {

Shape tree_shape(const Parameters& parameters);
Schedule tree_schedule(const Parameters& parameters, int rank);

// A rank's neighbours in an in-order binary tree over positions 0 .. n-1, whose even positions are leaves. -1: none.
struct TreeNode {
  int parent = -1;
  int left = -1;
  int right = -1;
  friend bool operator==(const TreeNode&, const TreeNode&) = default;
};
TreeNode tree_node(int n, int position);

}  // namespace tutti::algorithms::allreduce
