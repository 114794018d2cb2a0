// Strangers at the door: wrong secrets, garbage, silence, members of another communicator. None of them disturbs
// anybody.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>

#include "base/net/address.h"
#include "base/net/handshake.h"
#include "fabric.h"
#include "transport/blob.h"
#include "transport/greeting.h"
#include "transport/identity.h"
#include "transport/shm/place.h"
#include "transport/tcp/frame.h"

namespace tutti::transport::testing {
namespace {

class IntruderTest : public ::testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Every, IntruderTest, ::testing::Values(Kind::kShm, Kind::kTcp4, Kind::kTcp6),
                         [](const auto& kind) { return name_of(kind.param); });

struct TcpAddress {
  Identity identity{};
  net::SocketAddress listener;
};
TcpAddress tcp_address(Transport& transport) {
  const auto blob = transport.address();
  BlobReader reader(blob);
  TcpAddress address;
  uint32_t count = 0;
  std::array<std::byte, net::SocketAddress::kBytes> bytes;
  EXPECT_TRUE(reader.get(address.identity) && reader.get(count) && reader.get(bytes));
  address.listener = net::SocketAddress::from_bytes(bytes).value();
  return address;
}

int knock_tcp(const net::SocketAddress& listener) {
  const int fd = socket(listener.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(connect(fd, listener.get(), listener.length()), 0) << errno;
  return fd;
}

// A stranger's socket, connected to where the transport listens.
int knock(Kind kind, Transport& transport) {
  const auto blob = transport.address();
  BlobReader reader(blob);
  if (kind == Kind::kShm) {
    Identity identity;
    shm::Place place;
    std::string name;
    EXPECT_TRUE(reader.get(identity) && reader.get(place) && reader.get_string(name));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(name.begin(), name.end(), address.sun_path + 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), size), 0) << errno;
    return fd;
  }
  return knock_tcp(tcp_address(transport).listener);
}

void exchange_works(Fabric& fabric) {
  fabric.connect(0, 1);
  write_message(fabric.to(0, 1), 100, 4);
  ASSERT_TRUE(fabric.until([&] { return fabric.from(1, 0).peek() != nullptr; })) << fabric.failures();
  EXPECT_EQ(wrong(*fabric.from(1, 0).peek(), 100, 4), "");
  EXPECT_EQ(fabric.failures(), "");
}

