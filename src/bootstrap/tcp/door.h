// A listening socket and those who knock at it: each proves that it knows the secret before anybody hears of it.
// Strangers are few, wait not for long, and disturb nobody. Not thread safe; never blocks.
#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/net/fd.h"
#include "base/net/handshake.h"
#include "bootstrap/bootstrap.h"

namespace tutti::bootstrap {

class Door {
 public:
  Door(net::Fd listener, const net::Secret& secret, std::string_view purpose)
      : listener_(std::move(listener)), secret_(secret), purpose_(purpose) {}

  // What to poll for: the listener and everybody who is proving.
  void add_to(std::vector<pollfd>* fds) const;
  // Lets in whoever has come, and hands over everyone whose proof is complete, with what he said under it.
  using Admit = std::function<void(net::Fd socket, const Bytes& hello)>;
  void serve(const Admit& admit);
  // True while somebody is proving.
  bool occupied() const { return !guests_.empty(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Guest {
    Guest(net::Fd fd, const net::Secret& secret, const std::string& purpose)
        : socket(std::move(fd)), handshake(net::Handshake::Side::kAcceptor, secret, purpose, {}) {}
    net::Fd socket;  // invalid: has been admitted or turned away
    net::Handshake handshake;
    short events = POLLIN;
    Clock::time_point since = Clock::now();
  };

  void accept_all();
  void advance(Guest& guest, const Admit& admit);

  const net::Fd listener_;
  const net::Secret secret_;
  const std::string purpose_;
  std::vector<std::unique_ptr<Guest>> guests_;  // oldest first
  Clock::time_point closed_until_{};            // accept failed (no descriptor left, say): not asked again before
};

}  // namespace tutti::bootstrap
