// How a rank gets its place in the tree: check in at the rendezvous, connect to the parent, take in the children.
#include <poll.h>
#include <sodium.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "base/log.h"
#include "base/net/interfaces.h"
#include "base/net/socket.h"
#include "bootstrap/tcp/door.h"
#include "bootstrap/tcp/rendezvous.h"
#include "bootstrap/tcp/tree.h"

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

// Waits at `listener` until every child of `rank` in the tree has come.
Status take_in_children(net::Fd listener, int rank, int nranks, const net::Secret& secret, const Limits& limits,
                        std::vector<Link>* links) {
  std::vector<int> missing;
  for (int child = rank * kFanout + 1; child <= rank * kFanout + kFanout && child < nranks; ++child)
    missing.push_back(child);
  Door door(std::move(listener), secret, kTreePurpose);
  while (!missing.empty()) {
    std::vector<pollfd> fds;
    door.add_to(&fds);
    poll(fds.data(), fds.size(), 50);
    if (const Status over = limits.check("waiting for neighbours in the control tree"); !over.ok())
      return error(over.code(), "{}; missing: rank {}", over.text(), fmt::join(missing, ", "));
    door.serve([&](net::Fd socket, const Bytes& hello) {
      const Result<CheckIn> came = decode_check_in(hello);
      const auto child = came.ok() ? std::find(missing.begin(), missing.end(), came->rank) : missing.end();
      if (child == missing.end()) return;
      missing.erase(child);
      links->emplace_back(came->rank, std::move(socket));
    });
  }
  return {};
}

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
  TUTTI_ASSIGN_OR_RETURN(net::Fd listener, net::listen_tcp(address));
  CheckIn me{rank, nranks, {}};
  TUTTI_ASSIGN_OR_RETURN(me.address, net::local_address(listener.get()));

  TUTTI_ASSIGN_OR_RETURN(net::Fd to_root,
                         connect_and_prove(id.address, id.secret, kRendezvousPurpose, encode(me), limits));
  Link root(-1, std::move(to_root));
  TUTTI_ASSIGN_OR_RETURN(const Answer answer, wait_for_answer(root, limits));
  root.close();
  if (answer.code != Code::kOk) {
    wait_for_failing_roots(kGrace);
    return Status(answer.code, answer.text);
  }

  std::vector<Link> links;
  const Limits patient{deadline + kGrace, stop};
  if (rank > 0) {
    TUTTI_ASSIGN_OR_RETURN(net::Fd parent,
                           connect_and_prove(answer.parent, id.secret, kTreePurpose, encode(me), patient));
    links.emplace_back(parent_of(rank), std::move(parent));
  }
  TUTTI_RETURN_IF_ERROR(take_in_children(std::move(listener), rank, nranks, id.secret, patient, &links));
  return std::unique_ptr<Bootstrap>(std::make_unique<Tree>(rank, nranks, id.secret, std::move(links)));
}

}  // namespace tutti::bootstrap
