// The base floor: addresses, interface rules, the mutual proof, configuration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstdlib>

#include "base/config.h"
#include "base/fingerprint.h"
#include "base/net/address.h"
#include "base/net/fd.h"
#include "base/net/handshake.h"
#include "base/net/interfaces.h"

namespace tutti {
namespace {

using net::Fd;
using net::Handshake;
using net::SocketAddress;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Address, ReadsWhatItPrints) {
  for (const char* text : {"127.0.0.1:80", "[::1]:65535", "10.1.2.3:1"}) {
    const auto address = SocketAddress::parse(text);
    ASSERT_TRUE(address.ok()) << address.status().text();
    EXPECT_EQ(address->to_string(), text);
    const auto copy = SocketAddress::from_bytes(address->to_bytes());
    ASSERT_TRUE(copy.ok());
    EXPECT_EQ(copy->to_string(), text);
  }
  EXPECT_TRUE(SocketAddress::parse("127.9.9.9:1")->is_loopback());
  EXPECT_TRUE(SocketAddress::parse("[::1]:1")->is_loopback());
  EXPECT_TRUE(SocketAddress::parse("[::ffff:127.0.0.1]:1")->is_loopback());
  EXPECT_FALSE(SocketAddress::parse("10.0.0.1:1")->is_loopback());
}

TEST(Address, RefusesWhatIsNone) {
  for (const char* text :
       {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "::1:5", ":5", "[]:5"}) {
    const auto address = SocketAddress::parse(text);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_EQ(address.status().code(), Code::kInvalidArgument);
    EXPECT_THAT(address.status().text(), HasSubstr("<ipv4>:<port>"));
  }
  EXPECT_FALSE(SocketAddress::from_bytes(std::vector<std::byte>(10)).ok());
  EXPECT_FALSE(SocketAddress::from_bytes(std::vector<std::byte>(SocketAddress::kBytes)).ok());
}

std::vector<net::Interface> some_interfaces() {
  const auto make = [](const char* name, const char* address, int bits) {
    return net::Interface{name, *SocketAddress::parse(address), bits};
  };
  return {make("lo", "127.0.0.1:0", 8),         make("lo", "[::1]:0", 128),     make("docker0", "172.17.0.1:0", 16),
          make("eth0", "10.1.0.5:0", 16),       make("eth1", "10.2.0.5:0", 16), make("eth1", "[fd00::5]:0", 64),
          make("virbr0", "192.168.122.1:0", 24)};
}

std::vector<std::string> chosen(const std::string& pattern, int family = 0, const char* near = nullptr) {
  const auto result = net::choose_interfaces(some_interfaces(), pattern, family,
                                             near == nullptr ? SocketAddress() : *SocketAddress::parse(near));
  std::vector<std::string> names;
  if (!result.ok()) return {result.status().text()};
  for (const net::Interface& interface : *result) names.push_back(interface.name);
  return names;
}

TEST(Interfaces, FollowNcclsRules) {
  EXPECT_THAT(chosen(""), ElementsAre("eth0", "eth1"));
  EXPECT_THAT(chosen("", 0, "10.2.7.7:1"), ElementsAre("eth1"));
  EXPECT_THAT(chosen("", AF_INET6), ElementsAre("eth1"));
  EXPECT_THAT(chosen("eth"), ElementsAre("eth0", "eth1"));
  EXPECT_THAT(chosen("eth1,docker"), ElementsAre("docker0", "eth1"));
  EXPECT_THAT(chosen("=eth"), ElementsAre(HasSubstr("eth0 (10.1.0.5:0)")));  // no exact match: lists what there is
  EXPECT_THAT(chosen("=eth0"), ElementsAre("eth0"));
  EXPECT_THAT(chosen("^eth,docker,virbr"), ElementsAre("lo"));
  EXPECT_THAT(chosen("^=eth0"), ElementsAre("lo", "docker0", "eth1", "virbr0"));
  EXPECT_THAT(chosen("nosuch"), ElementsAre(HasSubstr("NCCL_SOCKET_IFNAME=\"nosuch\"")));
}

struct Pair {
  Fd a, b;
  Pair() {
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) != 0) std::abort();
    a = Fd(fds[0]);
    b = Fd(fds[1]);
  }
};

net::Secret secret_of(unsigned char value) {
  net::Secret secret;
  secret.fill(value);
  return secret;
}

// Runs both sides until each is done or has failed.
void run(Pair& pair, Handshake& initiator, Handshake& acceptor, Status* first, Status* second) {
  bool first_ends = false;
  bool second_ends = false;
  for (int i = 0; i < 100 && !(first_ends && second_ends); ++i) {
    if (!first_ends) {
      const auto state = initiator.advance(pair.a.get());
      first_ends = !state.ok() || *state == Handshake::State::kDone;
      *first = state.status();
      if (!state.ok()) pair.a.reset();
    }
    if (!second_ends) {
      const auto state = acceptor.advance(pair.b.get());
      second_ends = !state.ok() || *state == Handshake::State::kDone;
      *second = state.status();
      if (!state.ok()) pair.b.reset();
    }
  }
  ASSERT_TRUE(first_ends && second_ends);
}

TEST(Handshake, MembersLearnEachOthersHello) {
  for (const size_t size : {size_t{0}, size_t{1}, Handshake::kMostHello}) {
    Pair pair;
    Handshake initiator(Handshake::Side::kInitiator, secret_of(1), "test", std::vector<std::byte>(size, std::byte{7}));
    Handshake acceptor(Handshake::Side::kAcceptor, secret_of(1), "test", {std::byte{9}});
    Status first, second;
    run(pair, initiator, acceptor, &first, &second);
    EXPECT_TRUE(first.ok()) << first.text();
    EXPECT_TRUE(second.ok()) << second.text();
    EXPECT_EQ(acceptor.peer_hello(), std::vector<std::byte>(size, std::byte{7}));
    EXPECT_EQ(initiator.peer_hello(), std::vector<std::byte>{std::byte{9}});
  }
}

