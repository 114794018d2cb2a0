#include "transport/doorbell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace tutti::transport {

void Doorbell::sleep(uint32_t ticket, std::chrono::nanoseconds longest) {
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(longest.count() / 1'000'000'000);
  limit.tv_nsec = static_cast<long>(longest.count() % 1'000'000'000);
  // EAGAIN (value changed), ETIMEDOUT and EINTR all mean the same to the caller: look again.
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&value), FUTEX_WAIT, ticket, &limit, nullptr, 0);
  cancel_sleep();
}

void Doorbell::wake() {
  value.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&value), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace tutti::transport
