#include "runtime/fork.h"

#include <pthread.h>

#include <mutex>
#include <utility>
#include <vector>

#include "base/host.h"
#include "base/log.h"
#include "runtime/group.h"
#include "runtime/progress.h"
#include "runtime/registry.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"

namespace tutti::runtime {

namespace {

// The process-wide locks are held across the fork, so that what they guard is whole in the child, and nobody holds them
// there. In the order in which they nest; those of the tables, the last error and the log have nothing under them.
std::vector<std::mutex*> locks() {
  std::vector<std::mutex*> all = {&issue_order(), &progress_mutex(), &registry_mutex(), &graveyard_mutex()};
  for (std::mutex* table : stream_table_mutexes()) all.push_back(table);
  all.push_back(&last_error_mutex());
  all.push_back(&log_mutex());
  return all;
}

// Of the fork that is under way; made anew for each, since a child has other objects than its parent.
std::vector<std::mutex*>& held() {
  static auto* mutexes = new std::vector<std::mutex*>;
  return *mutexes;
}

void before() {
  std::vector<std::mutex*> all = locks();
  for (std::mutex* mutex : all) mutex->lock();
  held() = std::move(all);
}

void release() {
  const std::vector<std::mutex*> all = std::exchange(held(), {});
  for (auto mutex = all.rbegin(); mutex != all.rend(); ++mutex) (*mutex)->unlock();
}

void in_child() {
  redraw_process_identity();
  registry_forget();
  progress_forget();
  release();
}

}  // namespace

void prepare_for_forks() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(before, release, in_child); });
}

}  // namespace tutti::runtime
