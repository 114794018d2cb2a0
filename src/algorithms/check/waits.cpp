// Waits: no circle, with bounded queues.
//
// The plan is run without data. Every queue has one sender and one receiver, and a lane runs its slices in order, so
// that whatever can fire stays able to fire: the run ends the same way in every order of execution, and one run proves
// them all. If it gets stuck, every lane that is not done waits for another one that is not done; following the waits
// leads into the circle.
#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

#include "algorithms/check/model.h"
#include "algorithms/slices.h"

namespace tutti::algorithms::checker {
namespace {

constexpr uint64_t kUnbounded = std::numeric_limits<uint64_t>::max();

struct Blocked {
  StepId step = 0;
  size_t slice = 0;
  std::string reason;
  uint32_t by = 0;  // the lane (numbered through all ranks) that must move first
};

class Machine {
 public:
  Machine(const Model& model, const Slicing& slicing, uint64_t depth)
      : model_(model), slicing_(slicing), depth_(depth) {
    const uint32_t lanes = model.nranks() * model.lanes();
    at_.resize(lanes);
    queued_.assign(lanes, true);
    for (uint32_t lane = 0; lane < lanes; ++lane) ready_.push_back(lane);
    for (const auto& [key, queue] : model.queues()) queues_.emplace(number(key), Counts{});
    resolve();
  }

  // True when every lane has come to its end.
  bool run() {
    while (!ready_.empty()) {
      const uint32_t lane = ready_.back();
      ready_.pop_back();
      queued_[lane] = false;
      while (!done(lane) && can_fire(lane)) fire(lane);
    }
    for (uint32_t lane = 0; lane < at_.size(); ++lane) {
      if (!done(lane)) return false;
    }
    return true;
  }

  // After a run that got stuck: the waits of the circle, in order.
  std::vector<Blocked> circle() const {
    uint32_t lane = 0;
    while (done(lane)) ++lane;
    std::vector<int64_t> seen(at_.size(), -1);
    std::vector<Blocked> path;
    while (seen[lane] < 0) {
      seen[lane] = static_cast<int64_t>(path.size());
      path.push_back(why_blocked(lane));
      lane = path.back().by;
    }
    path.erase(path.begin(), path.begin() + seen[lane]);
    return path;
  }

 private:
  struct Counts {
    uint64_t sent = 0;
    uint64_t taken = 0;
  };
  struct Position {
    uint32_t step = 0;
    size_t slice = 0;
  };

  uint64_t number(const QueueKey& key) const {
    return (uint64_t{key.lane} * model_.nranks() + key.from) * model_.nranks() + key.to;
  }
  uint32_t lane_of(uint32_t rank, uint32_t lane) const { return rank * model_.lanes() + lane; }

  // The queues of every step, looked up once: sources first, then destinations; nullptr for local operands.
  void resolve() {
    for (StepId id = 0; id < model_.steps(); ++id) {
      const Place& where = model_.place(id);
      first_queue_.push_back(static_cast<uint32_t>(queue_of_.size()));
      for (const Operand& from : model_.sources(id)) {
        if (from.role == Role::kPeer) add_queue({from.index, where.rank, where.lane}, from.index);
      }
      first_destination_.push_back(static_cast<uint32_t>(queue_of_.size()));
      for (const Operand& to : model_.destinations(id)) {
        if (to.role == Role::kPeer) add_queue({where.rank, to.index, where.lane}, to.index);
      }
    }
    first_queue_.push_back(static_cast<uint32_t>(queue_of_.size()));
  }
  void add_queue(const QueueKey& key, uint32_t other) {
    queue_of_.push_back(&queues_.at(number(key)));
    peer_of_.push_back(other);
  }

  const std::vector<Step>& steps(uint32_t lane) const {
    return model_.plans()[lane / model_.lanes()].lanes[lane % model_.lanes()].steps;
  }
  bool done(uint32_t lane) const { return at_[lane].step == steps(lane).size(); }
  StepId current(uint32_t lane) const {
    return model_.id(lane / model_.lanes(), lane % model_.lanes(), at_[lane].step);
  }

  // Whether step `other` of this rank has finished the elements of the current slice of `lane`.
  bool met(uint32_t lane, const Dependence& other) const {
    const uint32_t other_lane = lane_of(lane / model_.lanes(), other.lane);
    const Position& position = at_[other_lane];
    if (position.step != other.step) return position.step > other.step;
    const size_t mine = slicing_.slice_of(steps(lane)[at_[lane].step].chunks);
    const size_t theirs = slicing_.slice_of(steps(other_lane)[other.step].chunks);
    return std::min((at_[lane].slice + 1) * mine, slicing_.piece) <= position.slice * theirs;
  }

  bool can_fire(uint32_t lane) const {
    const StepId id = current(lane);
    for (uint32_t i = first_queue_[id]; i < first_destination_[id]; ++i) {
      if (queue_of_[i]->sent == queue_of_[i]->taken) return false;
    }
    for (uint32_t i = first_destination_[id]; i < first_queue_[id + 1]; ++i) {
      if (queue_of_[i]->sent - queue_of_[i]->taken == depth_) return false;
    }
    const auto dependences = model_.dependences(id);
    return std::all_of(dependences.begin(), dependences.end(), [&](const Dependence& d) { return met(lane, d); });
  }

