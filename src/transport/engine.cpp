#include "transport/engine.h"

namespace tutti::transport {

bool TaskList::add(Task& task) {
  if (task.listed_.exchange(true, std::memory_order_seq_cst)) return false;
  Task* head = head_.load(std::memory_order_relaxed);
  do task.next_ = head;
  while (!head_.compare_exchange_weak(head, &task, std::memory_order_seq_cst, std::memory_order_relaxed));
  return true;
}

bool TaskList::run() {
  Task* task = head_.exchange(nullptr, std::memory_order_seq_cst);
  const bool any = task != nullptr;
  while (task != nullptr) {
    Task* next = task->next_;
    // Before it runs: what is left for it from now on lists it again.
    task->listed_.store(false, std::memory_order_seq_cst);
    task->run();
    task = next;
  }
  return any;
}

Result<std::unique_ptr<Engine>> Engine::create(std::shared_ptr<DoorbellPage> bell) {
  if (bell == nullptr) return error(Code::kInternalError, "a transport was made without a doorbell");
  TUTTI_ASSIGN_OR_RETURN(auto poller, Poller::create());
  return std::unique_ptr<Engine>(new Engine(std::move(bell), std::move(poller)));
}

void Engine::run_soon(Task& task) {
  soon_.add(task);
  if (claim()) finish();
}

void Engine::run_later(Task& task) {
  if (later_.add(task)) poller_->wake_after(kTimer);
}

bool Engine::progress() {
  if (!claim()) return false;
  moved_ = false;
  poller_->poll();
  run_later_tasks_when_due();
  const bool moved = moved_;
  finish();
  return moved;
}

void Engine::run_later_tasks_when_due() {
  if (later_.empty()) {
    later_since_ = 0;
    return;
  }
  const int64_t now = std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  if (later_since_ == 0) {
    later_since_ = now;
  } else if (now - later_since_ >= std::chrono::nanoseconds(kPatience).count()) {
    later_since_ = 0;
    later_.run();
    return;
  }
  poller_->wake_after(kTimer);  // the timer may have fired for this very round
}

void Engine::finish() {
  do {
    soon_.run();
    claimed_.store(false, std::memory_order_seq_cst);
    // Somebody may have left a task after run() and found the claim taken.
  } while (!soon_.empty() && claim());
}

}  // namespace tutti::transport
