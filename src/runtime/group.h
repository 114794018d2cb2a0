// Groups: calls between ncclGroupStart and the outermost ncclGroupEnd of one thread, begun together.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/communicator.h"

namespace tutti::runtime {

// Issues a call on the null stream or a host stream, as its communicator's mode asks: runs it, queues it, or adds it
// to this thread's open group.
Status submit(Communicator* communicator, const Call& call);

// Adds the initialisation of a communicator to the open group; `work` runs in a thread of its own at the outermost
// end, `commit` afterwards on this thread if all of the group's initialisations succeeded.
void group_add_init(std::function<Status()> work, std::function<void(bool all_good)> commit);

// Held while calls take their places in communicators and streams: threads that share both must use one order, or the
// head of the one would wait for the tail of the other.
std::mutex& issue_order();

// Drives the communicators of `waiting` on the calling thread until every ticket has ended; the first error.
struct Waiting {
  Communicator* communicator;
  std::shared_ptr<Ticket> ticket;
};
Status wait_for_tickets(const std::vector<Waiting>& waiting);

}  // namespace tutti::runtime
