#include "bootstrap/in_process/table.h"

#include <sodium.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>

#include "base/net/fd.h"

namespace tutti::bootstrap {

namespace {

// What the ends share.
struct Table {
  explicit Table(int nranks) : inbox(static_cast<size_t>(nranks)), wake(static_cast<size_t>(nranks)) {}

  std::mutex mutex;
  std::condition_variable changed;
  Secret secret{};
  std::vector<Bytes> parts;
  int came = 0;
  uint64_t round = 0;
  std::vector<Bytes> result;  // of the last complete round
  std::vector<std::vector<Notice>> inbox;
  std::vector<net::Fd> wake;
};

class Seat final : public Bootstrap {
 public:
  Seat(std::shared_ptr<Table> table, int rank, int nranks) : table_(std::move(table)), rank_(rank), nranks_(nranks) {}

  int rank() const override { return rank_; }
  int nranks() const override { return nranks_; }
  const Secret& secret() const override { return table_->secret; }

  Result<std::vector<Bytes>> all_gather(std::span<const std::byte> mine, Deadline deadline,
                                        const std::atomic<bool>* stop) override {
    std::unique_lock lock(table_->mutex);
    table_->parts.resize(static_cast<size_t>(nranks_));
    table_->parts[static_cast<size_t>(rank_)].assign(mine.begin(), mine.end());
    const uint64_t round = table_->round;
    if (++table_->came == nranks_) {
      table_->result = std::exchange(table_->parts, {});
      table_->came = 0;
      ++table_->round;
      table_->changed.notify_all();
      return table_->result;
    }
    while (table_->round == round) {
      if (stop != nullptr && stop->load()) return Status(Code::kInvalidUsage, "the exchange was aborted");
      if (std::chrono::steady_clock::now() >= deadline)
        return error(Code::kTimeout, "the exchange timed out: {} of {} ranks have come", table_->came, nranks_);
      table_->changed.wait_for(lock, std::chrono::milliseconds(20));
    }
    return table_->result;
  }

  void send(const Notice& notice) override {
    const std::lock_guard lock(table_->mutex);
    for (size_t rank = 0; rank < table_->inbox.size(); ++rank) {
      if (static_cast<int>(rank) == rank_) continue;
      table_->inbox[rank].push_back(notice);
      const uint64_t one = 1;
      [[maybe_unused]] const ssize_t written = write(table_->wake[rank].get(), &one, sizeof one);
    }
  }

  std::vector<Notice> receive() override {
    const std::lock_guard lock(table_->mutex);
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = read(wait_descriptor(), &count, sizeof count);
    return std::exchange(table_->inbox[static_cast<size_t>(rank_)], {});
  }

  int wait_descriptor() const override { return table_->wake[static_cast<size_t>(rank_)].get(); }

  void abandon() override {}  // all ranks are in the parent, which no connection leaves

  void leave() override {
    Notice notice;
    notice.kind = Notice::Kind::kLeft;
    notice.rank = rank_;
    send(notice);
  }

 private:
  const std::shared_ptr<Table> table_;
  const int rank_;
  const int nranks_;
};

}  // namespace

Result<std::vector<std::unique_ptr<Bootstrap>>> join_in_process(int nranks) {
  if (sodium_init() < 0) return Status(Code::kSystemError, "libsodium cannot start: no source of randomness");
  auto table = std::make_shared<Table>(nranks);
  randombytes_buf(table->secret.data(), table->secret.size());
  std::vector<std::unique_ptr<Bootstrap>> seats;
  for (int rank = 0; rank < nranks; ++rank) {
    net::Fd& wake = table->wake[static_cast<size_t>(rank)];
    wake.reset(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (!wake.valid()) return system_error(errno, "eventfd for rank {} of {}", rank, nranks);
    seats.push_back(std::make_unique<Seat>(table, rank, nranks));
  }
  return seats;
}

}  // namespace tutti::bootstrap
