// The fault decorator does what it says, and what it does is seen as the contract promises.
#include "transport/fault/transport.h"

#include <gtest/gtest.h>

#include "fabric.h"

namespace tutti::transport::testing {
namespace {

class FaultTest : public ::testing::TestWithParam<Kind> {
 protected:
  void build(std::chrono::microseconds longest_delay) {
    std::vector<Peer> peers;
    std::vector<std::vector<std::byte>> addresses;
    for (int rank = 0; rank < 2; ++rank) {
      Member member = make_member(GetParam(), rank, kSmall);
      FaultOptions options;
      options.rank = rank;
      options.shape = kSmall;
      options.doorbell = member.bell;
      options.seed = 11;
      options.longest_delay = longest_delay;
      auto faulty = make_fault_transport(std::move(member.transport), options);
      ASSERT_TRUE(faulty.ok()) << faulty.status().text();
      transports_.push_back(std::move(faulty).value());
      peers.push_back(this_process(rank));
      addresses.push_back(transports_.back()->address());
    }
    for (auto& transport : transports_) ASSERT_TRUE(transport->start(peers, addresses).ok());
    transports_[0]->sender(1);
    ASSERT_TRUE(until([&] { return transports_[0]->sender(1)->ready() && transports_[1]->receiver(0) != nullptr; }));
  }
  bool until(const std::function<bool()>& condition, std::chrono::milliseconds limit = 10s) {
    return drive({transports_[0].get(), transports_[1].get()}, condition, limit);
  }
  SendQueue& out(uint32_t lane = 0) { return transports_[0]->sender(1)->queue(0, lane); }
  RecvQueue& in(uint32_t lane = 0) { return transports_[1]->receiver(0)->queue(0, lane); }
  // Messages first..first+count-1 of 50 bytes, one after the other. How many came.
  uint64_t exchange(uint64_t first, uint64_t count, std::chrono::milliseconds limit = 10s, uint32_t lane = 0) {
    for (uint64_t i = first; i < first + count; ++i) {
      if (!until([&] { return out(lane).ready(); }, limit)) return i - first;
      write_message(out(lane), 50, i);
      if (!until([&] { return in(lane).peek() != nullptr; }, limit)) return i - first;
      EXPECT_EQ(wrong(*in(lane).peek(), 50, i), "");
      in(lane).release();
    }
    return count;
  }

  std::vector<std::unique_ptr<FaultTransport>> transports_;
};
INSTANTIATE_TEST_SUITE_P(Every, FaultTest, ::testing::Values(Kind::kInProcess, Kind::kShm, Kind::kTcp4),
                         [](const auto& kind) { return name_of(kind.param); });

TEST_P(FaultTest, WithoutFaultsItIsTransparent) {
  build(0us);
  EXPECT_EQ(exchange(0, 200), 200u);
  EXPECT_TRUE(until([&] { return transports_[0]->drained(); }));
  EXPECT_FALSE(transports_[0]->failed());
}

TEST_P(FaultTest, DelayedMessagesComeInOrder) {
  build(2000us);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(exchange(0, 30), 30u);
  EXPECT_GT(std::chrono::steady_clock::now() - begin, 10ms) << "30 delays of 1 ms on average";
}

TEST_P(FaultTest, AWithheldChannelStopsAndGoesOn) {
  build(0us);
  EXPECT_EQ(exchange(0, 3), 3u);
  transports_[0]->withhold(1, 0, 0);
  write_message(out(), 50, 3);
  EXPECT_FALSE(until([&] { return in().peek() != nullptr; }, 30ms));
  EXPECT_EQ(exchange(0, 20, 10s, 1), 20u) << "another lane stopped too";
  transports_[0]->resume(1, 0, 0);
  ASSERT_TRUE(until([&] { return in().peek() != nullptr; }));
  EXPECT_EQ(wrong(*in().peek(), 50, 3), "");
}

TEST_P(FaultTest, ADroppedConnectionIsAFailureWithTheName) {
  build(0us);
  transports_[0]->drop_after(1, 5);
  EXPECT_EQ(exchange(0, 10, 50ms), 5u);
  ASSERT_TRUE(transports_[0]->failed());
  const auto failures = transports_[0]->failures();
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].peer, 1);
  EXPECT_EQ(failures[0].status.code(), Code::kRemoteError);
}

TEST_P(FaultTest, ACutConnectionIsSilent) {
  build(0us);
  transports_[0]->cut_after(1, 5);
  EXPECT_EQ(exchange(0, 10, 50ms), 5u);
  EXPECT_FALSE(transports_[0]->failed());
}

}  // namespace
}  // namespace tutti::transport::testing
