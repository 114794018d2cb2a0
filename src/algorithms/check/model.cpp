#include "algorithms/check/model.h"

#include "algorithms/check.h"
#include "algorithms/print.h"

namespace tutti::algorithms {
namespace checker {

Model::Model(const std::vector<Plan>& plans) : plans_(plans) {
  for (const Plan& plan : plans) {
    for (uint32_t l = 0; l < lanes(); ++l) {
      first_.push_back(steps());
      for (uint32_t s = 0; s < plan.lanes[l].steps.size(); ++s) {
        places_.push_back({static_cast<uint32_t>(plan.rank), l, s});
        const StepId last = steps() - 1;
        for (const Operand& from : sources(last)) {
          if (from.role == Role::kPeer) queues_[{from.index, places_[last].rank, l}].receives.push_back(last);
        }
        for (const Operand& to : destinations(last)) {
          if (to.role == Role::kPeer) queues_[{places_[last].rank, to.index, l}].sends.push_back(last);
        }
      }
    }
  }
}

std::span<const Operand> Model::sources(StepId id) const {
  return {lane(id).operands.data() + step(id).first_source, step(id).sources};
}

std::span<const Operand> Model::destinations(StepId id) const {
  return {lane(id).operands.data() + step(id).first_source + step(id).sources, step(id).destinations};
}

std::span<const Dependence> Model::dependences(StepId id) const {
  return {lane(id).dependences.data() + step(id).first_dependence, step(id).dependences};
}

void Model::add_edge(StepId from, StepId to) {
  successors_[from].push_back(to);
  predecessors_[to].push_back(from);
}

void Model::link() {
  predecessors_.assign(steps(), {});
  successors_.assign(steps(), {});
  for (StepId id = 0; id < steps(); ++id) {
    if (places_[id].step > 0) add_edge(id - 1, id);
    for (const Dependence& other : dependences(id)) add_edge(this->id(places_[id].rank, other.lane, other.step), id);
  }
  for (const auto& [key, queue] : queues_) {
    for (size_t i = 0; i < queue.sends.size(); ++i) add_edge(queue.sends[i], queue.receives[i]);
  }
}

std::string Model::name(StepId id) const {
  const Place& where = places_[id];
  return fmt::format("{}: rank {} lane {} step {} ({})", header().name, where.rank, where.lane, where.step,
                     to_text(lane(id), step(id)));
}

}  // namespace checker

Status check(const std::vector<Plan>& plans) {
  TUTTI_RETURN_IF_ERROR(checker::check_structure(plans));
  checker::Model model(plans);
  TUTTI_RETURN_IF_ERROR(checker::check_messages(model));
  model.link();
  TUTTI_RETURN_IF_ERROR(checker::check_waits(model));
  TUTTI_RETURN_IF_ERROR(checker::check_races(model, false));
  TUTTI_RETURN_IF_ERROR(checker::check_symbols(model, false));
  if (model.header().in_place) {
    TUTTI_RETURN_IF_ERROR(checker::check_races(model, true));
    TUTTI_RETURN_IF_ERROR(checker::check_symbols(model, true));
  }
  if (model.header().lending != Lending::kNever) TUTTI_RETURN_IF_ERROR(checker::check_lending(model, false));
  if (model.header().lending == Lending::kAlways) TUTTI_RETURN_IF_ERROR(checker::check_lending(model, true));
  return {};
}

}  // namespace tutti::algorithms
