// Mutual proof that both ends of a connected stream socket know a secret, before anything else is believed.
//
//   initiator -> acceptor   greeting: magic, version, byte order, nonce Ni
//   acceptor -> initiator   the same with nonce Na
//   initiator -> acceptor   hello Hi, MAC(key, "initiator", purpose, Ni, Na, Hi)
//   acceptor -> initiator   hello Ha, MAC(key, "acceptor", purpose, Ni, Na, Hi, Ha)
//
// MAC: BLAKE2b keyed with the secret (libsodium, crypto_generichash). The secret never travels, a stranger learns only
// random numbers, a recording proves nothing for other nonces, and a reflected message fails because the sides are in
// the MAC. `purpose` keeps a proof made for one thing (say, rendezvous) from being used for another.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tutti::net {

using Secret = std::array<unsigned char, 32>;

// A state machine that never blocks. Reads not a byte beyond its own messages. Not thread safe.
class Handshake {
 public:
  enum class Side { kInitiator, kAcceptor };
  enum class State { kWantRead, kWantWrite, kDone };
  static constexpr size_t kMostHello = 1024;

  // hello: what this side tells the other under the proof; at most kMostHello bytes.
  Handshake(Side side, const Secret& secret, std::string_view purpose, std::vector<std::byte> hello);

  // Goes on as far as the socket allows. An error is final: close the socket.
  Result<State> advance(int fd);
  // The other side's hello; only after kDone.
  const std::vector<std::byte>& peer_hello() const { return peer_hello_; }

 private:
  enum class Phase { kSendGreeting, kReadGreeting, kSendProof, kReadProofHead, kReadProofBody, kDone };
  static constexpr size_t kNonce = 32;
  static constexpr size_t kMac = 32;
  static constexpr size_t kGreeting = 8 + kNonce;

  void begin(Phase phase);
  Status finish_phase();
  Status check_greeting();
  Status check_proof();
  std::array<unsigned char, kMac> mac(Side side) const;
  Phase after(Phase phase) const;

  const Side side_;
  const Secret secret_;
  const std::string purpose_;
  const std::vector<std::byte> hello_;
  std::vector<std::byte> peer_hello_;
  std::array<unsigned char, kNonce> nonce_{};
  std::array<unsigned char, kNonce> peer_nonce_{};
  Phase phase_ = Phase::kSendGreeting;
  std::vector<std::byte> buffer_;  // of the phase
  size_t moved_ = 0;               // bytes of it read or written
};

}  // namespace tutti::net
