// Runs the plans of all ranks on real numbers, in one thread, with bounded queues, in an order of events drawn from a
// seed: what an executor does, without transports.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "algorithms/plan.h"
#include "algorithms/slices.h"

namespace tutti::algorithms {

class Interpreter {
 public:
  // `buffers[rank]`: the input, in place also the output.
  Interpreter(const std::vector<Plan>& plans, const Slicing& slicing, std::vector<std::vector<float>> inputs,
              bool in_place)
      : plans_(plans), slicing_(slicing), in_place_(in_place), inputs_(std::move(inputs)) {
    constexpr float kPoison = std::numeric_limits<float>::quiet_NaN();
    outputs_.assign(plans.size(), std::vector<float>(slicing.count, kPoison));
    scratch_.assign(plans.size(), std::vector<float>(slicing.piece * plans[0].header.scratch_chunks, kPoison));
    at_.resize(plans.size() * plans[0].header.lanes);
  }

  // False when nothing can move any more before all lanes are done, or a message would not fit into a slot.
  bool run(uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<size_t> order;
    for (size_t lane = 0; lane < at_.size(); ++lane) order.push_back(lane);
    for (bool moved = true; moved && fits_;) {
      moved = false;
      std::shuffle(order.begin(), order.end(), random);
      for (const size_t lane : order) {
        for (size_t turns = 1 + random() % 3; turns > 0 && step(lane); --turns) moved = true;
      }
    }
    for (size_t lane = 0; lane < at_.size(); ++lane) {
      if (!done(lane)) return false;
    }
    return fits_;
  }

  const std::vector<float>& output(size_t rank) const { return in_place_ ? inputs_[rank] : outputs_[rank]; }

 private:
  struct Position {
    size_t loop = 0;
    size_t step = 0;
    size_t slice = 0;
  };
  using Message = std::vector<float>;

  const Plan& plan(size_t lane) const { return plans_[lane / plans_[0].header.lanes]; }
  const Lane& code(size_t lane) const { return plan(lane).lanes[lane % plans_[0].header.lanes]; }
  bool done(size_t lane) const { return code(lane).steps.empty() || at_[lane].loop >= slicing_.loops; }

  std::deque<Message>& queue(uint32_t from, uint32_t to, size_t lane) {
    return queues_[{from, to, lane % plans_[0].header.lanes}];
  }

  Range range(size_t lane, const Step& step, uint32_t chunk) const {
    return slicing_.range(step.first_chunk + chunk, step.chunks, at_[lane].loop, at_[lane].slice);
  }

  bool met(size_t lane, const Step& step, const Dependence& other) const {
    const size_t other_lane = lane / plans_[0].header.lanes * plans_[0].header.lanes + other.lane;
    const Position& mine = at_[lane];
    const Position& theirs = at_[other_lane];
    if (theirs.loop != mine.loop) return theirs.loop > mine.loop;
    if (theirs.step != other.step) return theirs.step > other.step;
    const size_t needed = std::min(slicing_.piece, (mine.slice + 1) * slicing_.slice_of(step.chunks));
    return theirs.slice * slicing_.slice_of(code(other_lane).steps[other.step].chunks) >= needed;
  }

  float* local(size_t lane, const Step& step, const Operand& operand, uint32_t chunk) {
    const auto rank = static_cast<size_t>(plan(lane).rank);
    const size_t begin = range(lane, step, chunk).begin;
    if (operand.role == Role::kScratch) {
      const size_t piece = (step.first_chunk + chunk) * slicing_.chunk + at_[lane].loop * slicing_.piece;
      return scratch_[rank].data() + (operand.index + chunk) * slicing_.piece + (begin - piece);
    }
    auto& buffer = operand.role == Role::kInput || in_place_ ? inputs_[rank] : outputs_[rank];
    return buffer.data() + begin;
  }

  // One slice, if it can fire.
  bool step(size_t lane) {
    if (done(lane)) return false;
    const Step& step = code(lane).steps[at_[lane].step];
    const auto rank = static_cast<uint32_t>(plan(lane).rank);
    const Operand* sources = code(lane).operands.data() + step.first_source;
    const Operand* destinations = sources + step.sources;
    for (uint32_t i = 0; i < step.dependences; ++i) {
      if (!met(lane, step, code(lane).dependences[step.first_dependence + i])) return false;
    }
    size_t elements = 0;
    for (uint32_t c = 0; c < step.chunks; ++c) elements += range(lane, step, c).size;
    if (elements > 0) {
      for (uint32_t i = 0; i < step.sources; ++i) {
        if (sources[i].role == Role::kPeer && queue(sources[i].index, rank, lane).empty()) return false;
      }
      for (uint32_t i = 0; i < step.destinations; ++i) {
        if (destinations[i].role == Role::kPeer &&
            queue(rank, destinations[i].index, lane).size() == plans_[0].header.queue_depth) {
          return false;
        }
      }
      fire(lane, step, sources, destinations, elements);
    }
    Position& at = at_[lane];
    if (++at.slice == slicing_.slices_of(step.chunks)) at = {at.loop, at.step + 1, 0};
    if (at.step == code(lane).steps.size()) at = {at.loop + 1, 0, 0};
    return true;
  }

  void fire(size_t lane, const Step& step, const Operand* sources, const Operand* destinations, size_t elements) {
    const auto rank = static_cast<uint32_t>(plan(lane).rank);
    fits_ = fits_ && elements <= std::max<size_t>(slicing_.slot_elements, step.chunks);
    Message sum;
    for (uint32_t i = 0; i < step.sources; ++i) {
      Message operand;
      if (sources[i].role == Role::kPeer) {
        auto& from = queue(sources[i].index, rank, lane);
        operand = std::move(from.front());
        from.pop_front();
        fits_ = fits_ && operand.size() == elements;
        operand.resize(elements);
      } else {
        for (uint32_t c = 0; c < step.chunks; ++c) {
          const size_t size = range(lane, step, c).size;
          const float* data = size > 0 ? local(lane, step, sources[i], c) : nullptr;
          operand.insert(operand.end(), data, data + size);
        }
      }
      if (i == 0) {
        sum = std::move(operand);
      } else {
        for (size_t e = 0; e < elements; ++e) sum[e] += operand[e];
      }
    }
    for (uint32_t i = 0; i < step.destinations; ++i) {
      if (destinations[i].role == Role::kPeer) {
        queue(rank, destinations[i].index, lane).push_back(sum);
        continue;
      }
      size_t done = 0;
      for (uint32_t c = 0; c < step.chunks; ++c) {
        const size_t size = range(lane, step, c).size;
        if (size > 0) std::copy_n(sum.data() + done, size, local(lane, step, destinations[i], c));
        done += size;
      }
    }
  }

  const std::vector<Plan>& plans_;
  const Slicing slicing_;
  const bool in_place_;
  std::vector<std::vector<float>> inputs_, outputs_, scratch_;
  std::vector<Position> at_;
  std::map<std::tuple<uint32_t, uint32_t, size_t>, std::deque<Message>> queues_;
  bool fits_ = true;
};

}  // namespace tutti::algorithms
