#include "algorithms/allreduce/hierarchy.h"

#include <algorithm>

#include "algorithms/allreduce/group.h"
#include "algorithms/allreduce/recursive_doubling.h"
#include "algorithms/allreduce/ring.h"

namespace tutti::algorithms::allreduce {
namespace {

using Nodes = std::vector<std::vector<int>>;

size_t smallest(const Nodes& nodes) {
  return std::min_element(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); })
      ->size();
}

uint32_t largest(const Nodes& nodes) {
  size_t most = 2;
  for (const auto& node : nodes) most = std::max(most, node.size());
  return static_cast<uint32_t>(most);
}

// One rank's view of the nodes, and the parts that both variants share.
class View {
 public:
  View(const Nodes& nodes, size_t rails, int rank) : nodes_(nodes), rails_(static_cast<int>(rails)) {
    for (node_ = 0; std::find(here().begin(), here().end(), rank) == here().end();) ++node_;
    local_ = static_cast<int>(std::find(here().begin(), here().end(), rank) - here().begin());
  }

  const std::vector<int>& here() const { return nodes_[node_]; }
  bool owner() const { return local_ < rails_; }
  uint32_t rail() const { return static_cast<uint32_t>(local_); }

  // The owners of my rail on all nodes.
  Group rail_group() const {
    Group group;
    for (const auto& node : nodes_) group.ranks.push_back(node[static_cast<size_t>(local_)]);
    group.me = static_cast<int>(node_);
    return group;
  }

  // My contribution to every other owner of my node, to each its rail of `chunks` chunks.
  void send_contributions(Schedule& schedule, uint32_t chunks) const {
    each_other_owner([&](int owner, Operand to) {
      const uint32_t first = static_cast<uint32_t>(owner) * chunks;
      schedule.copy({first, chunks}, input(first), {to});
    });
  }

  // Adds up my rail over my node, by rank. The operand that holds the node's sum.
  Operand reduce_here(Schedule& schedule, Run run, Operand into, bool completes) const {
    if (here().size() == 1 && !completes) return input(run.first);
    std::vector<Operand> contributions;
    for (size_t i = 0; i < here().size(); ++i) {
      contributions.push_back(i == static_cast<size_t>(local_) ? input(run.first) : peer(here()[i]));
    }
    schedule.combine(run, std::move(contributions), {into}, completes);
    return into;
  }

  void broadcast_here(Schedule& schedule, Run run) const {
    std::vector<Operand> others;
    for (size_t i = 1; i < here().size(); ++i) {
      others.push_back(peer(here()[(static_cast<size_t>(local_) + i) % here().size()]));
    }
    if (!others.empty()) schedule.copy(run, output(run.first), std::move(others));
  }

  void receive_results(Schedule& schedule, uint32_t chunks) const {
    each_other_owner([&](int owner, Operand from) {
      const uint32_t first = static_cast<uint32_t>(owner) * chunks;
      schedule.copy({first, chunks}, from, {output(first)});
    });
  }

 private:
  // Starting after myself, so that no owner is everybody's first.
  template <class Visit>
  void each_other_owner(Visit visit) const {
    for (int i = 1; i <= rails_; ++i) {
      const int owner = (local_ + i) % rails_;
      if (owner != local_) visit(owner, peer(here()[static_cast<size_t>(owner)]));
    }
  }

  const Nodes& nodes_;
  int rails_ = 1;
  size_t node_ = 0;
  int local_ = 0;
};

}  // namespace

Shape hierarchy_shape(const Parameters& parameters) {
  const Nodes nodes = parameters.topology.members();
  Shape shape;
  shape.max_sources = largest(nodes);
  shape.max_chunks = static_cast<uint32_t>(nodes.size());
  shape.chunks = static_cast<uint32_t>(smallest(nodes)) * shape.max_chunks;
  const bool sums = nodes.size() > 1 && static_cast<size_t>(parameters.nranks()) > nodes.size();
  shape.scratch_chunks = sums ? shape.max_chunks : 0;
  shape.max_slices = std::max<uint32_t>(1, parameters.queue_depth - 1);  // as a ring
  shape.lending = Lending::kAlways;
  return shape;
}

Schedule hierarchy_schedule(const Parameters& parameters, int rank) {
  const Nodes nodes = parameters.topology.members();
  const View view(nodes, smallest(nodes), rank);
  const auto chunks = static_cast<uint32_t>(nodes.size());
  Schedule schedule;
  schedule.rank = rank;
  view.send_contributions(schedule, chunks);
  if (view.owner()) {
    const Run mine{view.rail() * chunks, chunks};
    if (nodes.size() == 1) {
      view.reduce_here(schedule, mine, output(mine.first), true);
    } else {
      const Operand sum = view.reduce_here(schedule, mine, scratch(0), false);
      add_ring(schedule, view.rail_group(), mine.first, sum);
    }
    view.broadcast_here(schedule, mine);
  }
  view.receive_results(schedule, chunks);
  return schedule;
}

Shape hierarchy_leaders_shape(const Parameters& parameters) {
  Shape shape;
  shape.max_sources = largest(parameters.topology.members());
  const bool sums = parameters.nranks() > 2 && parameters.topology.nodes() > 1;
  shape.scratch_chunks = sums ? 1 : 0;
  shape.max_slices = parameters.queue_depth;
  shape.lending = Lending::kOutOfPlace;
  return shape;
}

Schedule hierarchy_leaders_schedule(const Parameters& parameters, int rank) {
  const Nodes nodes = parameters.topology.members();
  const View view(nodes, 1, rank);
  const Run all{0, 1};
  Schedule schedule;
  schedule.rank = rank;
  view.send_contributions(schedule, 1);
  if (view.owner()) {
    if (nodes.size() == 1) {
      view.reduce_here(schedule, all, output(0), true);
    } else {
      const Operand sum = view.reduce_here(schedule, all, scratch(0), false);
      add_recursive_doubling(schedule, view.rail_group(), all, sum);
    }
    view.broadcast_here(schedule, all);
  }
  view.receive_results(schedule, 1);
  return schedule;
}

}  // namespace tutti::algorithms::allreduce
