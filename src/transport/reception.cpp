#include "transport/reception.h"

#include <sys/epoll.h>

#include <algorithm>

#include "base/net/socket.h"

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
      auto guest = net::accept_connection(socket_.get());
      if (!guest.ok()) return close_door(guest.status());
      if (!guest->valid()) return;
      reception_.welcome(std::move(guest).value());
    }
  }
  // Most likely out of descriptors. The listener would be reported ready for ever, and nobody can be let in.
  void close_door(const Status& status) {
    reception_.engine_.fail(-1, status);
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
        handshake_(net::Handshake::Side::kAcceptor, reception.secret_, reception.purpose_, {}) {}
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

Reception::Reception(Engine& engine, const net::Secret& secret, std::string purpose, size_t most_guests, Admit admit)
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

Approach::Approach(Engine& engine, net::Fd socket, std::string to, const net::Secret& secret, std::string purpose,
                   std::vector<std::byte> greeting, Done done)
    : engine_(engine),
      to_(std::move(to)),
      socket_(std::move(socket)),
      handshake_(net::Handshake::Side::kInitiator, secret, std::move(purpose), std::move(greeting)),
      done_(std::move(done)) {}

Approach::~Approach() {
  if (socket_.get() >= 0) engine_.poller().forget(socket_.get());
}

void Approach::start() {
  if (Status status = engine_.poller().watch(socket_.get(), EPOLLOUT, this); !status.ok()) finish(std::move(status));
}

void Approach::on_ready(uint32_t) {
  if (!connected_) {
    if (Status status = net::connect_result(socket_.get(), to_); !status.ok()) return finish(std::move(status));
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
