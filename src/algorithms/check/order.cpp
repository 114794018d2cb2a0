#include "algorithms/check/order.h"

namespace tutti::algorithms::checker {

const std::vector<bool>& Order::from(StepId first) {
  auto [entry, fresh] = reached_.try_emplace(first);
  std::vector<bool>& reached = entry->second;
  if (!fresh) return reached;
  reached.assign(2 * size_t{model_.steps()}, false);
  std::vector<StepId> open{first};
  const auto visit = [&](StepId step) {
    if (!reached[step]) open.push_back(step);
    reached[step] = true;
  };
  while (!open.empty()) {
    const StepId at = open.back();
    open.pop_back();
    const StepId loop = at >= model_.steps() ? model_.steps() : 0;
    for (const StepId next : model_.successors(at - loop)) visit(next + loop);
    const Place& where = model_.place(at - loop);
    if (loop == 0 && where.step + 1 == model_.lane(at).steps.size()) {
      visit(model_.id(where.rank, where.lane, 0) + model_.steps());
    }
  }
  return reached;
}

}  // namespace tutti::algorithms::checker
