// Real processes as ranks of one communicator, for tests of what happens between them.
//
// The parent never calls the library, so that forking is safe; rank 0 makes the unique id and hands it on through
// shared memory. A rank's body returns 0 when all is well; what it prints is shown. Each run has a time limit after
// which the rest is killed.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "nccl.h"

namespace tutti::test {

// Shared by the parent and all ranks.
struct Shared {
  ncclUniqueId id;
  std::atomic<int> id_ready;
  std::atomic<int> counters[16];
  std::atomic<double> seconds[64];
  char text[64][1024];  // by rank
};

class Ranks {
 public:
  using Body = std::function<int(int rank, Shared& shared)>;

  // Starts `n` processes. `environment`: NAME=value, set in rank r's process when index r has entries.
  Ranks(int n, Body body, std::vector<std::vector<std::string>> environment = {});
  ~Ranks();  // kills what is left
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  Shared& shared() { return *shared_; }
  pid_t pid(int rank) const { return pids_[static_cast<size_t>(rank)]; }
  void send_signal(int rank, int signal) const;
  // Waits until counters[index] >= value; false after `limit`.
  bool wait_counter(int index, int value, std::chrono::seconds limit = std::chrono::seconds(30)) const;
  // Waits for all; exit status of each: the body's result, -signal, or -1000 when it had to be killed at the limit.
  std::vector<int> wait_all(std::chrono::seconds limit = std::chrono::seconds(60));

 private:
  Shared* shared_;
  std::vector<pid_t> pids_;
};

// In a rank: the communicator of all ranks.
ncclComm_t join(int rank, int n, Shared& shared);
// Fails the rank with a text when the call does not return `expected`.
void expect(ncclResult_t got, ncclResult_t expected, const char* what);
#define TUTTI_EXPECT(call, expected) ::tutti::test::expect((call), (expected), #call)

double now_seconds();

}  // namespace tutti::test