  void wake(uint32_t lane) {
    if (queued_[lane]) return;
    queued_[lane] = true;
    ready_.push_back(lane);
  }

  void fire(uint32_t lane) {
    const StepId id = current(lane);
    for (uint32_t i = first_queue_[id]; i < first_queue_[id + 1]; ++i) {
      ++(i < first_destination_[id] ? queue_of_[i]->taken : queue_of_[i]->sent);
      wake(lane_of(peer_of_[i], model_.place(id).lane));
    }
    const Step& step = model_.step(id);
    if (step.depended_on) {
      for (uint32_t l = 0; l < model_.lanes(); ++l) wake(lane_of(model_.place(id).rank, l));
    }
    Position& position = at_[lane];
    if (++position.slice == slicing_.slices_of(step.chunks)) position = {position.step + 1, 0};
  }

  Blocked why_blocked(uint32_t lane) const {
    const StepId id = current(lane);
    const Place& where = model_.place(id);
    Blocked blocked{id, at_[lane].slice, {}, lane};
    for (uint32_t i = first_queue_[id]; i < first_queue_[id + 1]; ++i) {
      const bool source = i < first_destination_[id];
      const uint64_t under_way = queue_of_[i]->sent - queue_of_[i]->taken;
      if (source ? under_way != 0 : under_way != depth_) continue;
      blocked.reason = source ? fmt::format("waits for a message from rank {}", peer_of_[i])
                              : fmt::format("waits for a free slot in its queue to rank {}", peer_of_[i]);
      blocked.by = lane_of(peer_of_[i], where.lane);
      return blocked;
    }
    for (const Dependence& other : model_.dependences(id)) {
      if (met(lane, other)) continue;
      blocked.reason = fmt::format("waits for its own lane {} step {}", other.lane, other.step);
      blocked.by = lane_of(where.rank, other.lane);
      break;
    }
    return blocked;
  }

  const Model& model_;
  const Slicing slicing_;
  const uint64_t depth_;
  std::vector<Position> at_;
  std::vector<uint32_t> ready_;
  std::vector<bool> queued_;
  std::unordered_map<uint64_t, Counts> queues_;
  std::vector<uint32_t> first_queue_;        // of each step, into queue_of_; one more at the end
  std::vector<uint32_t> first_destination_;  // of each step, into queue_of_
  std::vector<Counts*> queue_of_;
  std::vector<uint32_t> peer_of_;
};

// One loop of `slices` slices of the longest steps. `slot_elements` 1: every step has as many slices; a large one:
// shorter steps have fewer, in proportion.
Slicing one_loop(const PlanHeader& header, size_t slices, size_t slot_elements) {
  Slicing slicing;
  slicing.slot_elements = slot_elements;
  slicing.piece = slicing.slice_of(header.max_chunks) * slices;
  slicing.chunk = slicing.piece;
  slicing.count = slicing.chunk * header.chunks;
  slicing.loops = 1;
  return slicing;
}

bool uneven_steps(const Model& model) {
  for (StepId id = 1; id < model.steps(); ++id) {
    if (model.step(id).chunks != model.step(0).chunks) return true;
  }
  return false;
}

// The largest number of slices without a circle below `slices`, for the message; 0 when there is none.
size_t most_slices(const Model& model, size_t slices, size_t slot_elements, uint64_t depth) {
  size_t good = 0;
  while (good + 1 < slices && Machine(model, one_loop(model.header(), good + 1, slot_elements), depth).run()) ++good;
  return good;
}

Status explain(const Model& model, size_t slices, size_t slot_elements) {
  const PlanHeader& header = model.header();
  const size_t good = most_slices(model, slices, slot_elements, header.queue_depth);
  Machine machine(model, one_loop(header, good + 1, slot_elements), header.queue_depth);
  machine.run();
  std::string text;
  for (const Blocked& blocked : machine.circle()) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{} slice {} {}", model.name(blocked.step), blocked.slice, blocked.reason);
  }
  const bool bounded = Machine(model, one_loop(header, good + 1, slot_elements), kUnbounded).run();
  return reject("circular wait with {} slice(s) a step and queues of {} slot(s){}{}: {}; and so on in a circle",
                good + 1, header.queue_depth, bounded ? ", which unbounded queues would not have" : "",
                good > 0 ? fmt::format(" and which {} slice(s) do not have", good) : std::string(), text);
}

}  // namespace

Status check_waits(const Model& model) {
  const PlanHeader& header = model.header();
  const size_t slices = header.max_slices != 0 ? header.max_slices : 2 * size_t{header.queue_depth} + 1;
  constexpr size_t kLargeSlot = 720720;  // divisible by all small step lengths
  for (const size_t slot_elements : {size_t{1}, kLargeSlot}) {
    if (slot_elements != 1 && !uneven_steps(model)) break;
    if (!Machine(model, one_loop(header, slices, slot_elements), header.queue_depth).run()) {
      return explain(model, slices, slot_elements);
    }
  }
  return {};
}

}  // namespace tutti::algorithms::checker
