// Symbols: what every chunk holds, as a set of contributions and an expression.
#include <bit>
#include <deque>
#include <map>

#include "algorithms/check/model.h"
#include "algorithms/print.h"

namespace tutti::algorithms::checker {
namespace {

using ValueId = uint32_t;
constexpr ValueId kNothing = ~ValueId{0};
constexpr StepId kNobody = ~StepId{0};

// What one element of a chunk holds. Copies share a value; every rounding makes a new one.
struct Value {
  uint32_t chunk = 0;
  bool complete = false;              // finished: kAvg's division is done
  uint64_t expression = 0;            // hash over operand order and rounding points
  std::vector<uint64_t> contributes;  // a bit for each rank
  std::vector<ValueId> operands;      // empty for a rank's own input
  uint32_t rank = 0;                  // then, whose
};

struct Cell {
  ValueId value = kNothing;
  StepId writer = kNobody;
};

uint64_t mix(uint64_t state, uint64_t value) {
  state = (state ^ value) * 0x9e3779b97f4a7c15u;
  return state ^ (state >> 29);
}

class Symbols {
 public:
  Symbols(const Model& model, bool in_place) : model_(model), in_place_(in_place) {
    const PlanHeader& header = model.header();
    words_ = (model.nranks() + 63) / 64;
    memory_.resize(model.nranks());
    for (uint32_t rank = 0; rank < model.nranks(); ++rank) {
      memory_[rank].input.resize(header.chunks);
      memory_[rank].output.resize(header.chunks);
      memory_[rank].scratch.resize(header.scratch_chunks);
      for (uint32_t chunk = 0; chunk < header.chunks; ++chunk) {
        Value value;
        value.chunk = chunk;
        value.rank = rank;
        value.expression = mix(mix(1, rank), chunk);
        value.contributes.assign(words_, 0);
        value.contributes[rank / 64] |= uint64_t{1} << (rank % 64);
        memory_[rank].input[chunk].value = add(std::move(value));
      }
    }
  }

  Status run() {
    std::vector<uint32_t> waits(model_.steps());
    std::vector<StepId> ready;
    for (StepId id = 0; id < model_.steps(); ++id) {
      waits[id] = static_cast<uint32_t>(model_.predecessors(id).size());
      if (waits[id] == 0) ready.push_back(id);
    }
    while (!ready.empty()) {
      const StepId id = ready.back();
      ready.pop_back();
      TUTTI_RETURN_IF_ERROR(execute(id));
      for (const StepId next : model_.successors(id)) {
        if (--waits[next] == 0) ready.push_back(next);
      }
    }
    return check_results();
  }

 private:
  struct Memory {
    std::vector<Cell> input, output, scratch;
  };

  ValueId add(Value value) {
    values_.push_back(std::move(value));
    return static_cast<ValueId>(values_.size() - 1);
  }

  Cell& cell(uint32_t rank, Role role, uint32_t chunk) {
    Memory& memory = memory_[rank];
    if (role == Role::kScratch) return memory.scratch[chunk];
    return role == Role::kInput || in_place_ ? memory.input[chunk] : memory.output[chunk];
  }

  // The lowest rank whose contribution is missing, or -1.
  int missing(const Value& value) const {
    for (uint32_t rank = 0; rank < model_.nranks(); ++rank) {
      if ((value.contributes[rank / 64] >> (rank % 64) & 1) == 0) return static_cast<int>(rank);
    }
    return -1;
  }

  Status execute(StepId id) {
    const Step& step = model_.step(id);
    const Place& where = model_.place(id);
    // operands[source][chunk of the run]
    std::vector<std::vector<ValueId>> operands;
    for (const Operand& from : model_.sources(id)) {
      if (from.role == Role::kPeer) {
        auto& queue = queues_[{from.index, where.rank, where.lane}];
        operands.push_back(std::move(queue.front()));
        queue.pop_front();
        continue;
      }
      operands.emplace_back();
      for (uint32_t i = 0; i < step.chunks; ++i) {
        TUTTI_ASSIGN_OR_RETURN(const ValueId value, read(id, from, i));
        operands.back().push_back(value);
      }
    }
    if (operands.empty()) return {};
    std::vector<ValueId> results;
    for (uint32_t i = 0; i < step.chunks; ++i) {
      std::vector<ValueId> column;
      for (const auto& operand : operands) column.push_back(operand[i]);
      TUTTI_ASSIGN_OR_RETURN(const ValueId value, result(id, step.first_chunk + i, column));
      results.push_back(value);
    }
    for (const Operand& to : model_.destinations(id)) {
      if (to.role == Role::kPeer) {
        queues_[{where.rank, to.index, where.lane}].push_back(results);
        continue;
      }
      for (uint32_t i = 0; i < step.chunks; ++i) TUTTI_RETURN_IF_ERROR(write(id, to, i, results[i]));
    }
    return {};
  }

