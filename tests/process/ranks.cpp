#include "ranks.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>

namespace tutti::test {

Ranks::Ranks(int n, Body body, std::vector<std::vector<std::string>> environment) {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  shared_ = new (memory) Shared{};
  for (int rank = 0; rank < n; ++rank) {
    const pid_t pid = fork();
    if (pid < 0) std::abort();
    if (pid == 0) {
      if (static_cast<size_t>(rank) < environment.size()) {
        for (std::string& entry : environment[static_cast<size_t>(rank)]) putenv(entry.data());
      }
      const int result = body(rank, *shared_);
      std::fflush(nullptr);
      _exit(result);
    }
    pids_.push_back(pid);
  }
}

Ranks::~Ranks() {
  for (const pid_t pid : pids_) {
    if (pid <= 0) continue;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  munmap(shared_, sizeof(Shared));
}

void Ranks::send_signal(int rank, int signal) const {
  kill(pid(rank), signal);
}

bool Ranks::wait_counter(int index, int value, std::chrono::seconds limit) const {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (shared_->counters[index].load() < value) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

std::vector<int> Ranks::wait_all(std::chrono::seconds limit) {
  std::vector<int> results(pids_.size(), -1000);
  const auto until = std::chrono::steady_clock::now() + limit;
  size_t left = pids_.size();
  while (left != 0 && std::chrono::steady_clock::now() < until) {
    for (size_t i = 0; i < pids_.size(); ++i) {
      int status = 0;
      if (pids_[i] <= 0 || waitpid(pids_[i], &status, WNOHANG) != pids_[i]) continue;
      results[i] = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
      pids_[i] = 0;
      --left;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return results;
}

ncclComm_t join(int rank, int n, Shared& shared) {
  if (rank == 0) {
    TUTTI_EXPECT(ncclGetUniqueId(&shared.id), ncclSuccess);
    shared.id_ready.store(1);
  }
  while (shared.id_ready.load() == 0) usleep(100);
  ncclComm_t comm = nullptr;
  TUTTI_EXPECT(ncclCommInitRank(&comm, n, shared.id, rank), ncclSuccess);
  return comm;
}

void expect(ncclResult_t got, ncclResult_t expected, const char* what) {
  if (got == expected) return;
  std::fprintf(stderr, "pid %d: %s gave %d (%s: %s), not %d\n", getpid(), what, got, ncclGetErrorString(got),
               ncclGetLastError(nullptr), expected);
  _exit(99);
}

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace tutti::test
