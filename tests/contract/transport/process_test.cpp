// Ranks in processes of their own: data, sleeping across processes, death and frost.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "fabric.h"

namespace tutti::transport::testing {
namespace {

using Context = ProcessGroup::Context;

class ProcessTest : public ::testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Every, ProcessTest, ::testing::Values(Kind::kShm, Kind::kTcp4, Kind::kTcp6),
                         [](const auto& kind) { return name_of(kind.param); });

TEST_P(ProcessTest, AllToAllOfFive) {
  constexpr int kRanks = 5;
  ProcessGroup group(GetParam(), kRanks, kSmall, [](const Context& me) -> std::string {
    if (auto text = meet(me.transport(), others(me.rank, kRanks)); !text.empty()) return text;
    for (uint64_t round = 0; round < 60; ++round)
      for (int step = 1; step < kRanks; ++step) {
        const int to = (me.rank + step) % kRanks;
        const int from = (me.rank - step + kRanks) % kRanks;
        const auto bytes = static_cast<uint32_t>(round * 577 % 4097);
        const auto lane = static_cast<uint32_t>(round % kSmall.lanes);
        auto& out = me.transport().sender(to)->queue(1, lane);
        auto& in = me.transport().receiver(from)->queue(1, lane);
        if (!send(me.transport(), out, bytes, round * 10 + me.rank)) return "cannot send";
        if (auto text = receive(me.transport(), in, bytes, round * 10 + from); !text.empty()) return text;
      }
    if (!drive({&me.transport()}, [&] { return me.transport().drained(); })) return "not drained";
    me.say('d');
    me.hear();
    return me.transport().failed() ? me.transport().failures()[0].status.text() : "";
  });
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_EQ(group.hear(rank), 'd');
  for (int rank = 0; rank < kRanks; ++rank) group.say(rank, 'g');
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_EQ(group.join(rank), 0);
}

TEST_P(ProcessTest, BigMessagesThroughDeepQueues) {
  const QueueShape shape{.flights = 1, .lanes = 4, .depth = 8, .slot_bytes = 256 * 1024};
  ProcessGroup group(GetParam(), 2, shape, [&](const Context& me) -> std::string {
    if (auto text = meet(me.transport(), {1 - me.rank}); !text.empty()) return text;
    for (uint64_t i = 0; i < 120; ++i) {
      const auto bytes = static_cast<uint32_t>(shape.slot_bytes - i * 13);
      const auto lane = static_cast<uint32_t>(i % 4);
      if (me.rank == 0) {
        if (!send(me.transport(), me.transport().sender(1)->queue(0, lane), bytes, i)) return "cannot send";
      } else {
        auto& in = me.transport().receiver(0)->queue(0, lane);
        if (auto text = receive(me.transport(), in, bytes, i); !text.empty()) return text;
      }
    }
    return drive({&me.transport()}, [&] { return me.transport().drained(); }) ? "" : "not drained";
  });
  EXPECT_EQ(group.join(1), 0);
  EXPECT_EQ(group.join(0), 0);
}

// Waits as a rank does that has nothing to do: on the doorbell where the peer rings it, else on the descriptor.
bool sleep_until(const Context& me, const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    if (me.transport().carries()) {
      pollfd waiting{me.transport().wait_descriptor(), POLLIN, 0};
      poll(&waiting, 1, 5000);
      me.transport().progress();
      continue;
    }
    Doorbell& bell = me.member.bell->doorbell();
    const uint32_t ticket = bell.prepare_sleep();
    if (condition())
      bell.cancel_sleep();
    else
      bell.sleep(ticket, 5s);
  }
  return true;
}

TEST_P(ProcessTest, ASleeperIsWokenFromAnotherProcess) {
  ProcessGroup group(GetParam(), 2, kSmall, [](const Context& me) -> std::string {
    if (auto text = meet(me.transport(), {1 - me.rank}); !text.empty()) return text;
    auto& out = me.transport().sender(1 - me.rank)->queue(0, 0);
    auto& in = me.transport().receiver(1 - me.rank)->queue(0, 0);
    const auto begin = std::chrono::steady_clock::now();
    for (uint64_t i = 0; i < 50; ++i) {
      if (static_cast<int>(i % 2) == me.rank) {
        usleep(1000);  // long enough for the other to be asleep
        if (!sleep_until(me, [&] { return out.ready(); })) return "no credit";
        write_message(out, 64, i);
        me.transport().progress();
      } else {
        if (!sleep_until(me, [&] { return in.peek() != nullptr; })) return "no message";
        if (auto text = wrong(*in.peek(), 64, i); !text.empty()) return text;
        in.release();
      }
    }
    if (std::chrono::steady_clock::now() - begin > 4s) return "a ring was lost";
    me.say('d');
    me.hear();
    return "";
  });
  for (int rank = 0; rank < 2; ++rank) EXPECT_EQ(group.hear(rank), 'd');
  for (int rank = 0; rank < 2; ++rank) group.say(rank, 'g');
  for (int rank = 0; rank < 2; ++rank) EXPECT_EQ(group.join(rank), 0);
}