  Result<ValueId> read(StepId id, const Operand& from, uint32_t i) {
    const Cell& source = cell(model_.place(id).rank, from.role, from.index + i);
    const std::string what = to_text(Operand{from.role, from.index + i}, 1);
    if (from.role == Role::kInput && source.writer != kNobody) {
      const Place& writer = model_.place(source.writer);
      return reject("{} reads {} in place, but lane {} step {} has already overwritten it", model_.name(id), what,
                    writer.lane, writer.step);
    }
    if (from.role != Role::kInput && source.writer == kNobody) {
      return reject("{} reads {} before anything is written to it: a stale contribution", model_.name(id), what);
    }
    return source.value;
  }

  Result<ValueId> result(StepId id, uint32_t chunk, const std::vector<ValueId>& operands) {
    for (const ValueId operand : operands) {
      if (values_[operand].chunk != chunk) {
        return reject("{} takes {} of chunk {} for chunk {}", model_.name(id), text(operand), values_[operand].chunk,
                      chunk);
      }
    }
    const bool completes = model_.step(id).completes;
    if (operands.size() == 1 && !completes) return operands[0];
    Value sum;
    sum.chunk = chunk;
    sum.complete = completes;
    sum.expression = mix(2, completes ? 1 : 0);
    sum.contributes.assign(words_, 0);
    sum.operands = operands;
    for (const ValueId operand : operands) {
      const Value& value = values_[operand];
      if (value.complete) {
        return reject("{} adds {} of chunk {}, which is already a finished result", model_.name(id), text(operand),
                      chunk);
      }
      for (uint32_t word = 0; word < words_; ++word) {
        if (const uint64_t twice = sum.contributes[word] & value.contributes[word]; twice != 0) {
          return reject("{} adds the contribution of rank {} to chunk {} a second time: {}", model_.name(id),
                        word * 64 + static_cast<uint32_t>(std::countr_zero(twice)), chunk, text(operands));
        }
        sum.contributes[word] |= value.contributes[word];
      }
      sum.expression = mix(sum.expression, value.expression);
    }
    if (const int rank = missing(sum); completes && rank >= 0) {
      return reject("{} completes chunk {} without the contribution of rank {}, which is lost: {}", model_.name(id),
                    chunk, rank, text(operands));
    }
    return add(std::move(sum));
  }

  Status write(StepId id, const Operand& to, uint32_t i, ValueId value) {
    if (to.role == Role::kOutput) {
      const int rank = missing(values_[value]);
      if (rank >= 0) {
        return reject("{} writes output chunk {} too early: it does not depend on the contribution of rank {} ({})",
                      model_.name(id), to.index + i, rank, text(value));
      }
      if (!values_[value].complete) {
        return reject("{} writes output chunk {} with a sum that no step has completed: kAvg would not be divided",
                      model_.name(id), to.index + i);
      }
    }
    cell(model_.place(id).rank, to.role, to.index + i) = {value, id};
    return {};
  }

  Status check_results() {
    const PlanHeader& header = model_.header();
    for (uint32_t chunk = 0; chunk < header.chunks; ++chunk) {
      const Cell& first = cell(0, Role::kOutput, chunk);
      for (uint32_t rank = 0; rank < model_.nranks(); ++rank) {
        const Cell& mine = cell(rank, Role::kOutput, chunk);
        if (mine.writer == kNobody) {
          return reject("{}: rank {} never gets output chunk {}: no step of lanes 0..{} writes it", header.name, rank,
                        chunk, model_.lanes() - 1);
        }
        if (values_[mine.value].expression != values_[first.value].expression) {
          return reject("{} leaves {} in output chunk {}, but {} leaves {}: the bits would differ",
                        model_.name(mine.writer), text(mine.value), chunk, model_.name(first.writer),
                        text(first.value));
        }
      }
    }
    return {};
  }

  // "((r0 + r1) + r2)", cut short when long.
  std::string text(ValueId id) const {
    std::string out;
    append(out, id);
    return out;
  }
  std::string text(const std::vector<ValueId>& operands) const {
    std::string out = "(";
    for (size_t i = 0; i < operands.size(); ++i) {
      if (i != 0) out += " + ";
      append(out, operands[i]);
    }
    return out + ")";
  }
  void append(std::string& out, ValueId id) const {
    constexpr size_t kLongest = 200;
    const Value& value = values_[id];
    if (value.operands.empty()) {
      out += fmt::format("r{}", value.rank);
    } else if (out.size() > kLongest) {
      out += "...";
    } else {
      out += '(';
      for (size_t i = 0; i < value.operands.size(); ++i) {
        if (i != 0) out += " + ";
        append(out, value.operands[i]);
      }
      out += ')';
    }
  }

  const Model& model_;
  const bool in_place_;
  uint32_t words_ = 1;
  std::vector<Value> values_;
  std::vector<Memory> memory_;
  std::map<QueueKey, std::deque<std::vector<ValueId>>> queues_;
};

}  // namespace

Status check_symbols(const Model& model, bool in_place) {
  return Symbols(model, in_place).run();
}

}  // namespace tutti::algorithms::checker
