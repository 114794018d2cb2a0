// A decorator that makes any transport's network bad, reproducibly: delays, withheld messages, broken and dead links.
// For tests. Only what this rank sends is touched; wrap both ends to touch both directions.
//
// Messages go through a ring of the decorator's own, and from there into the inner transport's queue when the faults
// let them. Their order within a channel, their content and the meaning of credits stay as the contract says.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "transport/doorbell_page.h"
#include "transport/transport.h"

namespace tutti::transport {

struct FaultOptions {
  int rank = 0;
  QueueShape shape;
  std::shared_ptr<DoorbellPage> doorbell;      // the inner transport's
  uint64_t seed = 1;                           // of the delays
  std::chrono::microseconds longest_delay{0};  // each message waits a random time up to this
};

// Control calls: any thread, any time; `peer` is a valid rank.
class FaultTransport : public Transport {
 public:
  static constexpr uint64_t kNever = UINT64_MAX;
  // The connection to `peer` breaks after `messages` more: a failure is reported, nothing more crosses.
  virtual void drop_after(int peer, uint64_t messages) = 0;
  // The same, but nobody is told: a cable that was pulled.
  virtual void cut_after(int peer, uint64_t messages) = 0;
  // Holds what is sent over one channel back until resume().
  virtual void withhold(int peer, uint32_t flight, uint32_t lane) = 0;
  virtual void resume(int peer, uint32_t flight, uint32_t lane) = 0;
};

Result<std::unique_ptr<FaultTransport>> make_fault_transport(std::unique_ptr<Transport> inner,
                                                             const FaultOptions& options);

}  // namespace tutti::transport
