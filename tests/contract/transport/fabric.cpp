#include "fabric.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/net/address.h"
#include "transport/in_process/transport.h"
#include "transport/shm/transport.h"
#include "transport/tcp/transport.h"

namespace tutti::transport::testing {
namespace {

constexpr uint64_t kHost = 77;

net::SocketAddress loopback(Kind kind) {
  return net::SocketAddress::loopback(kind == Kind::kTcp4 ? AF_INET : AF_INET6, 0);
}

Result<std::unique_ptr<Transport>> make(Kind kind, int rank, const QueueShape& shape, const Secret& secret,
                                        const std::shared_ptr<DoorbellPage>& bell) {
  switch (kind) {
    case Kind::kInProcess: return make_in_process_transport({rank, shape, bell});
    case Kind::kShm: return make_shm_transport({rank, shape, bell, secret});
    case Kind::kTcp4:
    case Kind::kTcp6: return make_tcp_transport({rank, shape, bell, secret, {loopback(kind)}, 2});
  }
  return error(Code::kInternalError, "no such kind");
}

std::byte pattern(uint64_t seed, size_t i) {
  return static_cast<std::byte>((seed * 2654435761u + i * 97) >> 3);
}

bool read_all(int fd, void* to, size_t bytes) {
  for (size_t got = 0; got < bytes;) {
    const ssize_t n = read(fd, static_cast<char*>(to) + got, bytes - got);
    if (n <= 0) return false;
    got += static_cast<size_t>(n);
  }
  return true;
}
void write_all(int fd, const void* from, size_t bytes) {
  for (size_t put = 0; put < bytes;) {
    const ssize_t n = ::send(fd, static_cast<const char*>(from) + put, bytes - put, MSG_NOSIGNAL);
    if (n <= 0) return;
    put += static_cast<size_t>(n);
  }
}

std::vector<std::byte> read_blob(int fd) {
  uint64_t bytes = 0;
  if (!read_all(fd, &bytes, sizeof bytes)) return {};
  std::vector<std::byte> blob(bytes);
  if (!read_all(fd, blob.data(), bytes)) return {};
  return blob;
}
void write_blob(int fd, const std::vector<std::byte>& blob) {
  const uint64_t bytes = blob.size();
  write_all(fd, &bytes, sizeof bytes);
  write_all(fd, blob.data(), blob.size());
}

// What a child does between fork and exit.
int run_child(Kind kind, int rank, int ranks, const QueueShape& shape, int control, const ProcessGroup::Body& body) {
  alarm(100);
  Member member = make_member(kind, rank, shape);
  write_blob(control, member.transport->address());
  std::vector<Peer> peers;
  std::vector<std::vector<std::byte>> addresses;
  for (int other = 0; other < ranks; ++other) {
    Peer peer = this_process(other);
    read_all(control, &peer.pid, sizeof peer.pid);
    peer.process = static_cast<uint64_t>(peer.pid);
    peers.push_back(peer);
    addresses.push_back(read_blob(control));
  }
  if (Status status = member.transport->start(peers, addresses); !status.ok()) {
    fprintf(stderr, "rank %d: %s\n", rank, status.text().c_str());
    return 1;
  }
  const std::string complaint = body(ProcessGroup::Context{rank, member, control});
  if (!complaint.empty()) fprintf(stderr, "rank %d: %s\n", rank, complaint.c_str());
  return complaint.empty() ? 0 : 1;
}

}  // namespace

std::string name_of(Kind kind) {
  static const char* const names[] = {"InProcess", "Shm", "Tcp4", "Tcp6"};
  return names[static_cast<int>(kind)];
}
void PrintTo(Kind kind, std::ostream* out) {
  *out << name_of(kind);
}
bool crosses_processes(Kind kind) {
  return kind != Kind::kInProcess;
}

Secret a_secret(unsigned char seed) {
  Secret secret;
  secret.fill(seed);
  return secret;
}

Member make_member(Kind kind, int rank, const QueueShape& shape, const Secret& secret) {
  Member member;
  member.rank = rank;
  member.bell = DoorbellPage::create().value();
  auto transport = make(kind, rank, shape, secret, member.bell);
  if (!transport.ok()) {
    fprintf(stderr, "no transport: %s\n", transport.status().text().c_str());
    abort();
  }
  member.transport = std::move(transport).value();
  return member;
}

Peer this_process(int rank) {
  return Peer{rank, kHost, static_cast<uint64_t>(getpid()), getpid(), "here"};
}

bool drive(const std::vector<Transport*>& transports, const std::function<bool()>& condition,
           std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    bool moved = false;
    for (Transport* transport : transports)
      if (transport != nullptr) moved = transport->progress() || moved;
    if (!moved) std::this_thread::yield();
    if (std::chrono::steady_clock::now() > end) return condition();
  }
  return true;
}

Fabric::Fabric(Kind kind, int ranks, const QueueShape& shape) {
  std::vector<Peer> peers;
  std::vector<std::vector<std::byte>> addresses;
  for (int rank = 0; rank < ranks; ++rank) {
    members_.push_back(make_member(kind, rank, shape));
    peers.push_back(this_process(rank));
    addresses.push_back(members_.back().transport->address());
  }
  for (Member& member : members_) {
    const Status status = member.transport->start(peers, addresses);
    EXPECT_TRUE(status.ok()) << status.text();
  }
}

bool Fabric::until(const std::function<bool()>& condition, std::chrono::milliseconds limit) {
  std::vector<Transport*> transports;
  for (Member& member : members_) transports.push_back(member.transport.get());
  return drive(transports, condition, limit);
}

