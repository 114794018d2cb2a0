// Plans that were made for a communicator, kept by the shape of the request, and calls prepared from them.
// Belongs to whoever has claimed the communicator.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/select.h"
#include "runtime/operation.h"
#include "transport/transport.h"

namespace tutti::runtime {

class PlanCache {
 public:
  void configure(int rank, const algorithms::Snapshot& snapshot, const transport::QueueShape& shape);

  // The prepared call for these arguments; plans, binds and logs at the first call of a shape.
  Result<const PreparedCall*> prepare(Collective kind, uint64_t count, DataType type, ReduceOp op, int root);

  // Forgets prepared calls when there are very many. Only while no operation runs: they hold pointers to them.
  void trim();

 private:
  struct Key {
    uint64_t count = 0;
    int root = -1;
    Collective kind = Collective::kAllReduce;
    DataType type = DataType::kFloat32;
    ReduceOp op = ReduceOp::kSum;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  Result<std::shared_ptr<BoundPlan>> plan_for(const algorithms::Choice& choice, const algorithms::Request& request);

  int rank_ = 0;
  algorithms::Snapshot snapshot_;
  transport::QueueShape shape_;
  Key last_key_;
  const PreparedCall* last_ = nullptr;
  // A training loop has a few dozen shapes; what no longer fits is dropped as a whole, which costs a little planning.
  std::map<Key, std::unique_ptr<PreparedCall>> calls_;
  std::map<std::string, std::shared_ptr<BoundPlan>> plans_;
};

}  // namespace tutti::runtime
