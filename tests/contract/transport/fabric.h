// What the contract tests share: the kinds of transport, ranks in this process, ranks in processes of their own, and
// messages whose content can be checked.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "transport/doorbell_page.h"
#include "transport/transport.h"

namespace tutti::transport::testing {

using namespace std::chrono_literals;
using Secret = std::array<unsigned char, 32>;

enum class Kind { kInProcess, kShm, kTcp4, kTcp6 };
std::string name_of(Kind kind);
void PrintTo(Kind kind, std::ostream* out);
bool crosses_processes(Kind kind);

inline constexpr QueueShape kSmall{.flights = 2, .lanes = 3, .depth = 4, .slot_bytes = 4096};
Secret a_secret(unsigned char seed = 7);

// One rank: its doorbell and its transport.
struct Member {
  int rank = -1;
  std::shared_ptr<DoorbellPage> bell;
  std::unique_ptr<Transport> transport;
};
Member make_member(Kind kind, int rank, const QueueShape& shape, const Secret& secret = a_secret());
Peer this_process(int rank);

// Calls progress() of all `transports` until `condition` holds. False after `limit`.
bool drive(const std::vector<Transport*>& transports, const std::function<bool()>& condition,
           std::chrono::milliseconds limit = 10s);

// `ranks` ranks as objects of this process, started.
class Fabric {
 public:
  Fabric(Kind kind, int ranks, const QueueShape& shape = kSmall);
  Transport& at(int rank) { return *members_.at(static_cast<size_t>(rank)).transport; }
  Doorbell& bell(int rank) { return members_.at(static_cast<size_t>(rank)).bell->doorbell(); }
  int size() const { return static_cast<int>(members_.size()); }
  void destroy(int rank) { members_.at(static_cast<size_t>(rank)).transport.reset(); }
  bool until(const std::function<bool()>& condition, std::chrono::milliseconds limit = 10s);
  // Connects a to b; both ends are ready afterwards.
  void connect(int a, int b);
  SendQueue& to(int a, int b, uint32_t flight = 0, uint32_t lane = 0) { return at(a).sender(b)->queue(flight, lane); }
  RecvQueue& from(int b, int a, uint32_t flight = 0, uint32_t lane = 0) {
    return at(b).receiver(a)->queue(flight, lane);
  }
  std::string failures();

 private:
  std::vector<Member> members_;
};

// --- messages whose content follows from `seed`
Fingerprint fingerprint_of(uint64_t seed);
void write_message(SendQueue& queue, uint32_t bytes, uint64_t seed);          // queue.ready() must hold
std::string wrong(const SlotHeader& message, uint32_t bytes, uint64_t seed);  // empty: as written

// Waits with progress() of `transport` alone. False after `limit`.
bool send(Transport& transport, SendQueue& queue, uint32_t bytes, uint64_t seed, std::chrono::milliseconds limit = 10s);
// Empty: the message came and was right.
std::string receive(Transport& transport, RecvQueue& queue, uint32_t bytes, uint64_t seed,
                    std::chrono::milliseconds limit = 10s);
// Makes both ends between this rank and each of `peers`; empty when they are there.
std::string meet(Transport& transport, const std::vector<int>& peers, std::chrono::milliseconds limit = 10s);
std::vector<int> others(int rank, int ranks);

// `ranks` child processes; each builds its transport, exchanges addresses and runs `body`, which says what was wrong.
class ProcessGroup {
 public:
  struct Context {
    int rank;
    Member& member;
    int control;  // socket to the parent; say() and hear() use it
    Transport& transport() const { return *member.transport; }
    void say(char word) const;
    char hear() const;  // drives the transport meanwhile
  };
  using Body = std::function<std::string(const Context&)>;

  ProcessGroup(Kind kind, int ranks, const QueueShape& shape, Body body);
  ~ProcessGroup();  // kills and reaps what still runs
  void signal(int rank, int number);
  char hear(int rank);
  void say(int rank, char word);
  // Exit code of the rank: 0 when its body found nothing wrong, 1 when it did (printed), -signal when killed.
  int join(int rank);
  pid_t pid(int rank) const { return children_.at(static_cast<size_t>(rank)).pid; }

 private:
  struct Child {
    pid_t pid = -1;
    int control = -1;
  };
  std::vector<Child> children_;
};

}  // namespace tutti::transport::testing
