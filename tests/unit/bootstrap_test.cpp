// How ranks find each other, with ranks as threads: rendezvous, tree, exchange, notices, strangers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/net/socket.h"
#include "bootstrap/in_process/table.h"
#include "bootstrap/tcp/tree.h"
#include "bootstrap/unique_id.h"

namespace tutti::bootstrap {
namespace {

using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

Deadline soon(int seconds = 60) {
  return Clock::now() + std::chrono::seconds(seconds);
}

Config loopback(int family = AF_INET) {
  Config config;
  config.socket_interfaces = "lo";
  config.socket_family = family;
  return config;
}

Bytes bytes_of(int rank) {
  return Bytes(static_cast<size_t>(rank % 5), static_cast<std::byte>(rank));
}

// Joins all ranks in threads of their own; `body` runs with each rank's end.
void with_ranks(int n, const Config& config, const std::function<void(Bootstrap&)>& body) {
  const auto id = create_unique_id(config);
  ASSERT_TRUE(id.ok()) << id.status().text();
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < n; ++rank) {
    threads.emplace_back([&, rank] {
      auto end = join_tcp(*id, rank, n, config, soon(), nullptr);
      ASSERT_TRUE(end.ok()) << end.status().text();
      body(**end);
    });
  }
}

void gather_twice(Bootstrap& end) {
  for (int round = 0; round < 2; ++round) {
    const auto all = end.all_gather(bytes_of(end.rank() + round), soon(), nullptr);
    ASSERT_TRUE(all.ok()) << all.status().text();
    ASSERT_EQ(static_cast<int>(all->size()), end.nranks());
    for (int rank = 0; rank < end.nranks(); ++rank)
      EXPECT_EQ((*all)[static_cast<size_t>(rank)], bytes_of(rank + round));
  }
  end.leave();
}

TEST(Tcp, EverybodyLearnsWhatEverybodySays) {
  for (const int n : {1, 2, 3, 9, 10, 40}) with_ranks(n, loopback(), gather_twice);
}

TEST(Tcp, IPv6) {
  with_ranks(3, loopback(AF_INET6), gather_twice);
}

TEST(Tcp, StrangersDisturbNobody) {
  const Config config = loopback();
  const auto id = create_unique_id(config);
  ASSERT_TRUE(id.ok());
  std::vector<net::Fd> strangers;
  for (int i = 0; i < 20; ++i) {
    auto fd = net::connect_tcp(id->address);
    ASSERT_TRUE(fd.ok());
    if (i % 2 == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      const std::string garbage(100, static_cast<char>(i));
      send(fd->get(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
    }
    strangers.push_back(*std::move(fd));  // the others stay half open
  }
  UniqueId guessed = *id;
  guessed.secret.fill(0);
  const auto intruder = join_tcp(guessed, 0, 2, config, soon(1), nullptr);
  EXPECT_FALSE(intruder.ok());
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      auto end = join_tcp(*id, rank, 2, config, soon(), nullptr);
      ASSERT_TRUE(end.ok()) << end.status().text();
      gather_twice(**end);
    });
  }
}

TEST(Tcp, DifferentSizesAreShownToAll) {
  const Config config = loopback();
  const auto id = create_unique_id(config);
  ASSERT_TRUE(id.ok());
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      const auto end = join_tcp(*id, rank, rank == 0 ? 2 : 3, config, soon(20), nullptr);
      ASSERT_FALSE(end.ok());
      EXPECT_EQ(end.status().code(), Code::kInvalidUsage);
      EXPECT_THAT(end.status().text(), HasSubstr("was given"));
    });
  }
}

TEST(Tcp, StopEndsTheWait) {
  const Config config = loopback();
  const auto id = create_unique_id(config);
  ASSERT_TRUE(id.ok());
  std::atomic<bool> stop{false};
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop = true;
  });
  const auto end = join_tcp(*id, 0, 2, config, soon(), &stop);
  ASSERT_FALSE(end.ok());
  EXPECT_THAT(end.status().text(), HasSubstr("aborted"));
}

TEST(Tcp, NoticesReachEveryRankOnceAndLossIsTold) {
  constexpr int kRanks = 12;
  constexpr int kTalker = 10;  // a leaf of the tree
  std::atomic<int> heard{0};
  with_ranks(kRanks, loopback(), [&](Bootstrap& end) {
    if (end.rank() == kTalker) {
      Notice notice;
      notice.kind = Notice::Kind::kAborted;
      notice.rank = kTalker;
      notice.text = "because";
      end.send(notice);
      const auto until = soon(30);
      while (heard.load() < kRanks - 1 && Clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return;  // goes without having left: a death
    }
    int aborted = 0;
    int died = 0;
    const auto until = soon(30);
    while ((aborted == 0 || died == 0) && Clock::now() < until) {
      for (const Notice& notice : end.receive()) {
        if (notice.kind == Notice::Kind::kLeft) continue;  // of those who have heard everything already
        EXPECT_EQ(notice.rank, kTalker);
        if (notice.kind == Notice::Kind::kAborted) {
          EXPECT_EQ(notice.text, "because");
          ++aborted;
          ++heard;
        }
        died += notice.kind == Notice::Kind::kDied ? 1 : 0;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(aborted, 1);
    EXPECT_EQ(died, 1);
    end.leave();
    // The others still pass on through this rank what they have to say.
    const auto linger = Clock::now() + std::chrono::milliseconds(300);
    while (Clock::now() < linger) {
      end.receive();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
}

TEST(InProcess, GathersAndNotifies) {
  auto seats = join_in_process(3);
  ASSERT_TRUE(seats.ok());
  {
    std::vector<std::jthread> threads;
    for (auto& seat : *seats) threads.emplace_back([&seat] { gather_twice(*seat); });
  }
  for (const auto& seat : *seats) EXPECT_EQ(seat->receive().size(), 2u);
}

TEST(UniqueId, SurvivesItsBytesAndRefusesOthers) {
  UniqueId id;
  id.secret.fill(5);
  id.address = *net::SocketAddress::parse("[::1]:77");
  const auto copy = decode(encode(id));
  ASSERT_TRUE(copy.ok());
  EXPECT_EQ(copy->secret, id.secret);
  EXPECT_EQ(copy->address.to_string(), "[::1]:77");
  EXPECT_EQ(decode(UniqueIdBytes{}).status().code(), Code::kInvalidArgument);
}

TEST(AgreedId, NeedsASecretOffLoopback) {
  Config config;
  config.comm_id = "10.0.0.1:5";
  EXPECT_THAT(agreed_id(config).status().text(), HasSubstr("TUTTI_SECRET"));
  config.secret = "word";
  const auto with_secret = agreed_id(config);
  ASSERT_TRUE(with_secret.ok());
  config.secret.reset();
  config.insecure = true;
  ASSERT_TRUE(agreed_id(config).ok());
  EXPECT_NE(agreed_id(config)->secret, with_secret->secret);
  config.comm_id = "127.0.0.1:5";
  config.insecure = false;
  EXPECT_TRUE(agreed_id(config).ok());
  config.comm_id = "garbage";
  EXPECT_THAT(agreed_id(config).status().text(), HasSubstr("NCCL_COMM_ID=\"garbage\""));
}

}  // namespace
}  // namespace tutti::bootstrap