// Rank 0 connects, says 'c', is told when the other is struck, and must see the failure within a second.
std::string sees_death(const Context& me) {
  if (auto text = meet(me.transport(), {1 - me.rank}); !text.empty()) return text;
  me.say('c');
  if (me.rank == 1) {
    pause();
    return "";
  }
  me.hear();
  pollfd waiting{me.transport().wait_descriptor(), POLLIN, 0};
  const auto begin = std::chrono::steady_clock::now();
  while (!me.transport().failed() && std::chrono::steady_clock::now() - begin < 1s) {
    poll(&waiting, 1, 100);
    me.transport().progress();
  }
  if (!me.transport().failed()) return "the death was not seen within 1 s";
  const Failure failure = me.transport().failures()[0];
  if (failure.peer != 1 || failure.status.code() != Code::kRemoteError)
    return "wrong failure: " + failure.status.text();
  if (failure.status.text().find("rank 1 (pid ") == std::string::npos) return "no name in: " + failure.status.text();
  return "";
}

TEST_P(ProcessTest, AKilledPeerIsNamedWithinASecond) {
  ProcessGroup group(GetParam(), 2, kSmall, sees_death);
  EXPECT_EQ(group.hear(0), 'c');
  EXPECT_EQ(group.hear(1), 'c');
  group.signal(1, SIGKILL);
  group.say(0, 'k');
  EXPECT_EQ(group.join(0), 0);
}

TEST_P(ProcessTest, AFrozenPeerDoesNotHoldUpDestruction) {
  ProcessGroup group(GetParam(), 2, kSmall, [](const Context& me) -> std::string {
    if (auto text = meet(me.transport(), {1 - me.rank}); !text.empty()) return text;
    me.say('c');
    if (me.rank == 1) {
      pause();
      return "";
    }
    me.hear();
    auto& out = me.transport().sender(1)->queue(0, 0);
    for (uint64_t i = 0; i < 100 && out.ready(); ++i) write_message(out, 4096, i);
    me.transport().progress();
    const auto begin = std::chrono::steady_clock::now();
    me.member.transport.reset();
    return std::chrono::steady_clock::now() - begin < 100ms ? "" : "destruction took too long";
  });
  EXPECT_EQ(group.hear(0), 'c');
  EXPECT_EQ(group.hear(1), 'c');
  group.signal(1, SIGSTOP);
  group.say(0, 's');
  EXPECT_EQ(group.join(0), 0);
}

TEST_P(ProcessTest, APeerFrozenBeforeItAcceptsHoldsNobodyUp) {
  ProcessGroup group(GetParam(), 3, kSmall, [](const Context& me) -> std::string {
    me.say('s');
    if (me.rank == 2) {
      pause();
      return "";
    }
    me.hear();
    me.transport().sender(2);
    if (auto text = meet(me.transport(), {1 - me.rank}); !text.empty()) return text;
    auto& out = me.transport().sender(1 - me.rank)->queue(0, 0);
    auto& in = me.transport().receiver(1 - me.rank)->queue(0, 0);
    if (!send(me.transport(), out, 10, 1)) return "cannot send";
    if (auto text = receive(me.transport(), in, 10, 1); !text.empty()) return text;
    me.say('d');
    me.hear();
    const auto begin = std::chrono::steady_clock::now();
    me.member.transport.reset();
    return std::chrono::steady_clock::now() - begin < 100ms ? "" : "destruction took too long";
  });
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(group.hear(rank), 's');
  group.signal(2, SIGSTOP);
  for (int rank = 0; rank < 2; ++rank) group.say(rank, 'g');
  for (int rank = 0; rank < 2; ++rank) EXPECT_EQ(group.hear(rank), 'd');
  for (int rank = 0; rank < 2; ++rank) group.say(rank, 'g');
  for (int rank = 0; rank < 2; ++rank) EXPECT_EQ(group.join(rank), 0);
}

TEST_P(ProcessTest, APeerThatDiesInTheMiddleOfAStreamCorruptsNothing) {
  ProcessGroup group(GetParam(), 2, kSmall, [](const Context& me) -> std::string {
    if (auto text = meet(me.transport(), {1 - me.rank}); !text.empty()) return text;
    me.say('c');
    if (me.rank == 1) {
      auto& out = me.transport().sender(0)->queue(0, 0);
      for (uint64_t i = 0;; ++i)
        if (!send(me.transport(), out, 4000, i)) return "cannot send";
    }
    auto& in = me.transport().receiver(1)->queue(0, 0);
    for (uint64_t i = 0;; ++i) {
      const auto come = [&] { return in.peek() != nullptr || me.transport().failed(); };
      if (!drive({&me.transport()}, come)) return "neither message nor failure";
      if (in.peek() == nullptr) return "";
      if (auto text = wrong(*in.peek(), 4000, i); !text.empty()) return text;
      in.release();
    }
  });
  EXPECT_EQ(group.hear(0), 'c');
  EXPECT_EQ(group.hear(1), 'c');
  usleep(30'000);
  group.signal(1, SIGKILL);
  EXPECT_EQ(group.join(0), 0);
}

}  // namespace
}  // namespace tutti::transport::testing
