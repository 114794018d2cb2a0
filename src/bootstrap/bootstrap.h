// How the ranks of a communicator find each other and agree, and the control network that stays behind.
//
// tcp/        ranks in any processes; rendezvous at the address in the unique id
// in_process/ all ranks in this process (ncclCommInitAll)
//
// The control network is a tree of connections that have proved the communicator's secret. It carries rare, small
// notices (a rank died, aborted, disagrees) to every rank, and notices by itself when a neighbour's process dies.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/fingerprint.h"
#include "base/status.h"

namespace tutti::bootstrap {

using Bytes = std::vector<std::byte>;
using Deadline = std::chrono::steady_clock::time_point;
using Secret = std::array<unsigned char, 32>;

// Sent to all other ranks. Rare; may carry text.
struct Notice {
  enum class Kind : uint8_t {
    kDied,          // `rank` (a neighbour of the sender in the tree) closed its connection without having left
    kAborted,       // `rank` called abort; text says why where it knows
    kDisagreement,  // at operation mine.sequence rank `rank` saw a message of rank `other` that is of another operation
    kLeft,          // `rank` has destroyed its communicator in good order; its silence is no death
    kFailed,        // `rank` cannot go on with operation `mine.sequence` (text); e.g. its transport to `other` broke
  };
  Kind kind = Kind::kFailed;
  int rank = -1;
  int other = -1;
  Fingerprint mine;    // kDisagreement, kFailed: the operation of `rank`
  Fingerprint theirs;  // kDisagreement: the operation of `other`
  std::string text;
};

// One rank's end. Threads: all_gather by one thread at a time; the others by any thread at any time.
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;  // closes everything at once; call leave() first when in good order
  virtual int rank() const = 0;
  virtual int nranks() const = 0;
  // Shared by the members; transports derive their handshake keys from it.
  virtual const Secret& secret() const = 0;

  // Collective: everybody's bytes, indexed by rank. Blocks until all have come, or `deadline`, or *stop becomes true
  // (Code::kInvalidUsage "aborted"). On timeout the text names the ranks that are missing (all that can be known).
  virtual Result<std::vector<Bytes>> all_gather(std::span<const std::byte> mine, Deadline deadline,
                                                const std::atomic<bool>* stop) = 0;

  // The control network; usable after the constructor's rendezvous. Never block.
  virtual void send(const Notice& notice) = 0;  // to all other ranks
  virtual std::vector<Notice> receive() = 0;    // what has come in; also does the network's own work
  virtual int wait_descriptor() const = 0;      // readable when receive() has something to do
  // Tells all that this rank leaves in good order. Later losses of connections are no deaths.
  virtual void leave() = 0;
  // In a forked child, which has a copy of every descriptor: closes the copies, and says nothing to anybody. Only from
  // the handler of the fork, where no other thread exists.
  virtual void abandon() = 0;
};

}  // namespace tutti::bootstrap
