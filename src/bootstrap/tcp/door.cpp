#include "bootstrap/tcp/door.h"

#include "base/log.h"
#include "base/net/socket.h"

namespace tutti::bootstrap {

namespace {

// A member needs a few round trips; with more guests than these the one that has waited longest goes.
constexpr auto kPatience = std::chrono::seconds(10);
constexpr size_t kMostGuests = 1024;
constexpr auto kPauseAfterError = std::chrono::milliseconds(100);

}  // namespace

void Door::add_to(std::vector<pollfd>* fds) const {
  if (Clock::now() >= closed_until_) fds->push_back({listener_.get(), POLLIN, 0});
  for (const auto& guest : guests_) fds->push_back({guest->socket.get(), guest->events, 0});
}

void Door::serve(const Admit& admit) {
  if (Clock::now() >= closed_until_) accept_all();
  for (const auto& guest : guests_) advance(*guest, admit);
  std::erase_if(guests_, [](const auto& guest) { return !guest->socket.valid(); });
}

void Door::accept_all() {
  for (;;) {
    Result<net::Fd> fd = net::accept_connection(listener_.get());
    if (!fd.ok()) {
      log_info(Subsystem::kBootstrap, "{}: {}; trying again soon", purpose_, fd.status().text());
      closed_until_ = Clock::now() + kPauseAfterError;
      return;
    }
    if (!fd->valid()) return;
    net::set_no_delay(fd->get());  // small messages in turn: waiting for each other's acknowledgements costs 40 ms
    if (guests_.size() >= kMostGuests) guests_.erase(guests_.begin());
    guests_.push_back(std::make_unique<Guest>(*std::move(fd), secret_, purpose_));
  }
}

void Door::advance(Guest& guest, const Admit& admit) {
  const Result<net::Handshake::State> state = guest.handshake.advance(guest.socket.get());
  if (!state.ok()) {
    log_info(Subsystem::kBootstrap, "{}: dropped a connection: {}", purpose_, state.status().text());
    guest.socket.reset();
  } else if (*state == net::Handshake::State::kDone) {
    admit(std::move(guest.socket), guest.handshake.peer_hello());
  } else if (Clock::now() - guest.since > kPatience) {
    guest.socket.reset();
  } else {
    guest.events = *state == net::Handshake::State::kWantWrite ? POLLOUT : POLLIN;
  }
}

}  // namespace tutti::bootstrap
