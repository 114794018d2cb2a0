// What one queue, and several side by side, promise: order, sizes, credits, independence.
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "fabric.h"
#include "transport/reference.h"
#include "transport/ring_memory.h"

namespace tutti::transport::testing {
namespace {

class QueueTest : public ::testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Every, QueueTest, ::testing::Values(Kind::kInProcess, Kind::kShm, Kind::kTcp4, Kind::kTcp6),
                         [](const auto& kind) { return name_of(kind.param); });

TEST_P(QueueTest, CarriesEverySizeWithItsFingerprint) {
  Fabric fabric(GetParam(), 2);
  fabric.connect(0, 1);
  const std::vector<uint32_t> sizes = {0,  1,  2,   15,   16,   17,   31,   32,   63,
                                       64, 65, 127, 1000, 4031, 4032, 4033, 4095, 4096};
  uint64_t seed = 1;
  for (const uint32_t bytes : sizes) {
    ASSERT_TRUE(fabric.until([&] { return fabric.to(0, 1).ready(); }));
    write_message(fabric.to(0, 1), bytes, seed);
    ASSERT_TRUE(fabric.until([&] { return fabric.from(1, 0).peek() != nullptr; })) << bytes << fabric.failures();
    EXPECT_EQ(wrong(*fabric.from(1, 0).peek(), bytes, seed++), "");
    fabric.from(1, 0).release();
  }
}

TEST_P(QueueTest, AFullQueueSaysSoAndGoesOnAfterARelease) {
  Fabric fabric(GetParam(), 2);
  fabric.connect(0, 1);
  SendQueue& out = fabric.to(0, 1);
  RecvQueue& in = fabric.from(1, 0);
  // A carrying transport has room for as many again on the way; none has room for more than twice the depth.
  uint64_t sent = 0;
  const auto fill = [&] {
    while (out.ready() && sent < 100) write_message(out, 100, sent++);
    return sent >= 100;
  };
  EXPECT_FALSE(fabric.until(fill, 100ms));
  EXPECT_GE(sent, kSmall.depth);
  EXPECT_LE(sent, kSmall.depth * 2);
  for (uint64_t i = 0; i < 40; ++i) {
    ASSERT_TRUE(fabric.until([&] { return fill(), in.peek() != nullptr; }));
    ASSERT_EQ(wrong(*in.peek(), 100, i), "");
    in.release();
    ASSERT_TRUE(fabric.until([&] { return fill(), sent > i + kSmall.depth; })) << "no credit came for " << i;
  }
}

TEST_P(QueueTest, EveryCreditComesBackEvenWhenTheReceiverHasNothingElseToDo) {
  Fabric fabric(GetParam(), 2);
  fabric.connect(0, 1);
  write_message(fabric.to(0, 1), 5, 1);
  ASSERT_TRUE(fabric.until([&] { return fabric.from(1, 0).peek() != nullptr; }));
  EXPECT_FALSE(fabric.at(0).drained() && fabric.at(0).carries());
  fabric.from(1, 0).release();
  EXPECT_TRUE(fabric.until([&] { return fabric.to(0, 1).outstanding() == 0 && fabric.at(0).drained(); }));
}

TEST_P(QueueTest, KeepsOrderOverManyLapsOfTheRing) {
  Fabric fabric(GetParam(), 2);
  fabric.connect(0, 1);
  SendQueue& out = fabric.to(0, 1, 1, 2);
  RecvQueue& in = fabric.from(1, 0, 1, 2);
  constexpr uint64_t kMessages = 100'000;
  uint64_t sent = 0;
  uint64_t received = 0;
  std::string complaint;
  const auto size_of = [](uint64_t i) { return static_cast<uint32_t>(i * 7 % 131); };
  ASSERT_TRUE(fabric.until(
      [&] {
        for (; sent < kMessages && out.ready(); ++sent) write_message(out, size_of(sent), sent);
        for (; in.peek() != nullptr && complaint.empty(); ++received) {
          complaint = wrong(*in.peek(), size_of(received), received);
          in.release();
        }
        return received == kMessages || !complaint.empty();
      },
      60s))
      << sent << " sent, " << received << " received " << fabric.failures();
  EXPECT_EQ(complaint, "");
  EXPECT_EQ(in.peek(), nullptr);
}

TEST_P(QueueTest, AStalledChannelBlocksNoOther) {
  Fabric fabric(GetParam(), 2);
  fabric.connect(0, 1);
  SendQueue& stalled = fabric.to(0, 1, 0, 0);  // nobody receives; lane 2 shares its socket
  uint64_t stuck = 0;
  fabric.until(
      [&] {
        while (stalled.ready()) write_message(stalled, 4096, stuck++);
        return false;
      },
      50ms);
  for (uint32_t flight = 0; flight < kSmall.flights; ++flight)
    for (uint32_t lane = 0; lane < kSmall.lanes; ++lane) {
      if (flight == 0 && lane == 0) continue;
      for (uint64_t i = 0; i < 50; ++i) {
        ASSERT_TRUE(fabric.until([&] { return fabric.to(0, 1, flight, lane).ready(); }));
        write_message(fabric.to(0, 1, flight, lane), 4096, i);
        RecvQueue& in = fabric.from(1, 0, flight, lane);
        ASSERT_TRUE(fabric.until([&] { return in.peek() != nullptr; }));
        ASSERT_EQ(wrong(*in.peek(), 4096, i), "");
        in.release();
      }
    }
  RecvQueue& late = fabric.from(1, 0, 0, 0);
  for (uint64_t i = 0; i < stuck; ++i) {
    ASSERT_TRUE(fabric.until([&] { return late.peek() != nullptr; }));
    ASSERT_EQ(wrong(*late.peek(), 4096, i), "");
    late.release();
  }
}

TEST_P(QueueTest, AllChannelsAtOnceInRandomOrder) {
  const QueueShape shape{.flights = 4, .lanes = 8, .depth = 2, .slot_bytes = 64 * 1024};
  Fabric fabric(GetParam(), 2, shape);
  fabric.connect(0, 1);
  constexpr uint64_t kEach = 60;
  std::vector<uint64_t> sent(shape.channels());
  std::vector<uint64_t> received(shape.channels());
  std::mt19937 random(42);
  uint64_t done = 0;
  std::string complaint;
  const auto bytes_of = [&](uint32_t channel, uint64_t i) {
    return static_cast<uint32_t>((channel * 2654435761u + i * 40503u) % (shape.slot_bytes + 1));
  };
  ASSERT_TRUE(fabric.until(
      [&] {
        for (int tries = 0; tries < 64; ++tries) {
          const auto channel = static_cast<uint32_t>(random() % shape.channels());
          const uint32_t flight = channel / shape.lanes;
          const uint32_t lane = channel % shape.lanes;
          SendQueue& out = fabric.to(0, 1, flight, lane);
          if (sent[channel] < kEach && out.ready()) {
            write_message(out, bytes_of(channel, sent[channel]), channel * 1000 + sent[channel]);
            ++sent[channel];
          }
          RecvQueue& in = fabric.from(1, 0, flight, lane);
          if (const SlotHeader* message = in.peek()) {
            complaint += wrong(*message, bytes_of(channel, received[channel]), channel * 1000 + received[channel]);
            ++received[channel];
            ++done;
            in.release();
          }
        }
        return done == kEach * shape.channels() || !complaint.empty();
      },
      60s))
      << done << fabric.failures();
  EXPECT_EQ(complaint, "");
}

TEST_P(QueueTest, AReferenceIsReadFromWhereItLies) {
  Fabric fabric(GetParam(), 2);
  fabric.connect(0, 1);
  std::vector<unsigned char> data(4000);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<unsigned char>(i * 31);
  if (!fabric.at(0).sender(1)->can_reference(data.data(), data.size(), MemoryKind::kHost))
    GTEST_SKIP() << "NOT RUN: this system lets no process read another's memory";
  EXPECT_FALSE(fabric.at(0).sender(1)->can_reference(data.data(), data.size(), MemoryKind::kDevice));
  SendQueue& out = fabric.to(0, 1);
  write_reference(out.slot(), data.data());
  out.publish(static_cast<uint32_t>(data.size()), fingerprint_of(3), kReference);
  RecvEnd& end = *fabric.at(1).receiver(0);
  RecvQueue& in = end.queue(0, 0);
  ASSERT_TRUE(fabric.until([&] { return in.peek() != nullptr; })) << fabric.failures();
  const SlotHeader& message = *in.peek();
  ASSERT_EQ(message.bytes, data.size());
  EXPECT_EQ(message.fingerprint, fingerprint_of(3));
  if ((message.flags & kReference) == 0) {  // the transport has carried the payload itself
    EXPECT_EQ(std::memcmp(payload_of(&message), data.data(), data.size()), 0);
    return;
  }
  if (const void* view = end.view(message)) {
    EXPECT_EQ(std::memcmp(view, data.data(), data.size()), 0);
  }
  std::vector<unsigned char> part(1000);
  ASSERT_TRUE(end.pull(message, 500, part.data(), part.size()).ok());
  EXPECT_EQ(std::memcmp(part.data(), data.data() + 500, part.size()), 0);
  EXPECT_EQ(end.pull(message, 3500, part.data(), 501).code(), Code::kInternalError) << "beyond the reference";
}

TEST_P(QueueTest, ShapesThatCannotBeAreRefused) {
  EXPECT_TRUE(check(kSmall).ok());
  EXPECT_FALSE(check(QueueShape{.depth = 3}).ok());
  EXPECT_FALSE(check(QueueShape{.depth = 0}).ok());
  EXPECT_FALSE(check(QueueShape{.slot_bytes = 100}).ok());
  EXPECT_FALSE(check(QueueShape{.lanes = 0}).ok());
}

TEST_P(QueueTest, DepthOfOneWorks) {
  Fabric fabric(GetParam(), 2, QueueShape{.flights = 1, .lanes = 1, .depth = 1, .slot_bytes = 64});
  fabric.connect(0, 1);
  for (uint64_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(fabric.until([&] { return fabric.to(0, 1).ready(); })) << i;
    write_message(fabric.to(0, 1), 64, i);
    ASSERT_TRUE(fabric.until([&] { return fabric.from(1, 0).peek() != nullptr; })) << i;
    ASSERT_EQ(wrong(*fabric.from(1, 0).peek(), 64, i), "");
    fabric.from(1, 0).release();
  }
}

}  // namespace
}  // namespace tutti::transport::testing
