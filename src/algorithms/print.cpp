#include "algorithms/print.h"

#include <fmt/format.h>

namespace tutti::algorithms {
namespace {

std::string_view name_of_role(Role role) {
  switch (role) {
    case Role::kInput: return "input";
    case Role::kOutput: return "output";
    case Role::kScratch: return "scratch";
    case Role::kPeer: return "rank";
  }
  return "unknown role";
}

}  // namespace

std::string to_text(const Operand& operand, uint32_t chunks) {
  if (operand.role == Role::kPeer || chunks <= 1)
    return fmt::format("{} {}", name_of_role(operand.role), operand.index);
  return fmt::format("{} {}..{}", name_of_role(operand.role), operand.index, operand.index + chunks - 1);
}

std::string to_text(const Lane& lane, const Step& step) {
  std::string text;
  for (uint32_t i = 0; i < step.sources; ++i) {
    if (i != 0) text += " + ";
    text += to_text(lane.operands[step.first_source + i], step.chunks);
  }
  text += text.empty() ? "nothing" : " ->";
  for (uint32_t i = 0; i < step.destinations; ++i) {
    text += i != 0 ? ", " : " ";
    text += to_text(lane.operands[step.first_source + step.sources + i], step.chunks);
  }
  if (step.completes) text += " (completes)";
  for (uint32_t i = 0; i < step.dependences; ++i) {
    const Dependence& other = lane.dependences[step.first_dependence + i];
    text += fmt::format("{} lane {} step {}", i == 0 ? " after" : ",", other.lane, other.step);
  }
  return text;
}

std::string_view name_of(Lending lending) {
  switch (lending) {
    case Lending::kNever: return "never";
    case Lending::kOutOfPlace: return "out_of_place";
    case Lending::kAlways: return "always";
  }
  return "?";
}

std::string to_text(const Plan& plan) {
  const PlanHeader& header = plan.header;
  std::string text = fmt::format(
      "{} {} for {} ranks, rank {}: {} chunks a block, {} scratch chunks, slices {}, queues of {} slots, hash "
      "{:016x}\n",
      name_of(header.collective), header.name, header.nranks, plan.rank, header.chunks, header.scratch_chunks,
      header.max_slices == 0 ? std::string("any") : fmt::format("<= {}", header.max_slices), header.queue_depth,
      header.hash);
  for (size_t l = 0; l < plan.lanes.size(); ++l) {
    text += fmt::format("  lane {}\n", l);
    const Lane& lane = plan.lanes[l];
    for (size_t s = 0; s < lane.steps.size(); ++s) {
      const Step& step = lane.steps[s];
      text += fmt::format("    {:>3}  chunk {:>3}  {}\n", s, step.first_chunk, to_text(lane, step));
    }
  }
  return text;
}

}  // namespace tutti::algorithms
