// Races: whether steps of different lanes that touch the same chunk are ordered.
//
// Order is that of lanes, messages and dependences between steps; a step has finished an element before a later one
// touches it exactly if there is a path. Full queues give no order here: they would be different with deeper queues.
#include <map>

#include "algorithms/check/model.h"
#include "algorithms/check/order.h"
#include "algorithms/print.h"

namespace tutti::algorithms::checker {
namespace {

struct Access {
  StepId step = 0;
  bool writes = false;
};

struct Cell {
  uint32_t rank = 0;
  Role role = Role::kInput;
  uint32_t chunk = 0;
  friend auto operator<=>(const Cell&, const Cell&) = default;
};

// Chunks that more than one lane of a rank touches, at least once writing.
std::map<Cell, std::vector<Access>> shared_cells(const Model& model, bool in_place) {
  std::map<Cell, std::vector<Access>> cells;
  for (StepId id = 0; id < model.steps(); ++id) {
    const auto touch = [&](const Operand& operand, bool writes) {
      if (operand.role == Role::kPeer) return;
      const Role role = in_place && operand.role == Role::kOutput ? Role::kInput : operand.role;
      for (uint32_t i = 0; i < model.step(id).chunks; ++i) {
        cells[{model.place(id).rank, role, operand.index + i}].push_back({id, writes});
      }
    };
    for (const Operand& from : model.sources(id)) touch(from, false);
    for (const Operand& to : model.destinations(id)) touch(to, true);
  }
  std::erase_if(cells, [&](const auto& cell) {
    bool lanes = false;
    bool writes = false;
    for (const Access& access : cell.second) {
      lanes = lanes || model.place(access.step).lane != model.place(cell.second.front().step).lane;
      writes = writes || access.writes;
    }
    return !lanes || !writes;
  });
  return cells;
}

Status race(const Model& model, const Cell& cell, const Access& a, const Access& b, bool in_place, bool next_loop) {
  const Place& other = model.place(b.step);
  return reject("{} {} {}{} while lane {} step {} ({}){} {} it: nothing orders the two", model.name(a.step),
                a.writes ? "writes" : "reads", to_text(Operand{cell.role, cell.chunk}, 1),
                in_place && cell.role == Role::kInput ? " (in place: also the output)" : "", other.lane, other.step,
                to_text(model.lane(b.step), model.step(b.step)), next_loop ? " of the next loop" : "",
                b.writes ? "writes" : "reads");
}

}  // namespace

Status check_races(const Model& model, bool in_place) {
  Order order(model);
  for (const auto& [cell, accesses] : shared_cells(model, in_place)) {
    const bool again = cell.role == Role::kScratch && model.header().scratch_per_loop;
    for (const Access& a : accesses) {
      for (const Access& b : accesses) {
        if (model.place(a.step).lane == model.place(b.step).lane || (!a.writes && !b.writes)) continue;
        if (a.step < b.step && !order.before(a.step, b.step, false) && !order.before(b.step, a.step, false)) {
          return race(model, cell, a, b, in_place, false);
        }
        if (again && !order.before(a.step, b.step, true)) return race(model, cell, a, b, in_place, true);
      }
    }
  }
  return {};
}

}  // namespace tutti::algorithms::checker
