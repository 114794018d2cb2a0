#include <mutex>
#include <string>

#include "runtime/runtime.h"

namespace tutti::runtime {

namespace {

// One text for the process, as NCCL has it: ncclGetLastError ignores its communicator.
struct LastError {
  std::mutex mutex;
  std::string text;
};
LastError& last_error() {
  static auto* instance = new LastError;
  return *instance;
}

}  // namespace

std::mutex& last_error_mutex() {
  return last_error().mutex;
}

void set_last_error(const Status& status) {
  if (status.ok() || status.code() == Code::kInProgress) return;
  LastError& last = last_error();
  const std::lock_guard lock(last.mutex);
  last.text = status.text();
}

const char* last_error_text() {
  // The caller keeps the pointer while other threads may fail: each thread has its own copy.
  thread_local std::string copy;
  LastError& last = last_error();
  const std::lock_guard lock(last.mutex);
  copy = last.text;
  return copy.c_str();
}

}  // namespace tutti::runtime
