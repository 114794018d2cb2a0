// Ranks as threads of one process: meeting in any order, sleeping, leaving.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "fabric.h"

namespace tutti::transport::testing {
namespace {

class ThreadTest : public ::testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Every, ThreadTest, ::testing::Values(Kind::kInProcess, Kind::kShm, Kind::kTcp4, Kind::kTcp6),
                         [](const auto& kind) { return name_of(kind.param); });

// Runs body(rank) in a thread for each rank; fails with what it returns.
void in_threads(int ranks, const std::function<std::string(int)>& body) {
  std::vector<std::string> complaints(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] { complaints[static_cast<size_t>(rank)] = body(rank); });
  for (auto& thread : threads) thread.join();
  for (int rank = 0; rank < ranks; ++rank) EXPECT_EQ(complaints[static_cast<size_t>(rank)], "") << "rank " << rank;
}

TEST_P(ThreadTest, EightRanksAllToAll) {
  constexpr int kRanks = 8;
  Fabric fabric(GetParam(), kRanks);
  std::atomic<int> drained{0};
  in_threads(kRanks, [&](int rank) -> std::string {
    Transport& me = fabric.at(rank);
    if (auto text = meet(me, others(rank, kRanks)); !text.empty()) return text;
    for (uint64_t round = 0; round < 50; ++round)
      for (int step = 1; step < kRanks; ++step) {
        const int to = (rank + step) % kRanks;
        const int from = (rank - step + kRanks) % kRanks;
        const auto bytes = static_cast<uint32_t>(round * 79 % 4097);
        if (!send(me, fabric.to(rank, to), bytes, round * 100 + rank)) return "cannot send";
        if (auto text = receive(me, fabric.from(rank, from), bytes, round * 100 + from); !text.empty()) return text;
      }
    // Nobody stops before all have what they need from it.
    bool counted = false;
    const auto all_drained = [&] {
      if (!counted && me.drained()) {
        counted = true;
        ++drained;
      }
      return drained == kRanks;
    };
    return drive({&me}, all_drained) ? "" : "not drained";
  });
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_FALSE(fabric.at(rank).failed()) << fabric.failures();
}

TEST_P(ThreadTest, ALateReceiverFindsWhatWasSent) {
  Fabric fabric(GetParam(), 2);
  SendEnd* out = fabric.at(0).sender(1);
  drive(
      {&fabric.at(0)}, [] { return false; }, 20ms);  // the receiver does nothing yet
  EXPECT_EQ(fabric.at(1).receivers().size(), fabric.at(1).receiver(0) == nullptr ? 0u : 1u);
  ASSERT_TRUE(fabric.until([&] { return out->ready(); })) << fabric.failures();
  write_message(out->queue(0, 0), 100, 5);
  ASSERT_TRUE(fabric.until([&] { return fabric.at(1).receiver(0) != nullptr; }));
  EXPECT_EQ(fabric.at(1).receivers(), std::vector<int>{0});
  EXPECT_EQ(receive(fabric.at(1), fabric.from(1, 0), 100, 5), "");
}

TEST_P(ThreadTest, ASleeperIsWokenByAMessageAndByACredit) {
  Fabric fabric(GetParam(), 2);
  fabric.connect(0, 1);
  fabric.connect(1, 0);
  std::atomic<bool> stop{false};
  // Stands for the progress thread: drives both ranks, so that sleepers need not.
  std::thread driver([&] {
    while (!stop) {
      fabric.at(0).progress();
      fabric.at(1).progress();
      std::this_thread::sleep_for(100us);
    }
  });
  const auto sleep_until = [&](int rank, const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (!condition() && std::chrono::steady_clock::now() < end) {
      const uint32_t ticket = fabric.bell(rank).prepare_sleep();
      if (condition())
        fabric.bell(rank).cancel_sleep();
      else
        fabric.bell(rank).sleep(ticket, 5s);  // much longer than the test's patience with a lost ring
    }
    return condition();
  };
  const auto begin = std::chrono::steady_clock::now();
  in_threads(2, [&](int rank) -> std::string {
    SendQueue& out = fabric.to(rank, 1 - rank);
    RecvQueue& in = fabric.from(rank, 1 - rank);
    for (uint64_t i = 0; i < 100; ++i) {
      if (rank == 0) {
        if (!sleep_until(0, [&] { return out.ready(); })) return "no credit";
        write_message(out, 33, i);
        continue;
      }
      if (!sleep_until(1, [&] { return in.peek() != nullptr; })) return "no message";
      if (auto text = wrong(*in.peek(), 33, i); !text.empty()) return text;
      in.release();
    }
    return "";
  });
  stop = true;
  driver.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 4s) << "a ring was lost";
}

