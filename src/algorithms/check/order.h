// Which steps come after a given one, by lane order, messages and dependences. Internal to algorithms/check.
#pragma once

#include <map>
#include <vector>

#include "algorithms/check/model.h"

namespace tutti::algorithms::checker {

class Order {
 public:
  explicit Order(const Model& model) : model_(model) {}

  // Whether `second` comes after `first` in the same loop, or after `first` of the loop before.
  bool before(StepId first, StepId second, bool next_loop) {
    return from(first)[second + (next_loop ? model_.steps() : 0)];
  }

 private:
  // Steps of this loop, then those of the next one. Kept, since the same step is asked for many times.
  const std::vector<bool>& from(StepId first);

  const Model& model_;
  std::map<StepId, std::vector<bool>> reached_;
};

}  // namespace tutti::algorithms::checker
