#include "transport/reception.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace tutti::transport {
namespace {

uint32_t events_for(net::Handshake::State state) {
  return state == net::Handshake::State::kWantWrite ? EPOLLOUT : EPOLLIN;
}

}  // namespace

class Reception::Listener final : public Poller::Handler {
 public:
  Listener(Reception& reception, net::Fd socket) : reception_(reception), socket_(std::move(socket)) {}
  ~Listener() { reception_.engine_.poller().forget(socket_.get()); }
  Status start() { return reception_.engine_.poller().watch(socket_.get(), EPOLLIN, this); }

 private:
  void on_ready(uint32_t) override {
    reception_.dismissed_.clear();
    while (true) {
      net::Fd guest(accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (guest.get() >= 0) {
        reception_.welcome(std::move(guest));
      } else if (errno != EINTR && errno != ECONNABORTED) {
        if (errno != EAGAIN) out_of_descriptors(errno);
        return;
      }
    }
  }
  // The listener would be reported ready for ever; whoever waits in the backlog cannot be helped.
  void out_of_descriptors(int cause) {
    reception_.engine_.fail(-1, system_error(cause, "accepting a connection of another rank"));
    reception_.engine_.poller().forget(socket_.get());
  }

  Reception& reception_;
  net::Fd socket_;
};

class Reception::Guest final : public Poller::Handler {
 public:
  Guest(Reception& reception, net::Fd socket)
      : reception_(reception),
        socket_(std::move(socket)),
        handshake_(net::Handshake::Side::kServer, reception.secret_, reception.purpose_, {}) {}
  ~Guest() { leave_poller(); }

  void start() {
    if (!reception_.engine_.poller().watch(socket_.get(), EPOLLIN, this).ok()) return reception_.dismiss(this);
    on_ready(0);  // it may have spoken already
  }
  void quit() {
    leave_poller();
    socket_.reset();
  }

 private:
  void on_ready(uint32_t) override {
    const auto state = handshake_.advance(socket_.get());
    if (state.ok() && *state != net::Handshake::State::kDone)
      return reception_.engine_.poller().change(socket_.get(), events_for(*state));
    leave_poller();
    if (state.ok()) {
      reception_.engine_.moved();
      reception_.admit_(std::move(socket_), handshake_.peer_hello());
    }
    reception_.dismiss(this);
  }
  void leave_poller() {
    if (socket_.get() >= 0) reception_.engine_.poller().forget(socket_.get());
  }

  Reception& reception_;
  net::Fd socket_;
  net::Handshake handshake_;
};

Reception::Reception(Engine& engine, const Secret& secret, std::string purpose, size_t most_guests, Admit admit)
    : engine_(engine),
      secret_(secret),
      purpose_(std::move(purpose)),
      most_guests_(most_guests),
      admit_(std::move(admit)) {}

Reception::~Reception() = default;

Status Reception::listen(net::Fd listener) {
  listeners_.push_back(std::make_unique<Listener>(*this, std::move(listener)));
  return listeners_.back()->start();
}

void Reception::welcome(net::Fd socket) {
  if (guests_.size() >= most_guests_) dismiss(guests_.front().get());
  guests_.push_back(std::make_unique<Guest>(*this, std::move(socket)));
  pending_.store(guests_.size(), std::memory_order_relaxed);
  guests_.back()->start();
}

void Reception::dismiss(Guest* guest) {
  const auto at = std::find_if(guests_.begin(), guests_.end(), [guest](const auto& g) { return g.get() == guest; });
  if (at == guests_.end()) return;
  guest->quit();
  dismissed_.push_back(std::move(*at));
  guests_.erase(at);
  pending_.store(guests_.size(), std::memory_order_relaxed);
}

Approach::Approach(Engine& engine, net::Fd socket, const Secret& secret, std::string purpose,
                   std::vector<std::byte> greeting, Done done)
    : engine_(engine),
      socket_(std::move(socket)),
      handshake_(net::Handshake::Side::kClient, secret, std::move(purpose), std::move(greeting)),
      done_(std::move(done)) {}

Approach::~Approach() {
  if (socket_.get() >= 0) engine_.poller().forget(socket_.get());
}

void Approach::start() {
  if (Status status = engine_.poller().watch(socket_.get(), EPOLLOUT, this); !status.ok()) finish(std::move(status));
}

void Approach::on_ready(uint32_t) {
  if (!connected_) {
    int cause = 0;
    socklen_t size = sizeof cause;
    getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &cause, &size);
    if (cause != 0) return finish(system_error(cause, "connect"));
    connected_ = true;
  }
  const auto state = handshake_.advance(socket_.get());
  if (!state.ok()) return finish(state.status());
  if (*state == net::Handshake::State::kDone) return finish({});
  engine_.poller().change(socket_.get(), events_for(*state));
}

void Approach::finish(Status status) {
  engine_.poller().forget(socket_.get());
  engine_.moved();
  if (status.ok())
    done_(std::move(socket_));
  else
    done_(std::move(status));
}

}  // namespace tutti::transport
