// How a connection's memory changes hands. After the mutual proof (reception.h), over the same unix socket:
//
//   sender -> receiver   Offer, with two descriptors: the queues' memory and the sender's doorbell page
//   receiver -> sender   Answer, with one: the receiver's doorbell page
//
// Both parts are handlers that live until they call `done`, once. Under the engine's claim.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>

#include "base/net/fd.h"
#include "transport/engine.h"
#include "transport/ring_memory.h"
#include "transport/transport.h"

namespace tutti::transport::shm {

struct Offer {
  uint64_t probe_address = 0;  // memory of the sender that holds `probe`: can the receiver read it?
  uint64_t probe = 0;
};
struct Answer {
  uint32_t readable = 0;  // it can
};

// The sender's part.
class Offering final : public Poller::Handler {
 public:
  // The receiver's doorbell, and whether it reads this process's memory; the memory is open for use.
  struct Taken {
    RingMemory memory;
    std::shared_ptr<DoorbellPage> peer_bell;
    net::Fd socket;
    bool readable = false;
  };
  using Done = std::function<void(Result<Taken>)>;

  Offering(Engine& engine, net::Fd socket, const QueueShape& shape, Done done);
  ~Offering();
  void start();

 private:
  void on_ready(uint32_t events) override;
  Status prepare();
  void offer();
  void take_answer();
  void finish(Result<Taken> result);

  Engine& engine_;
  net::Fd socket_;
  const QueueShape shape_;
  Done done_;
  RingMemory memory_;
  net::Fd memory_descriptor_;
  const std::unique_ptr<uint64_t> probe_;
  bool offered_ = false;
};

// The receiver's part.
class Taking final : public Poller::Handler {
 public:
  struct Given {
    RingMemory memory;
    std::shared_ptr<DoorbellPage> peer_bell;
    net::Fd socket;
    pid_t pid = -1;
  };
  using Done = std::function<void(Result<Given>)>;

  Taking(Engine& engine, net::Fd socket, const QueueShape& shape, Done done);
  ~Taking();
  void start();

 private:
  void on_ready(uint32_t events) override;
  Result<Given> accept(const Offer& offer, net::Fd memory, net::Fd bell);
  void finish(Result<Given> result);

  Engine& engine_;
  net::Fd socket_;
  const QueueShape shape_;
  Done done_;
};

}  // namespace tutti::transport::shm
