// Host streams and events: order between operations, as CUDA's streams have it (DESIGN section 4, "Two kinds of
// memory").
//
// A stream is a counter of what was issued on it and how much of that has ended; an operation may start once everything
// before it has ended. Waiting for an event is an entry like an operation. All of it is off the fast path and guarded
// by one lock for each stream.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"

namespace tutti::runtime {

class Communicator;

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  // Takes the next `places` places in the stream's order and returns the first. Operations of one group take one each
  // and all start when the first may: ranks of one thread that share a stream need each other.
  uint64_t issue(uint64_t places);
  // Adds an entry that ends when `other` has ended everything up to `ticket`.
  void issue_wait(std::shared_ptr<Stream> other, uint64_t ticket);
  // True when everything before `ticket` has ended.
  bool reached(uint64_t ticket);
  // An entry that could start has ended. The first error stays until the stream is synchronised.
  void complete(const Status& status);

  // Everything issued so far, as a ticket for reached().
  uint64_t issued();
  // The first error since the last call of synchronize, which takes it away.
  Status take_error();
  // Sleeps until something completes or a short while has passed.
  void wait_a_while();

 private:
  struct Wait {
    uint64_t ticket;  // of this stream
    std::shared_ptr<Stream> other;
    uint64_t until;
  };
  void settle_waits();  // under mutex_

  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t issued_ = 0;
  uint64_t ended_ = 0;
  std::deque<Wait> waits_;
  Status error_;
};

// Where a stream stood when the event was recorded.
struct Event {
  std::mutex mutex;
  std::shared_ptr<Stream> stream;  // null: never recorded, or on the null stream: nothing to wait for
  uint64_t ticket = 0;
};

// The handles given to the user. Only handles in these tables are ever dereferenced.
std::shared_ptr<Stream> find_stream(const void* handle);
std::shared_ptr<Event> find_event(const void* handle);
// Of those tables; nothing else is locked under them. For fork.h.
std::array<std::mutex*, 2> stream_table_mutexes();

}  // namespace tutti::runtime
