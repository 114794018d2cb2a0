// Structure and messages: that the plans are well formed, and that every message has its receive.
#include <algorithm>

#include "algorithms/check/model.h"
#include "algorithms/print.h"

namespace tutti::algorithms::checker {
namespace {

Status check_header(const PlanHeader& header) {
  if (header.collective != Collective::kAllReduce) {
    return reject("{}: what {} promises is not known to the checker", header.name, name_of(header.collective));
  }
  if (header.input_blocks != 1 || header.output_blocks != 1 || header.root != -1) {
    return reject("{}: AllReduce has one block of input and of output and no root, but the plan has {}, {} and root {}",
                  header.name, header.input_blocks, header.output_blocks, header.root);
  }
  if (header.nranks < 1 || header.chunks < 1 || header.lanes < 1 || header.queue_depth < 1) {
    return reject("{}: {} ranks, {} chunks, {} lanes, queues of {} slots; each must be at least 1", header.name,
                  header.nranks, header.chunks, header.lanes, header.queue_depth);
  }
  return {};
}

Status check_operand(const Plan& plan, const Operand& operand, const Step& step) {
  const PlanHeader& header = plan.header;
  const uint64_t end = uint64_t{operand.index} + step.chunks;
  switch (operand.role) {
    case Role::kPeer:
      if (operand.index >= static_cast<uint32_t>(header.nranks) || operand.index == static_cast<uint32_t>(plan.rank)) {
        return reject("rank {} is no other rank of {}", operand.index, header.nranks);
      }
      return {};
    case Role::kScratch:
      if (end > header.scratch_chunks) return reject("scratch ends at chunk {}", header.scratch_chunks);
      return {};
    case Role::kInput:
    case Role::kOutput:
      if (end > header.chunks) return reject("the block ends at chunk {}", header.chunks);
      if (operand.index % header.chunks != step.first_chunk) {
        return reject("{} does not belong to chunk {}, which the step says it works on", to_text(operand, step.chunks),
                      step.first_chunk);
      }
      return {};
  }
  return reject("unknown role {}", static_cast<int>(operand.role));
}

Status check_side(const Plan& plan, const Step& step, std::span<const Operand> side) {
  for (size_t i = 0; i < side.size(); ++i) {
    TUTTI_RETURN_IF_ERROR(check_operand(plan, side[i], step));
    if (side[i].role == Role::kPeer && std::find(side.begin(), side.begin() + static_cast<ptrdiff_t>(i), side[i]) !=
                                           side.begin() + static_cast<ptrdiff_t>(i)) {
      return reject("rank {} stands twice on one side", side[i].index);
    }
  }
  return {};
}

Status check_step(const Plan& plan, const Lane& lane, const Step& step) {
  const PlanHeader& header = plan.header;
  if (uint64_t{step.first_source} + step.sources + step.destinations > lane.operands.size() ||
      uint64_t{step.first_dependence} + step.dependences > lane.dependences.size()) {
    return reject("its operands or dependences lie outside the lane's");
  }
  if (step.chunks < 1 || step.chunks > header.max_chunks || step.first_chunk + uint64_t{step.chunks} > header.chunks) {
    return reject("works on chunks {}..{}, but a block has {} and a step at most {}", step.first_chunk,
                  step.first_chunk + uint64_t{step.chunks} - 1, header.chunks, header.max_chunks);
  }
  if ((step.sources == 0) != (step.destinations == 0) || (step.completes && step.sources == 0)) {
    return reject("has {} sources and {} destinations", step.sources, step.destinations);
  }
  const std::span<const Operand> all(lane.operands.data() + step.first_source,
                                     step.sources + size_t{step.destinations});
  TUTTI_RETURN_IF_ERROR(check_side(plan, step, all.first(step.sources)));
  TUTTI_RETURN_IF_ERROR(check_side(plan, step, all.last(step.destinations)));
  for (const Operand& to : all.last(step.destinations)) {
    if (to.role == Role::kInput) return reject("writes to the input");
  }
  for (uint32_t i = 0; i < step.dependences; ++i) {
    const Dependence& other = lane.dependences[step.first_dependence + i];
    if (other.lane >= plan.lanes.size() || other.step >= plan.lanes[other.lane].steps.size()) {
      return reject("depends on lane {} step {}, which does not exist", other.lane, other.step);
    }
    if (!plan.lanes[other.lane].steps[other.step].depended_on) {
      return reject("depends on lane {} step {}, which is not marked as depended on", other.lane, other.step);
    }
  }
  return {};
}

}  // namespace

Status check_structure(const std::vector<Plan>& plans) {
  if (plans.empty()) return reject("no plans to check");
  const PlanHeader& header = plans.front().header;
  TUTTI_RETURN_IF_ERROR(check_header(header));
  if (plans.size() != static_cast<size_t>(header.nranks)) {
    return reject("{}: {} plans for {} ranks", header.name, plans.size(), header.nranks);
  }
  for (size_t rank = 0; rank < plans.size(); ++rank) {
    const Plan& plan = plans[rank];
    if (plan.rank != static_cast<int>(rank)) return reject("{}: plan {} is rank {}'s", header.name, rank, plan.rank);
    if (plan.header != header) return reject("{}: rank {} has another header than rank 0", header.name, rank);
    if (plan.lanes.size() != header.lanes) {
      return reject("{}: rank {} has {} lanes instead of {}", header.name, rank, plan.lanes.size(), header.lanes);
    }
    for (size_t l = 0; l < plan.lanes.size(); ++l) {
      for (size_t s = 0; s < plan.lanes[l].steps.size(); ++s) {
        const Status status = check_step(plan, plan.lanes[l], plan.lanes[l].steps[s]);
        if (!status.ok()) return reject("{}: rank {} lane {} step {}: {}", header.name, rank, l, s, status.text());
      }
    }
  }
  return {};
}

Status check_messages(const Model& model) {
  for (const auto& [key, queue] : model.queues()) {
    const size_t pairs = std::min(queue.sends.size(), queue.receives.size());
    for (size_t i = 0; i < pairs; ++i) {
      const Step& send = model.step(queue.sends[i]);
      const Step& receive = model.step(queue.receives[i]);
      if (send.chunks != receive.chunks || send.first_chunk != receive.first_chunk) {
        return reject(
            "{} sends {} chunk(s) from chunk {} on, but {} takes message {} of that queue as {} chunk(s) from "
            "chunk {} on",
            model.name(queue.sends[i]), send.chunks, send.first_chunk, model.name(queue.receives[i]), i, receive.chunks,
            receive.first_chunk);
      }
    }
    if (queue.sends.size() > pairs) {
      return reject("{} sends message {} to rank {}, which takes only {} from rank {} on this lane",
                    model.name(queue.sends[pairs]), pairs, key.to, pairs, key.from);
    }
    if (queue.receives.size() > pairs) {
      return reject("{} waits for message {} of rank {}, which sends only {} to rank {} on this lane",
                    model.name(queue.receives[pairs]), pairs, key.from, pairs, key.to);
    }
  }
  return {};
}

}  // namespace tutti::algorithms::checker
