// The progress thread: one for all communicators of the process. It serves the control networks and incoming
// connections, and runs operations that nobody waits for.
#pragma once

#include <mutex>

namespace tutti::runtime {

class Communicator;

// From now on the progress thread looks after `communicator` (and is started if need be) / no longer touches it: when
// progress_remove returns, the thread is not inside it.
void progress_add(Communicator* communicator);
void progress_remove(Communicator* communicator);
// Makes the progress thread look at once. Any thread; one system call.
void progress_wake();

// For fork.h. progress_forget: in a forked child the thread is not there; the next communicator starts one.
std::mutex& progress_mutex();
void progress_forget();

// Lets every communicator of the process that has unfinished operations move on, on the calling thread. Returns true
// when anything moved.
bool drive_all_communicators();

}  // namespace tutti::runtime
