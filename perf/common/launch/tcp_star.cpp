// torchrun's and srun's variables: rank 0 listens at MASTER_PORT + 2, the others connect. Only texts that the run
// prints anyway travel here, never the communicator's secret (NCCL_COMM_ID and TUTTI_SECRET see to that). What does not
// begin with this run's greeting is dropped.
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "common/exit.h"
#include "common/format.h"
#include "common/launch/frame.h"
#include "common/world.h"

namespace tutti::perf {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{120};  // for all ranks to come

std::string greeting(int rank, int size) {
  return print_text("tutti-perf 1 rank %d of %d", rank, size);
}

struct Addresses {
  Addresses(const std::string& host, int port, bool passive) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
    const int failure = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
    if (failure != 0)
      fail(kExitInternalError, "address of rank 0, %s port %d: %s", host.c_str(), port, gai_strerror(failure));
  }
  ~Addresses() { freeaddrinfo(list); }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
  addrinfo* list = nullptr;
};

void set_receive_timeout(int fd, int seconds) {
  const timeval limit{seconds, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

int listen_at(const std::string& host, int port) {
  const Addresses addresses(host, port, true);
  int last_error = 0;
  for (const addrinfo* entry = addresses.list; entry != nullptr; entry = entry->ai_next) {
    const int fd = socket(entry->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd >= 0 && bind(fd, entry->ai_addr, entry->ai_addrlen) == 0 && listen(fd, 1024) == 0) return fd;
    last_error = errno;
    if (fd >= 0) close(fd);
  }
  fail(kExitInternalError, "rank 0 cannot listen at %s port %d: %s", host.c_str(), port, std::strerror(last_error));
}

int connect_to(const std::string& host, int port) {
  const Addresses addresses(host, port, false);
  const Clock::time_point give_up = Clock::now() + kPatience;
  while (true) {
    int last_error = 0;
    for (const addrinfo* entry = addresses.list; entry != nullptr; entry = entry->ai_next) {
      const int fd = socket(entry->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (fd >= 0 && connect(fd, entry->ai_addr, entry->ai_addrlen) == 0) return fd;
      last_error = errno;
      if (fd >= 0) close(fd);
    }
    if (Clock::now() > give_up)
      fail(kExitInternalError, "rank 0 does not answer at %s port %d: %s", host.c_str(), port,
           std::strerror(last_error));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // it may not have started yet
  }
}

void no_delay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

class TcpWorld : public World {
 public:
  TcpWorld(const Launched& launched) : rank_(launched.rank), size_(launched.size) {
    const int port = launched.port + 2;
    if (rank_ == 0) {
      accept_all(launched.address, port);
    } else {
      const int fd = connect_to(launched.address, port);
      no_delay(fd);
      if (!send_frame(fd, greeting(rank_, size_))) lost(0);
      peers_ = {fd};
    }
  }
  ~TcpWorld() override {
    for (int fd : peers_)
      if (fd >= 0) close(fd);
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::vector<std::string> all_gather(const std::string& mine) override {
    if (rank_ != 0) {
      std::string all;
      if (!send_frame(peers_[0], mine) || !receive_frame(peers_[0], &all)) lost(0);
      return unpack(all);
    }
    std::vector<std::string> texts{mine};
    for (int peer = 1; peer < size_; ++peer) {
      std::string text;
      if (!receive_frame(peers_[static_cast<size_t>(peer)], &text)) lost(peer);
      texts.push_back(std::move(text));
    }
    const std::string all = pack(texts);
    for (int peer = 1; peer < size_; ++peer)
      if (!send_frame(peers_[static_cast<size_t>(peer)], all)) lost(peer);
    return texts;
  }

 private:
  [[noreturn]] void lost(int peer) const {
    fail(kExitInternalError, "rank %d: process %d has left the run", rank_, peer);
  }

  void accept_all(const std::string& host, int port) {
    peers_.assign(static_cast<size_t>(size_), -1);
    const int listener = listen_at(host, port);
    set_receive_timeout(listener, static_cast<int>(kPatience.count()));
    for (int present = 1; present < size_;) {
      const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0 && errno == EINTR) continue;
      if (fd < 0)
        fail(kExitInternalError, "only %d of %d processes came to %s port %d", present, size_, host.c_str(), port);
      no_delay(fd);
      if (admit(fd)) {
        ++present;
      } else {
        close(fd);
      }
    }
    close(listener);
  }

  bool admit(int fd) {
    set_receive_timeout(fd, 2);
    std::string text;
    if (!receive_frame(fd, &text)) return false;
    for (int peer = 1; peer < size_; ++peer) {
      if (text != greeting(peer, size_) || peers_[static_cast<size_t>(peer)] >= 0) continue;
      set_receive_timeout(fd, 0);
      peers_[static_cast<size_t>(peer)] = fd;
      return true;
    }
    return false;
  }

  int rank_;
  int size_;
  std::vector<int> peers_;  // rank 0: by rank; others: rank 0's alone
};

}  // namespace

std::unique_ptr<World> make_tcp_world(const Launched& launched) {
  if (launched.size == 1) return make_single_world();
  const bool v6 = launched.address.find(':') != std::string::npos;
  const std::string id =
      (v6 ? "[" + launched.address + "]" : launched.address) + ":" + std::to_string(launched.port + 1);
  setenv("NCCL_COMM_ID", id.c_str(), 0);  // a user's own stays
  return std::make_unique<TcpWorld>(launched);
}

}  // namespace tutti::perf
