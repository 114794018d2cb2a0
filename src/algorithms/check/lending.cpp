// Lending: whether a rank may hand out its input or output itself instead of a copy.
//
// A step that sends what lies in a local buffer may publish a reference, which its receiver reads when it comes to it.
// The sender must not write there before. It does not if each of its later steps that writes the chunk comes after the
// receiving step, by lane order, messages and dependences. That order holds slice by slice: the receiver has read a
// slice before anything that depends on it goes on, and steps of one chunk cut it into the same slices.
#include <map>

#include "algorithms/check/model.h"
#include "algorithms/check/order.h"
#include "algorithms/print.h"

namespace tutti::algorithms::checker {
namespace {

class Lending {
 public:
  Lending(const Model& model, bool in_place) : model_(model), in_place_(in_place), order_(model) {
    for (StepId id = 0; id < model.steps(); ++id) {
      for (const Operand& to : model.destinations(id)) {
        if (to.role == Role::kPeer || to.role == Role::kScratch) continue;
        for (uint32_t i = 0; i < model.step(id).chunks; ++i) writers_[key(id, to, i)].push_back(id);
      }
    }
  }

  Status run() {
    for (const auto& [queue, messages] : model_.queues()) {
      for (size_t i = 0; i < messages.sends.size(); ++i)
        TUTTI_RETURN_IF_ERROR(check(messages.sends[i], messages.receives[i]));
    }
    return {};
  }

 private:
  struct Key {
    uint32_t rank = 0;
    Role role = Role::kInput;
    uint32_t chunk = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  Key key(StepId id, const Operand& operand, uint32_t i) const {
    const Role role = in_place_ && operand.role == Role::kOutput ? Role::kInput : operand.role;
    return {model_.place(id).rank, role, operand.index + i};
  }

  Status check(StepId send, StepId receive) {
    const Operand* lent = lent_operand(model_.sources(send), model_.destinations(send), model_.step(send).completes);
    if (lent == nullptr) return {};
    for (uint32_t i = 0; i < model_.step(send).chunks; ++i) {
      const auto writers = writers_.find(key(send, *lent, i));
      if (writers == writers_.end()) continue;
      for (const StepId writer : writers->second) {
        if (writer == send || order_.before(writer, send, false) || order_.before(receive, writer, false)) continue;
        return reject("{} may write {} while {} still reads what {} has lent", model_.name(writer),
                      to_text(Operand{lent->role, lent->index + i}, 1), model_.name(receive), model_.name(send));
      }
    }
    return {};
  }

  const Model& model_;
  const bool in_place_;
  Order order_;
  std::map<Key, std::vector<StepId>> writers_;
};

}  // namespace

Status check_lending(const Model& model, bool in_place) {
  return Lending(model, in_place).run();
}

}  // namespace tutti::algorithms::checker