TEST_P(IntruderTest, GarbageSilenceAndHangUpsDisturbNobody) {
  Fabric fabric(GetParam(), 2);
  std::vector<int> strangers;
  for (int i = 0; i < 12; ++i) {
    const int fd = knock(GetParam(), fabric.at(1));
    if (i % 3 == 1) {
      const std::vector<char> garbage(1000u * static_cast<size_t>(i), static_cast<char>(i * 37));
      ::send(fd, garbage.data(), garbage.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    if (i % 3 == 2)
      close(fd);
    else
      strangers.push_back(fd);
    fabric.at(1).progress();
  }
  exchange_works(fabric);
  EXPECT_EQ(fabric.at(1).receivers(), std::vector<int>{0});
  for (const int fd : strangers) close(fd);
}

TEST_P(IntruderTest, AWrongSecretIsRefusedAndDisturbsNobody) {
  // Two good ranks, and one that claims to be rank 0 with another secret.
  std::vector<Member> good;
  for (int rank = 0; rank < 2; ++rank) good.push_back(make_member(GetParam(), rank, kSmall));
  Member intruder = make_member(GetParam(), 0, kSmall, a_secret(99));
  const std::vector<Peer> peers = {this_process(0), this_process(1)};
  const std::vector<std::vector<std::byte>> addresses = {good[0].transport->address(), good[1].transport->address()};
  for (Member& member : good) ASSERT_TRUE(member.transport->start(peers, addresses).ok());
  ASSERT_TRUE(intruder.transport->start(peers, addresses).ok());

  SendEnd* bad = intruder.transport->sender(1);
  const std::vector<Transport*> all = {good[0].transport.get(), good[1].transport.get(), intruder.transport.get()};
  ASSERT_TRUE(drive(all, [&] { return intruder.transport->failed(); }));
  EXPECT_FALSE(bad->ready());
  EXPECT_EQ(intruder.transport->failures()[0].peer, 1);
  EXPECT_EQ(good[1].transport->receiver(0), nullptr);
  EXPECT_FALSE(good[1].transport->failed());

  SendEnd* out = good[0].transport->sender(1);
  ASSERT_TRUE(drive(all, [&] { return out->ready() && good[1].transport->receiver(0) != nullptr; }));
  write_message(out->queue(0, 0), 10, 1);
  EXPECT_EQ(receive(*good[1].transport, good[1].transport->receiver(0)->queue(0, 0), 10, 1), "");
}

TEST_P(IntruderTest, AMemberWithOtherQueuesIsAFailureThatShowsBothSides) {
  Member small = make_member(GetParam(), 0, kSmall);
  QueueShape shape = kSmall;
  shape.depth *= 2;
  Member deep = make_member(GetParam(), 1, shape);
  const std::vector<Peer> peers = {this_process(0), this_process(1)};
  const std::vector<std::vector<std::byte>> addresses = {small.transport->address(), deep.transport->address()};
  ASSERT_TRUE(small.transport->start(peers, addresses).ok());
  ASSERT_TRUE(deep.transport->start(peers, addresses).ok());
  small.transport->sender(1);
  ASSERT_TRUE(drive({small.transport.get(), deep.transport.get()}, [&] { return deep.transport->failed(); }));
  const Failure failure = deep.transport->failures()[0];
  EXPECT_EQ(failure.peer, 0);
  EXPECT_NE(failure.status.text().find("4 slots"), std::string::npos) << failure.status.text();
  EXPECT_NE(failure.status.text().find("8 slots"), std::string::npos) << failure.status.text();
}

TEST_P(IntruderTest, AnAddressOfAnEarlierTransportLeadsNowhere) {
  Fabric old(GetParam(), 2);
  const auto stale = old.at(1).address();
  old.destroy(1);
  Member member = make_member(GetParam(), 0, kSmall);
  const std::vector<Peer> peers = {this_process(0), this_process(1)};
  ASSERT_TRUE(
      member.transport->start(peers, std::vector<std::vector<std::byte>>{member.transport->address(), stale}).ok());
  member.transport->sender(1);
  EXPECT_TRUE(drive({member.transport.get()}, [&] { return member.transport->failed(); }));
}

// A member whose frames are not what they should be.
class CorruptFrameTest : public ::testing::Test {
 protected:
  void SetUp() override {
    victim_ = make_member(Kind::kTcp4, 0, kSmall);
    other_ = make_member(Kind::kTcp4, 1, kSmall);
    const std::vector<Peer> peers = {this_process(0), this_process(1)};
    ASSERT_TRUE(victim_.transport
                    ->start(peers, std::vector<std::vector<std::byte>>{victim_.transport->address(),
                                                                       other_.transport->address()})
                    .ok());
    const TcpAddress address = tcp_address(*victim_.transport);
    fd_ = knock_tcp(address.listener);
    fcntl(fd_, F_SETFL, O_NONBLOCK);
    Greeting greeting;
    greeting.receiver = address.identity;
    greeting.sender = 1;
    greeting.shape = kSmall;
    net::Handshake handshake(net::Handshake::Side::kInitiator, a_secret(), "tutti tcp 1", greeting.encode());
    ASSERT_TRUE(drive({victim_.transport.get()}, [&] {
      const auto state = handshake.advance(fd_);
      EXPECT_TRUE(state.ok());
      return !state.ok() || *state == net::Handshake::State::kDone;
    }));
    ASSERT_TRUE(drive({victim_.transport.get()}, [&] { return victim_.transport->receiver(1) != nullptr; }));
  }
  void TearDown() override { close(fd_); }

  void expect_failure(tcp::FrameHeader header, bool good_check = true) {
    header.check = good_check ? header.checksum() : header.checksum() + 1;
    ASSERT_EQ(::send(fd_, &header, sizeof header, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof header));
    ASSERT_TRUE(drive({victim_.transport.get()}, [&] { return victim_.transport->failed(); }));
    const Failure failure = victim_.transport->failures()[0];
    EXPECT_EQ(failure.peer, 1);
    EXPECT_EQ(failure.status.code(), Code::kRemoteError);
    EXPECT_NE(failure.status.text().find("rank 1 (pid "), std::string::npos) << failure.status.text();
    EXPECT_EQ(victim_.transport->receiver(1)->queue(0, 0).peek(), nullptr);
  }

  Member victim_;
  Member other_;
  int fd_ = -1;
};

TEST_F(CorruptFrameTest, ChannelThatDoesNotExist) {
  expect_failure({.channel = kSmall.channels()});
}
TEST_F(CorruptFrameTest, MoreBytesThanASlotHolds) {
  expect_failure({.bytes = kSmall.slot_bytes + 1});
}
TEST_F(CorruptFrameTest, MessageOutOfOrder) {
  expect_failure({.number = 1});
}
TEST_F(CorruptFrameTest, CreditFromASender) {
  expect_failure({.kind = tcp::FrameKind::kCredit});
}
TEST_F(CorruptFrameTest, UnknownKind) {
  expect_failure({.kind = static_cast<tcp::FrameKind>(9)});
}
TEST_F(CorruptFrameTest, FarewellWithPayload) {
  expect_failure({.kind = tcp::FrameKind::kFarewell, .bytes = 1});
}
TEST_F(CorruptFrameTest, WrongChecksum) {
  expect_failure({}, false);
}
TEST_F(CorruptFrameTest, MoreMessagesThanThereIsRoomFor) {
  for (uint64_t i = 0; i < kSmall.depth; ++i) {
    tcp::FrameHeader header{.number = i};
    header.check = header.checksum();
    ASSERT_EQ(::send(fd_, &header, sizeof header, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof header));
  }
  tcp::FrameHeader header{.number = kSmall.depth};
  header.check = header.checksum();
  ASSERT_EQ(::send(fd_, &header, sizeof header, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof header));
  ASSERT_TRUE(drive({victim_.transport.get()}, [&] { return victim_.transport->failed(); }));
}

}  // namespace
}  // namespace tutti::transport::testing