void Fabric::connect(int a, int b) {
  ASSERT_TRUE(until([&] { return at(a).sender(b)->ready() && at(b).receiver(a) != nullptr; })) << failures();
}

std::string Fabric::failures() {
  std::string text;
  for (Member& member : members_)
    if (member.transport != nullptr)
      for (const Failure& failure : member.transport->failures())
        text += fmt::format("\nrank {} with {}: {}", member.rank, failure.peer, failure.status.text());
  return text;
}

Fingerprint fingerprint_of(uint64_t seed) {
  Fingerprint fingerprint;
  fingerprint.count = seed * 0x9e3779b97f4a7c15;
  fingerprint.plan = ~seed;
  fingerprint.sequence = static_cast<uint32_t>(seed);
  fingerprint.snapshot = static_cast<uint32_t>(seed >> 3);
  fingerprint.root = static_cast<int32_t>(seed % 17) - 1;
  fingerprint.type = static_cast<DataType>(seed % kDataTypes);
  fingerprint.op = static_cast<ReduceOp>(seed % kReduceOps);
  return fingerprint;
}

void write_message(SendQueue& queue, uint32_t bytes, uint64_t seed) {
  std::byte* payload = payload_of(queue.slot(), bytes);
  for (size_t i = 0; i < bytes; ++i) payload[i] = pattern(seed, i);
  queue.publish(bytes, fingerprint_of(seed));
}

std::string wrong(const SlotHeader& message, uint32_t bytes, uint64_t seed) {
  if (message.bytes != bytes) return fmt::format("message {} has {} bytes instead of {}", seed, message.bytes, bytes);
  if (message.flags != 0) return fmt::format("message {} has flags {}", seed, message.flags);
  if (message.fingerprint != fingerprint_of(seed)) return fmt::format("message {} has another fingerprint", seed);
  for (size_t i = 0; i < bytes; ++i)
    if (payload_of(&message)[i] != pattern(seed, i)) return fmt::format("message {} is wrong at byte {}", seed, i);
  return "";
}

bool send(Transport& transport, SendQueue& queue, uint32_t bytes, uint64_t seed, std::chrono::milliseconds limit) {
  if (!drive(
          {&transport}, [&] { return queue.ready(); }, limit))
    return false;
  write_message(queue, bytes, seed);
  return true;
}

std::string receive(Transport& transport, RecvQueue& queue, uint32_t bytes, uint64_t seed,
                    std::chrono::milliseconds limit) {
  if (!drive(
          {&transport}, [&] { return queue.peek() != nullptr; }, limit))
    return fmt::format("message {} did not come", seed);
  const std::string complaint = wrong(*queue.peek(), bytes, seed);
  queue.release();
  return complaint;
}

std::string meet(Transport& transport, const std::vector<int>& peers, std::chrono::milliseconds limit) {
  for (const int peer : peers) transport.sender(peer);
  const auto all_there = [&] {
    return std::all_of(peers.begin(), peers.end(), [&](int peer) {
      return transport.sender(peer)->ready() && transport.receiver(peer) != nullptr;
    });
  };
  if (drive({&transport}, all_there, limit)) return "";
  std::string text = "not all connections came up";
  for (const Failure& failure : transport.failures()) text += "; " + failure.status.text();
  return text;
}

std::vector<int> others(int rank, int ranks) {
  std::vector<int> result;
  for (int step = 1; step < ranks; ++step) result.push_back((rank + step) % ranks);
  return result;
}

void ProcessGroup::Context::say(char word) const {
  write_all(control, &word, 1);
}
char ProcessGroup::Context::hear() const {
  pollfd waiting{control, POLLIN, 0};
  while (poll(&waiting, 1, 1) == 0) transport().progress();
  char word = 0;
  return read_all(control, &word, 1) ? word : '\0';
}

ProcessGroup::ProcessGroup(Kind kind, int ranks, const QueueShape& shape, Body body) {
  for (int rank = 0; rank < ranks; ++rank) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) abort();
    const pid_t pid = fork();
    if (pid == 0) {
      close(pair[0]);
      for (const Child& sibling : children_) close(sibling.control);
      const int code = run_child(kind, rank, ranks, shape, pair[1], body);
      fflush(stderr);
      _exit(code);
    }
    close(pair[1]);
    children_.push_back({pid, pair[0]});
  }
  std::vector<std::vector<std::byte>> addresses;
  for (const Child& child : children_) addresses.push_back(read_blob(child.control));
  for (const Child& child : children_)
    for (size_t rank = 0; rank < children_.size(); ++rank) {
      write_all(child.control, &children_[rank].pid, sizeof(pid_t));
      write_blob(child.control, addresses[rank]);
    }
}

ProcessGroup::~ProcessGroup() {
  for (Child& child : children_) {
    if (child.pid > 0) {
      kill(child.pid, SIGKILL);
      waitpid(child.pid, nullptr, 0);
    }
    close(child.control);
  }
}

void ProcessGroup::signal(int rank, int number) {
  kill(pid(rank), number);
}
char ProcessGroup::hear(int rank) {
  char word = 0;
  return read_all(children_[static_cast<size_t>(rank)].control, &word, 1) ? word : '\0';
}
void ProcessGroup::say(int rank, char word) {
  write_all(children_[static_cast<size_t>(rank)].control, &word, 1);
}

int ProcessGroup::join(int rank) {
  Child& child = children_.at(static_cast<size_t>(rank));
  int status = 0;
  waitpid(child.pid, &status, 0);
  child.pid = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace tutti::transport::testing
