#include "algorithms/allreduce/tree.h"

#include <algorithm>
#include <bit>

#include "algorithms/allreduce/group.h"

namespace tutti::algorithms::allreduce {
namespace {

// In an infinite in-order tree over 1, 2, 3, ... the height of a place is its number of trailing zeros.
int height(int place) {
  return std::countr_zero(static_cast<unsigned>(place));
}

// The root of the part of the tree that covers low .. high: the place with most trailing zeros; 0 when empty.
int highest(int low, int high) {
  if (low > high) return 0;
  int place = high;
  while ((place & (place - 1)) >= low) place &= place - 1;
  return place;
}

// One tree, which carries `chunk`: sums in stream `up`, results in stream `up + 1`. `shift`: rank r has position
// r + shift; by shifting one place the leaves of one tree become the inner ranks of the other.
void add_tree(Schedule& schedule, int n, int rank, int shift, uint32_t chunk, uint32_t up) {
  const TreeNode node = tree_node(n, (rank + shift) % n);
  const auto at = [&](int position) { return peer((position - shift + n) % n); };
  const Run run{chunk, 1};
  std::vector<Operand> contributions;
  std::vector<Operand> children;
  if (node.left >= 0) children.push_back(at(node.left));
  if (node.right >= 0) children.push_back(at(node.right));
  if (node.left >= 0) contributions.push_back(at(node.left));
  contributions.push_back(input(chunk));
  if (node.right >= 0) contributions.push_back(at(node.right));

  const bool root = node.parent < 0;
  const uint32_t down = up + 1;
  if (root) {
    schedule.combine(run, std::move(contributions), {output(chunk)}, true, up);
  } else {
    schedule.combine(run, std::move(contributions), {at(node.parent)}, false, up);
    schedule.copy(run, at(node.parent), {output(chunk)}, down);
  }
  if (!children.empty()) schedule.copy(run, output(chunk), std::move(children), down);
}

}  // namespace

TreeNode tree_node(int n, int position) {
  const int place = position + 1;
  const int reach = 1 << height(place);  // the subtree covers place - reach + 1 .. place + reach - 1
  TreeNode node;
  node.left = highest(place - reach + 1, place - 1) - 1;
  node.right = highest(place + 1, std::min(n, place + reach - 1)) - 1;
  // Upwards: the first ancestor of the infinite tree that exists.
  for (int child = place; node.parent < 0 && child != highest(1, n);) {
    const int step = 1 << height(child);
    const int parent = (child & (2 * step)) != 0 ? child - step : child + step;
    if (parent <= n) node.parent = parent - 1;
    child = parent;
  }
  return node;
}

Shape tree_shape(const Parameters& parameters) {
  Shape shape;
  if (parameters.nranks() > 1) {
    shape.chunks = 2;
    shape.streams = 4;
  }
  shape.max_slices = 0;  // nobody ever waits for a later slice
  shape.lending = Lending::kAlways;
  return shape;
}

Schedule tree_schedule(const Parameters& parameters, int rank) {
  Schedule schedule;
  schedule.rank = rank;
  if (parameters.nranks() == 1) {
    add_alone(schedule, {0, 1});
    return schedule;
  }
  add_tree(schedule, parameters.nranks(), rank, 0, 0, 0);
  add_tree(schedule, parameters.nranks(), rank, 1, 1, 2);
  return schedule;
}

}  // namespace tutti::algorithms::allreduce
