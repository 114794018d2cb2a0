// What a fork does to Tutti: the parent goes on as if nothing had happened; the child starts without communicators. The
// handles that it inherits are dead there (they belong to the parent), and new communicators work in it.
#pragma once

namespace tutti::runtime {

// Installs the handlers (pthread_atfork); the first call counts. Before the first communicator is made.
void prepare_for_forks();

}  // namespace tutti::runtime
