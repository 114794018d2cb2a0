// How a rank gets its place in the tree: check in at the rendezvous, connect to the parent, take in the children.
#include <poll.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "base/log.h"
#include "base/net/interfaces.h"
#include "base/net/socket.h"
#include "bootstrap/tcp/rendezvous.h"
#include "bootstrap/tcp/tree.h"

#include <sodium.h>

namespace tutti::bootstrap {

using Clock = std::chrono::steady_clock;

namespace {

// The rendezvous tells who is missing when its own time is up; a rank waits this much longer to hear it.
constexpr auto kGrace = std::chrono::seconds(2);

struct Limits {
  Deadline deadline;
  const std::atomic<bool>* stop;

  Status check(std::string_view what) const {
    if (stop != nullptr && stop->load(std::memory_order_acquire))
      return error(Code::kInvalidUsage, "{}: aborted", what);
    if (Clock::now() >= deadline) return error(Code::kTimeout, "{}: no answer within the initialisation timeout", what);
    return {};
  }
};

Result<net::SocketAddress> own_address(const Config& config, const net::SocketAddress& near) {
  TUTTI_ASSIGN_OR_RETURN(const std::vector<net::Interface> all, net::list_interfaces());
  const int family = config.socket_family != 0 ? config.socket_family : near.family();
  const std::string pattern = config.socket_interfaces.value_or("");
  // Ranks that meet on loopback can only be reached there.
  if (near.valid() && near.is_loopback() && pattern.empty()) return net::SocketAddress::loopback(near.family(), 0);
  TUTTI_ASSIGN_OR_RETURN(const std::vector<net::Interface> chosen, net::choose_interfaces(all, pattern, family, near));
  return chosen.front().address;
}

// Connects and proves; tries again while nobody listens there yet.
Result<net::Fd> connect_and_prove(const net::SocketAddress& to, const net::Secret& secret, std::string_view purpose,
                                  const Bytes& hello, const Limits& limits) {
  const std::string what = fmt::format("connecting to {} ({})", to.to_string(), purpose);
  for (int attempt = 0;; ++attempt) {
    TUTTI_RETURN_IF_ERROR(limits.check(what));
    Result<net::Fd> fd = net::connect_tcp(to);
    Status trouble = fd.ok() ? Status() : fd.status();
    if (fd.ok()) {
      net::Handshake handshake(net::Handshake::Side::kInitiator, secret, purpose, hello);
      pollfd event{fd->get(), POLLOUT, 0};
      bool connected = false;
      while (trouble.ok()) {
        TUTTI_RETURN_IF_ERROR(limits.check(what));
        if (poll(&event, 1, 50) <= 0) continue;
        if (!connected) {
          trouble = net::connect_result(fd->get(), to.to_string());
          connected = true;
          continue;
        }
        const Result<net::Handshake::State> state = handshake.advance(fd->get());
        if (!state.ok()) {
          trouble = state.status();
        } else if (*state == net::Handshake::State::kDone) {
          return std::move(*fd);
        } else {
          event.events = *state == net::Handshake::State::kWantWrite ? POLLOUT : POLLIN;
        }
      }
    }
    if (attempt == 0) log_info(Subsystem::kBootstrap, "{}: {}; trying again", what, trouble.text());
    if (const Status over = limits.check(what); !over.ok())
      return error(over.code(), "{}; last: {}", over.text(), trouble.text());
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(10 << std::min(attempt, 4), 100)));
  }
}

Result<Answer> wait_for_answer(Link& link, const Limits& limits) {
  const Limits patient{limits.deadline + kGrace, limits.stop};
  for (;;) {
    for (const Link::Message& message : link.receive())
      if (message.type == kAnswer) return decode_answer(message.body);
    if (!link.open()) return Status(Code::kRemoteError, "the rendezvous closed its connection: its process has ended?");
    TUTTI_RETURN_IF_ERROR(patient.check("waiting at the rendezvous for the other ranks"));
    pollfd event{link.fd(), POLLIN, 0};
    poll(&event, 1, 50);
  }
}

// Accepts connections until every child of `rank` has proved itself. Strangers are dropped.
class Nursery {
 public:
  Nursery(int rank, int nranks, const net::Secret& secret) : secret_(secret) {
    for (int child = rank * kFanout + 1; child <= rank * kFanout + kFanout && child < nranks; ++child)
      missing_.push_back(child);
  }

  Status take_in(int listener, const Limits& limits, std::vector<Link>* links) {
    while (!missing_.empty()) {
      std::vector<pollfd> fds{{listener, POLLIN, 0}};
      for (const auto& guest : guests_) fds.push_back({guest->fd.get(), guest->events, 0});
      poll(fds.data(), fds.size(), 50);
      if (const Status over = limits.check("waiting for neighbours in the control tree"); !over.ok())
        return error(over.code(), "{}; missing: rank {}", over.text(), fmt::join(missing_, ", "));
      // An error (no descriptor left, say) may pass: the deadline is the limit.
      Result<net::Fd> fd = net::accept_connection(listener);
      if (fd.ok() && fd->valid() && guests_.size() < kMostGuests)
        guests_.push_back(std::make_unique<Guest>(*std::move(fd), secret_));
      for (auto& guest : guests_) advance(*guest, links);
      std::erase_if(guests_, [](const auto& guest) { return !guest->fd.valid(); });
    }
    return {};
  }

