// What drives a transport that has work of its own (connections to make, bytes to carry): one claim, one poller, and
// the tasks that other threads have left.
//
// Whoever has the claim runs everything; nobody waits for it. A thread that leaves a task while another has the claim
// goes on at once: the owner looks for tasks once more after giving the claim back.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>

#include "base/status.h"
#include "transport/doorbell_page.h"
#include "transport/failure_log.h"
#include "transport/poller.h"

namespace tutti::transport {

// Work that is run under the claim, by whichever thread has it. Must outlive the engine's use of it: an object that
// left a task behind is destroyed only together with the transport. A task is used with one of run_soon and run_later.
class Task {
 public:
  virtual void run() = 0;

 protected:
  virtual ~Task() = default;

 private:
  friend class TaskList;
  std::atomic<bool> listed_{false};
  Task* next_ = nullptr;
};

// A task that calls one member function.
template <class Owner, void (Owner::*method)()>
class MemberTask final : public Task {
 public:
  explicit MemberTask(Owner* owner) : owner_(owner) {}
  void run() override { (owner_->*method)(); }

 private:
  Owner* owner_;
};

// Many threads add, one takes. Lock-free.
class TaskList {
 public:
  // False when the task is already there.
  bool add(Task& task);
  bool empty() const { return head_.load(std::memory_order_seq_cst) == nullptr; }
  // Runs what is there now. True when there was anything.
  bool run();

 private:
  std::atomic<Task*> head_{nullptr};
};

class Engine {
 public:
  static Result<std::unique_ptr<Engine>> create(std::shared_ptr<DoorbellPage> bell);

  // --- any thread
  Doorbell& bell() const { return bell_->doorbell(); }
  const std::shared_ptr<DoorbellPage>& bell_page() const { return bell_; }
  int descriptor() const { return poller_->descriptor(); }
  FailureLog& failures() { return failures_; }
  const FailureLog& failures() const { return failures_; }
  void fail(int peer, Status status) { failures_.add(peer, std::move(status), bell()); }

  // Runs the task now, or leaves it to whoever has the claim.
  void run_soon(Task& task);
  // Has the task run by a progress() within about kPatience, or when the timer wakes whoever waits.
  void run_later(Task& task);
  // One round of everything: handlers, tasks. True when anything moved; false also when another thread is at it.
  bool progress();
  // Calls `look` under the claim; false, and not called, when another thread has it.
  template <class Look>
  bool with_claim(Look look) {
    if (!claim()) return false;
    look();
    finish();
    return true;
  }
  // Messages that were published and not handed to the wire yet.
  void add_output() { output_.fetch_add(1, std::memory_order_relaxed); }
  void output_done() { output_.fetch_sub(1, std::memory_order_relaxed); }
  bool has_output() const { return output_.load(std::memory_order_relaxed) != 0; }
  void wake_after(std::chrono::nanoseconds delay) { poller_->wake_after(delay); }

  // --- owner of the claim only
  Poller& poller() { return *poller_; }
  void moved() { moved_ = true; }

  static constexpr std::chrono::microseconds kPatience{50};
  static constexpr std::chrono::milliseconds kTimer{1};

 private:
  Engine(std::shared_ptr<DoorbellPage> bell, std::unique_ptr<Poller> poller)
      : bell_(std::move(bell)), poller_(std::move(poller)) {}
  bool claim() {
    return !claimed_.load(std::memory_order_relaxed) && !claimed_.exchange(true, std::memory_order_seq_cst);
  }
  // Gives the claim back; first and afterwards runs what others have left meanwhile.
  void finish();
  void run_later_tasks_when_due();

  const std::shared_ptr<DoorbellPage> bell_;
  const std::unique_ptr<Poller> poller_;
  FailureLog failures_;
  std::atomic<uint64_t> output_{0};
  alignas(kCacheLine) std::atomic<bool> claimed_{false};
  bool moved_ = false;
  int64_t later_since_ = 0;  // ns of the steady clock; 0: nothing was waiting at the last look
  alignas(kCacheLine) TaskList soon_;
  alignas(kCacheLine) TaskList later_;
};

}  // namespace tutti::transport