TEST(Handshake, AnotherSecretOrPurposeIsRefusedAndNothingIsBelieved) {
  for (const bool other_purpose : {false, true}) {
    Pair pair;
    Handshake initiator(Handshake::Side::kInitiator, secret_of(1), "test", {std::byte{7}});
    Handshake acceptor(Handshake::Side::kAcceptor, secret_of(other_purpose ? 1 : 2), other_purpose ? "other" : "test",
                       {});
    Status first, second;
    run(pair, initiator, acceptor, &first, &second);
    EXPECT_FALSE(first.ok());
    EXPECT_FALSE(second.ok());
    EXPECT_TRUE(acceptor.peer_hello().empty());
  }
}

TEST(Handshake, ReflectionProvesNothing) {
  Pair pair;
  Handshake handshake(Handshake::Side::kInitiator, secret_of(1), "test", {std::byte{7}});
  Status end;
  for (int i = 0; i < 100; ++i) {
    const auto state = handshake.advance(pair.a.get());
    if (!state.ok()) {
      end = state.status();
      break;
    }
    ASSERT_NE(*state, Handshake::State::kDone);
    std::byte buffer[256];
    const ssize_t n = recv(pair.b.get(), buffer, sizeof buffer, 0);
    if (n > 0) {
      ASSERT_EQ(send(pair.b.get(), buffer, static_cast<size_t>(n), 0), n);
    }
  }
  EXPECT_THAT(end.text(), HasSubstr("does not know the secret"));
}

TEST(Handshake, GarbageAndHalfOpenConnectionsEndWithAReason) {
  Pair pair;
  Handshake acceptor(Handshake::Side::kAcceptor, secret_of(1), "test", {});
  const std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: a scanner\r\n\r\n";
  ASSERT_GT(send(pair.a.get(), request.data(), request.size(), 0), 0);
  EXPECT_THAT(acceptor.advance(pair.b.get()).status().text(), HasSubstr("stranger"));

  Pair other;
  Handshake waiting(Handshake::Side::kAcceptor, secret_of(1), "test", {});
  ASSERT_EQ(send(other.a.get(), "Tut", 3, 0), 3);
  EXPECT_EQ(*waiting.advance(other.b.get()), Handshake::State::kWantRead);
  other.a.reset();
  EXPECT_THAT(waiting.advance(other.b.get()).status().text(), HasSubstr("closed the connection"));
}

// Sets a variable for as long as it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(Config, BadValuesNameVariableValueAndWhatIsAccepted) {
  const struct {
    const char* name;
    const char* value;
    const char* accepted;
  } cases[] = {{"NCCL_SOCKET_FAMILY", "AF_UNIX", "AF_INET, AF_INET6"},
               {"TUTTI_QUEUE_DEPTH", "7", "power of two"},
               {"TUTTI_QUEUE_DEPTH", "1", "2 to 256"},
               {"TUTTI_SLOT_BYTES", "1025", "multiple of 64"},
               {"TUTTI_INIT_TIMEOUT", "soon", "whole number"},
               {"NCCL_SHM_DISABLE", "2", "0 to 1"},
               {"NCCL_CHECK_MODE", "debug", "DEBUG_LOCAL"},
               {"NCCL_COMM_BLOCKING", "yes", "0 to 1"},
               {"TUTTI_SIMD", "MMX", "AVX2"},
               {"NCCL_DEBUG", "LOUD", "WARN"},
               {"TUTTI_DEBUG", "2", "INFO"},
               {"NCCL_DEBUG_SUBSYS", "^INIT,NETT", "COLL"},
               {"TUTTI_LEND", "yes", "0 to 1"},
               {"TUTTI_SECRET_FILE", "/nowhere/secret", "cannot be read"}};
  for (const auto& c : cases) {
    const Variable variable(c.name, c.value);
    const auto config = Config::from_environment();
    ASSERT_FALSE(config.ok()) << c.name;
    EXPECT_EQ(config.status().code(), Code::kInvalidUsage);
    EXPECT_THAT(config.status().text(), HasSubstr(c.name));
    EXPECT_THAT(config.status().text(), HasSubstr(c.value));
    EXPECT_THAT(config.status().text(), HasSubstr(c.accepted));
  }
}

TEST(Config, GoodValuesArrive) {
  const Variable depth("TUTTI_QUEUE_DEPTH", "16");
  const Variable sockets("NCCL_NSOCKS_PERTHREAD", "4");
  const Variable threads("NCCL_SOCKET_NTHREADS", "2");
  const Variable mode("NCCL_CHECK_MODE", "DEBUG_LOCAL");
  const Variable debug("NCCL_DEBUG", "warn");
  const Variable subsystems("NCCL_DEBUG_SUBSYS", "^nvls,RAS");
  const auto config = Config::from_environment();
  ASSERT_TRUE(config.ok()) << config.status().text();
  EXPECT_EQ(config->queue_depth, 16u);
  EXPECT_EQ(config->sockets_per_peer, 8);
  EXPECT_TRUE(config->check_pointers);
}

TEST(Fingerprint, ShowsWhatDiffers) {
  Fingerprint a, b;
  a.count = b.count = 10;
  b.plan = 5;
  EXPECT_THAT(describe(a, a), testing::Not(HasSubstr("plan")));
  EXPECT_THAT(describe(b, a), HasSubstr("plan 0000000000000005"));
}

}  // namespace
}  // namespace tutti
