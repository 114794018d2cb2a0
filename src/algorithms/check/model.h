// What the parts of the checker share: all steps of all ranks numbered through, and the queues between them.
// Internal to algorithms/check.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "algorithms/plan.h"
#include "base/status.h"

namespace tutti::algorithms::checker {

using StepId = uint32_t;

struct Place {
  uint32_t rank = 0;
  uint32_t lane = 0;
  uint32_t step = 0;
};

// The messages of one queue in order: message i is sent by sends[i] and taken by receives[i].
struct Queue {
  std::vector<StepId> sends;
  std::vector<StepId> receives;
};

struct QueueKey {
  uint32_t from = 0;
  uint32_t to = 0;
  uint32_t lane = 0;
  friend auto operator<=>(const QueueKey&, const QueueKey&) = default;
};

class Model {
 public:
  // The plans must have passed check_structure and outlive the model.
  explicit Model(const std::vector<Plan>& plans);

  const std::vector<Plan>& plans() const { return plans_; }
  const PlanHeader& header() const { return plans_.front().header; }
  uint32_t lanes() const { return header().lanes; }
  uint32_t nranks() const { return static_cast<uint32_t>(plans_.size()); }

  StepId steps() const { return static_cast<StepId>(places_.size()); }
  StepId id(uint32_t rank, uint32_t lane, uint32_t step) const { return first_[rank * lanes() + lane] + step; }
  const Place& place(StepId id) const { return places_[id]; }
  const Lane& lane(StepId id) const { return plans_[places_[id].rank].lanes[places_[id].lane]; }
  const Step& step(StepId id) const { return lane(id).steps[places_[id].step]; }
  std::span<const Operand> sources(StepId id) const;
  std::span<const Operand> destinations(StepId id) const;
  std::span<const Dependence> dependences(StepId id) const;

  const std::map<QueueKey, Queue>& queues() const { return queues_; }
  // Steps that must have finished with the same elements: the one before in the lane, senders, dependences.
  const std::vector<StepId>& predecessors(StepId id) const { return predecessors_[id]; }
  const std::vector<StepId>& successors(StepId id) const { return successors_[id]; }
  // Call after check_messages.
  void link();

  // "ring: rank 1 lane 0 step 3 (rank 0 + input 2 -> rank 2)".
  std::string name(StepId id) const;

 private:
  void add_edge(StepId from, StepId to);

  const std::vector<Plan>& plans_;
  std::vector<StepId> first_;  // of each rank and lane
  std::vector<Place> places_;
  std::map<QueueKey, Queue> queues_;
  std::vector<std::vector<StepId>> predecessors_;
  std::vector<std::vector<StepId>> successors_;
};

Status check_structure(const std::vector<Plan>& plans);
Status check_messages(const Model& model);
Status check_waits(const Model& model);
// The two that follow rely on the ones above. `in_place`: input and output are one buffer.
Status check_races(const Model& model, bool in_place);
Status check_lending(const Model& model, bool in_place);
Status check_symbols(const Model& model, bool in_place);

template <class... Args>
Status reject(fmt::format_string<Args...> format, Args&&... args) {
  return error(Code::kInvalidUsage, format, std::forward<Args>(args)...);
}

}  // namespace tutti::algorithms::checker
