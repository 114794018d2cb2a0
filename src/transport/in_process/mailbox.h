// Where in-process senders leave their connections for a receiver, and the table in which they find it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "transport/identity.h"
#include "transport/in_process/connection.h"

namespace tutti::transport::in_process {

// One for each transport, shared with the senders that look it up. Thread safe.
class Mailbox {
 public:
  using Letter = std::pair<int, std::shared_ptr<Connection>>;  // the sender's rank, its connection

  explicit Mailbox(std::shared_ptr<DoorbellPage> bell) : bell_(std::move(bell)) {}
  const std::shared_ptr<DoorbellPage>& bell() const { return bell_; }

  // False when the owner has gone.
  bool deliver(int sender, std::shared_ptr<Connection> connection);
  bool empty() const { return letters_waiting_.load(std::memory_order_acquire) == 0; }
  std::vector<Letter> collect();
  // The owner goes; connections that it never collected are dropped.
  void close();

 private:
  std::shared_ptr<DoorbellPage> bell_;
  std::atomic<size_t> letters_waiting_{0};
  std::mutex mutex_;
  bool open_ = true;
  std::vector<Letter> letters_;
};

// The process-wide table. Thread safe.
void enter(const Identity& identity, std::shared_ptr<Mailbox> mailbox);
void leave(const Identity& identity);
std::shared_ptr<Mailbox> find(const Identity& identity);  // null when it has left

}  // namespace tutti::transport::in_process