TEST_P(ThreadTest, SeveralThreadsMayDriveOneTransport) {
  Fabric fabric(GetParam(), 2);
  fabric.connect(0, 1);
  std::atomic<bool> stop{false};
  std::vector<std::thread> drivers;
  for (int i = 0; i < 3; ++i)
    drivers.emplace_back([&, i] {
      while (!stop) fabric.at(i % 2).progress();
    });
  // Each lane has a thread of its own on both sides.
  in_threads(2 * static_cast<int>(kSmall.lanes), [&](int worker) -> std::string {
    const auto lane = static_cast<uint32_t>(worker / 2);
    for (uint64_t i = 0; i < 600; ++i) {
      const auto bytes = static_cast<uint32_t>(i % 300);
      if (worker % 2 == 0) {
        if (!send(fabric.at(0), fabric.to(0, 1, 0, lane), bytes, i)) return "cannot send";
      } else if (auto text = receive(fabric.at(1), fabric.from(1, 0, 0, lane), bytes, i); !text.empty()) {
        return text;
      }
    }
    return "";
  });
  stop = true;
  for (auto& driver : drivers) driver.join();
  EXPECT_EQ(fabric.failures(), "");
}

TEST_P(ThreadTest, APeerThatLeftInGoodOrderIsNoFailure) {
  Fabric fabric(GetParam(), 2);
  fabric.connect(0, 1);
  fabric.connect(1, 0);
  ASSERT_TRUE(send(fabric.at(0), fabric.to(0, 1), 1000, 9));
  ASSERT_TRUE(fabric.until([&] { return fabric.from(1, 0).peek() != nullptr; }));
  fabric.destroy(0);
  // What it sent is still there.
  EXPECT_EQ(receive(fabric.at(1), fabric.from(1, 0), 1000, 9), "");
  EXPECT_FALSE(fabric.until([&] { return fabric.at(1).failed(); }, 100ms)) << fabric.failures();
  // Writing to it does no harm.
  SendQueue& out = fabric.to(1, 0);
  for (int i = 0; out.ready() && i < 20; ++i) {
    write_message(out, 4096, 1);
    fabric.at(1).progress();
  }
}

TEST_P(ThreadTest, ConnectingToAPeerThatLeftIsAFailureWithItsName) {
  Fabric fabric(GetParam(), 2);
  fabric.destroy(1);
  SendEnd* out = fabric.at(0).sender(1);
  ASSERT_NE(out, nullptr);
  ASSERT_TRUE(fabric.until([&] { return fabric.at(0).failed(); }));
  EXPECT_FALSE(out->ready());
  const auto failures = fabric.at(0).failures();
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].peer, 1);
  EXPECT_EQ(failures[0].status.code(), Code::kRemoteError);
  EXPECT_NE(failures[0].status.text().find("rank 1"), std::string::npos) << failures[0].status.text();
}

TEST_P(ThreadTest, DestroyedWhileConnecting) {
  for (int step = 0; step < 8; ++step) {
    Fabric fabric(GetParam(), 3);
    fabric.at(0).sender(1);
    fabric.at(1).sender(0);
    fabric.at(2).sender(0);
    for (int i = 0; i < step; ++i) {
      fabric.at(0).progress();
      fabric.at(1).progress();
    }
    fabric.destroy(step % 3);
    fabric.until([] { return false; }, 5ms);
  }
}

TEST_P(ThreadTest, ReachesWhatItShould) {
  Member member = make_member(GetParam(), 0, kSmall);
  Member other = make_member(GetParam(), 1, kSmall);
  std::vector<Peer> peers(4);
  for (int rank = 0; rank < 4; ++rank) peers[static_cast<size_t>(rank)] = this_process(rank);
  peers[2].process ^= 1;  // another process, same host
  peers[3].process ^= 1;
  peers[3].host ^= 1;  // another host
  const auto address = other.transport->address();
  ASSERT_TRUE(
      member.transport
          ->start(peers, std::vector<std::vector<std::byte>>{member.transport->address(), address, address, address})
          .ok());
  Transport& me = *member.transport;
  EXPECT_TRUE(me.reaches(1).ok());
  EXPECT_EQ(me.reaches(2).ok(), GetParam() != Kind::kInProcess);
  EXPECT_EQ(me.reaches(3).ok(), GetParam() == Kind::kTcp4 || GetParam() == Kind::kTcp6);
  if (!me.reaches(3).ok()) {
    EXPECT_NE(me.reaches(3).text().find("rank 3"), std::string::npos) << me.reaches(3).text();
  }
  EXPECT_FALSE(me.reaches(4).ok());
  EXPECT_FALSE(me.reaches(-1).ok());
  EXPECT_EQ(me.sender(4), nullptr);
  EXPECT_EQ(me.receiver(-1), nullptr);
}

TEST_P(ThreadTest, APeerWithoutThisTransportIsNotReached) {
  Member member = make_member(GetParam(), 0, kSmall);
  const std::vector<Peer> peers = {this_process(0), this_process(1)};
  ASSERT_TRUE(
      member.transport->start(peers, std::vector<std::vector<std::byte>>{member.transport->address(), {}}).ok());
  EXPECT_FALSE(member.transport->reaches(1).ok());
}

TEST_P(ThreadTest, AnAddressThatIsNoneIsAnErrorWithTheName) {
  Member member = make_member(GetParam(), 0, kSmall);
  const std::vector<Peer> peers = {this_process(0), this_process(1)};
  const Status status = member.transport->start(
      peers, std::vector<std::vector<std::byte>>{member.transport->address(), std::vector<std::byte>(3)});
  EXPECT_EQ(status.code(), Code::kRemoteError);
  EXPECT_NE(status.text().find("rank 1"), std::string::npos) << status.text();
}

}  // namespace
}  // namespace tutti::transport::testing
