#include "transport/in_process/mailbox.h"

#include <map>

namespace tutti::transport::in_process {
namespace {

struct Table {
  std::mutex mutex;
  std::map<Identity, std::shared_ptr<Mailbox>> mailboxes;
};

// Never destroyed: communicators may outlive main() in threads that nobody joins.
Table& table() {
  static Table* const instance = new Table;
  return *instance;
}

}  // namespace

bool Mailbox::deliver(int sender, std::shared_ptr<Connection> connection) {
  {
    std::lock_guard lock(mutex_);
    if (!open_) return false;
    letters_.emplace_back(sender, std::move(connection));
    letters_waiting_.store(letters_.size(), std::memory_order_release);
  }
  bell_->doorbell().ring();
  return true;
}

std::vector<Mailbox::Letter> Mailbox::collect() {
  std::lock_guard lock(mutex_);
  letters_waiting_.store(0, std::memory_order_release);
  return std::exchange(letters_, {});
}

void Mailbox::close() {
  std::lock_guard lock(mutex_);
  open_ = false;
  letters_.clear();
}

void enter(const Identity& identity, std::shared_ptr<Mailbox> mailbox) {
  std::lock_guard lock(table().mutex);
  table().mailboxes[identity] = std::move(mailbox);
}

void leave(const Identity& identity) {
  std::lock_guard lock(table().mutex);
  table().mailboxes.erase(identity);
}

std::shared_ptr<Mailbox> find(const Identity& identity) {
  std::lock_guard lock(table().mutex);
  const auto found = table().mailboxes.find(identity);
  return found == table().mailboxes.end() ? nullptr : found->second;
}

}  // namespace tutti::transport::in_process
