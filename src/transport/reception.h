// Both sides of making a connection: a Reception accepts on listeners and lets each guest prove that it is a member;
// an Approach connects and proves the same to the other side. Nothing that a stranger sends reaches anybody else, and
// it takes no thread and no wait.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/net/fd.h"
#include "base/net/handshake.h"
#include "transport/engine.h"

namespace tutti::transport {

// All members but pending() run under the engine's claim.
class Reception {
 public:
  // Takes over a socket whose peer has proved the secret and said `greeting`.
  using Admit = std::function<void(net::Fd socket, const std::vector<std::byte>& greeting)>;

  // `most_guests`: how many may be proving at once; when more come, the one that has waited longest is turned away.
  Reception(Engine& engine, const net::Secret& secret, std::string purpose, size_t most_guests, Admit admit);
  ~Reception();
  Status listen(net::Fd listener);  // non-blocking, listening
  // Any thread: guests that are proving.
  size_t pending() const { return pending_.load(std::memory_order_relaxed); }

 private:
  class Listener;
  class Guest;
  void welcome(net::Fd socket);
  void dismiss(Guest* guest);  // it has ended, one way or the other

  Engine& engine_;
  const net::Secret secret_;
  const std::string purpose_;
  const size_t most_guests_;
  const Admit admit_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::deque<std::unique_ptr<Guest>> guests_;      // oldest first
  std::vector<std::unique_ptr<Guest>> dismissed_;  // freed at the next arrival: one of them may be running
  std::atomic<size_t> pending_{0};
};

// Under the engine's claim.
class Approach final : public Poller::Handler {
 public:
  // Called once: with the proved socket, or with the reason why there is none. May destroy nothing but its own state.
  using Done = std::function<void(Result<net::Fd>)>;

  // `socket`: non-blocking, connected or connecting. `to`: for messages.
  Approach(Engine& engine, net::Fd socket, std::string to, const net::Secret& secret, std::string purpose,
           std::vector<std::byte> greeting, Done done);
  ~Approach();
  void start();

 private:
  void on_ready(uint32_t events) override;
  void finish(Status status);

  Engine& engine_;
  const std::string to_;
  net::Fd socket_;
  net::Handshake handshake_;
  Done done_;
  bool connected_ = false;
};

}  // namespace tutti::transport