 private:
  struct Guest {
    Guest(net::Fd socket, const net::Secret& secret)
        : fd(std::move(socket)), handshake(net::Handshake::Side::kAcceptor, secret, kTreePurpose, {}) {}
    net::Fd fd;
    net::Handshake handshake;
    short events = POLLIN;
    Clock::time_point since = Clock::now();
  };
  // Strangers are not kept for longer than this, nor more of them than these.
  static constexpr auto kPatience = std::chrono::seconds(10);
  static constexpr size_t kMostGuests = 256;

  void advance(Guest& guest, std::vector<Link>* links) {
    const Result<net::Handshake::State> state = guest.handshake.advance(guest.fd.get());
    if (!state.ok()) return guest.fd.reset();
    if (*state != net::Handshake::State::kDone) {
      guest.events = *state == net::Handshake::State::kWantWrite ? POLLOUT : POLLIN;
      if (Clock::now() - guest.since > kPatience) guest.fd.reset();
      return;
    }
    const Result<CheckIn> came = decode_check_in(guest.handshake.peer_hello());
    const auto child = came.ok() ? std::find(missing_.begin(), missing_.end(), came->rank) : missing_.end();
    if (child == missing_.end()) return guest.fd.reset();
    missing_.erase(child);
    net::set_no_delay(guest.fd.get());
    links->emplace_back(came->rank, std::move(guest.fd));
  }

  const net::Secret secret_;
  std::vector<int> missing_;
  std::vector<std::unique_ptr<Guest>> guests_;
};

}  // namespace

Result<UniqueId> create_unique_id(const Config& config) {
  if (sodium_init() < 0) return Status(Code::kSystemError, "libsodium cannot start: no source of randomness");
  if (config.comm_id.has_value()) return agreed_id(config);
  UniqueId id;
  randombytes_buf(id.secret.data(), id.secret.size());
  TUTTI_ASSIGN_OR_RETURN(const net::SocketAddress address, own_address(config, {}));
  TUTTI_ASSIGN_OR_RETURN(net::Fd listener, net::listen_tcp(address));
  TUTTI_ASSIGN_OR_RETURN(id.address, net::local_address(listener.get()));
  start_root(std::move(listener), id.secret, config.init_timeout);
  log_info(Subsystem::kBootstrap, "the rendezvous listens at {}", id.address.to_string());
  return id;
}

Result<std::unique_ptr<Bootstrap>> join_tcp(const UniqueId& id, int rank, int nranks, const Config& config,
                                            Deadline deadline, const std::atomic<bool>* stop) {
  if (sodium_init() < 0) return Status(Code::kSystemError, "libsodium cannot start: no source of randomness");
  const Limits limits{deadline, stop};
  if (id.agreed && rank == 0) {
    TUTTI_ASSIGN_OR_RETURN(net::Fd root, net::listen_tcp(id.address));
    start_root(std::move(root), id.secret, config.init_timeout);
  }
  TUTTI_ASSIGN_OR_RETURN(const net::SocketAddress address, own_address(config, id.address));
  TUTTI_ASSIGN_OR_RETURN(const net::Fd listener, net::listen_tcp(address));
  CheckIn me{rank, nranks, {}};
  TUTTI_ASSIGN_OR_RETURN(me.address, net::local_address(listener.get()));

  TUTTI_ASSIGN_OR_RETURN(net::Fd to_root,
                         connect_and_prove(id.address, id.secret, kRendezvousPurpose, encode(me), limits));
  Link root(-1, std::move(to_root));
  TUTTI_ASSIGN_OR_RETURN(const Answer answer, wait_for_answer(root, limits));
  if (answer.code != Code::kOk) return Status(answer.code, answer.text);
  root.close();

  std::vector<Link> links;
  const Limits patient{deadline + kGrace, stop};
  if (rank > 0) {
    TUTTI_ASSIGN_OR_RETURN(net::Fd parent,
                           connect_and_prove(answer.parent, id.secret, kTreePurpose, encode(me), patient));
    links.emplace_back(parent_of(rank), std::move(parent));
  }
  Nursery nursery(rank, nranks, id.secret);
  TUTTI_RETURN_IF_ERROR(nursery.take_in(listener.get(), patient, &links));
  return std::unique_ptr<Bootstrap>(std::make_unique<Tree>(rank, nranks, id.secret, std::move(links)));
}

}  // namespace tutti::bootstrap
