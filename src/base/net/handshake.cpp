#include "base/net/handshake.h"

#include <sodium.h>
#include <sys/socket.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace tutti::net {

namespace {

constexpr unsigned char kMagic[6] = {'T', 'u', 't', 't', 'i', '\n'};
constexpr unsigned char kVersion = 1;
constexpr unsigned char kByteOrder = std::endian::native == std::endian::little ? 1 : 2;

}  // namespace

Handshake::Handshake(Side side, const Secret& secret, std::string_view purpose, std::vector<std::byte> hello)
    : side_(side), secret_(secret), purpose_(purpose), hello_(std::move(hello)) {
  // Idempotent; a system without randomness is caught by whoever made the secret.
  [[maybe_unused]] const int ready = sodium_init();
  randombytes_buf(nonce_.data(), nonce_.size());
  begin(side_ == Side::kInitiator ? Phase::kSendGreeting : Phase::kReadGreeting);
}

Handshake::Phase Handshake::after(Phase phase) const {
  const bool initiator = side_ == Side::kInitiator;
  switch (phase) {
    case Phase::kSendGreeting: return initiator ? Phase::kReadGreeting : Phase::kReadProofHead;
    case Phase::kReadGreeting: return initiator ? Phase::kSendProof : Phase::kSendGreeting;
    case Phase::kSendProof: return initiator ? Phase::kReadProofHead : Phase::kDone;
    case Phase::kReadProofHead: return Phase::kReadProofBody;
    case Phase::kReadProofBody: return initiator ? Phase::kDone : Phase::kSendProof;
    case Phase::kDone: break;
  }
  return Phase::kDone;
}

void Handshake::begin(Phase phase) {
  phase_ = phase;
  moved_ = 0;
  switch (phase) {
    case Phase::kSendGreeting:
      buffer_.resize(kGreeting);
      std::memcpy(buffer_.data(), kMagic, sizeof kMagic);
      buffer_[6] = std::byte{kVersion};
      buffer_[7] = std::byte{kByteOrder};
      std::memcpy(buffer_.data() + 8, nonce_.data(), kNonce);
      break;
    case Phase::kReadGreeting: buffer_.resize(kGreeting); break;
    case Phase::kSendProof: {
      const auto size = static_cast<uint16_t>(hello_.size());
      const auto proof = mac(side_);
      buffer_.resize(2 + hello_.size() + kMac);
      buffer_[0] = static_cast<std::byte>(size & 0xff);
      buffer_[1] = static_cast<std::byte>(size >> 8);
      std::copy(hello_.begin(), hello_.end(), buffer_.begin() + 2);
      std::memcpy(buffer_.data() + 2 + hello_.size(), proof.data(), kMac);
      break;
    }
    case Phase::kReadProofHead: buffer_.resize(2); break;
    case Phase::kReadProofBody:
      buffer_.resize(std::to_integer<size_t>(buffer_[0]) + (std::to_integer<size_t>(buffer_[1]) << 8) + kMac);
      break;
    case Phase::kDone: buffer_.clear(); break;
  }
}

std::array<unsigned char, Handshake::kMac> Handshake::mac(Side side) const {
  const bool mine = side == side_;
  const auto& initiator_nonce = side_ == Side::kInitiator ? nonce_ : peer_nonce_;
  const auto& acceptor_nonce = side_ == Side::kInitiator ? peer_nonce_ : nonce_;
  crypto_generichash_state state;
  crypto_generichash_init(&state, secret_.data(), secret_.size(), kMac);
  // Every field is preceded by its length, so that no two different inputs look alike.
  const auto add = [&state](const void* data, size_t size) {
    const uint64_t length = size;
    unsigned char bytes[8];
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<unsigned char>(length >> (8 * i));
    crypto_generichash_update(&state, bytes, sizeof bytes);
    crypto_generichash_update(&state, static_cast<const unsigned char*>(data), size);
  };
  const std::string_view name = side == Side::kInitiator ? "initiator" : "acceptor";
  add(name.data(), name.size());
  add(purpose_.data(), purpose_.size());
  add(initiator_nonce.data(), initiator_nonce.size());
  add(acceptor_nonce.data(), acceptor_nonce.size());
  const std::vector<std::byte>& first = side_ == Side::kInitiator ? hello_ : peer_hello_;
  add(first.data(), first.size());
  if (side == Side::kAcceptor) {
    const std::vector<std::byte>& second = mine ? hello_ : peer_hello_;
    add(second.data(), second.size());
  }
  std::array<unsigned char, kMac> result;
  crypto_generichash_final(&state, result.data(), result.size());
  return result;
}

Status Handshake::check_greeting() {
  if (std::memcmp(buffer_.data(), kMagic, sizeof kMagic) != 0)
    return Status(Code::kRemoteError, "a stranger: the connection does not begin as Tutti's do");
  if (buffer_[6] != std::byte{kVersion})
    return error(Code::kRemoteError, "the peer speaks handshake version {}, this side {}",
                 std::to_integer<int>(buffer_[6]), kVersion);
  if (buffer_[7] != std::byte{kByteOrder})
    return Status(Code::kRemoteError, "the peer's machine has the other byte order");
  std::memcpy(peer_nonce_.data(), buffer_.data() + 8, kNonce);
  return {};
}

Status Handshake::check_proof() {
  peer_hello_.assign(buffer_.begin(), buffer_.end() - kMac);
  const auto expected = mac(side_ == Side::kInitiator ? Side::kAcceptor : Side::kInitiator);
  if (sodium_memcmp(expected.data(), buffer_.data() + peer_hello_.size(), kMac) == 0) return {};
  peer_hello_.clear();
  return Status(Code::kRemoteError, "the peer does not know the secret of this communicator");
}

Status Handshake::finish_phase() {
  switch (phase_) {
    case Phase::kReadGreeting: return check_greeting();
    case Phase::kReadProofHead: {
      const size_t size = std::to_integer<size_t>(buffer_[0]) + (std::to_integer<size_t>(buffer_[1]) << 8);
      if (size > kMostHello) return error(Code::kRemoteError, "the peer announces a hello of {} bytes", size);
      return {};
    }
    case Phase::kReadProofBody: return check_proof();
    case Phase::kSendGreeting:
    case Phase::kSendProof:
    case Phase::kDone: break;
  }
  return {};
}

Result<Handshake::State> Handshake::advance(int fd) {
  if (hello_.size() > kMostHello)
    return error(Code::kInternalError, "a hello of {} bytes; at most {} are allowed", hello_.size(), kMostHello);
  while (phase_ != Phase::kDone) {
    const bool sending = phase_ == Phase::kSendGreeting || phase_ == Phase::kSendProof;
    while (moved_ < buffer_.size()) {
      const ssize_t n = sending ? send(fd, buffer_.data() + moved_, buffer_.size() - moved_, MSG_NOSIGNAL)
                                : recv(fd, buffer_.data() + moved_, buffer_.size() - moved_, 0);
      if (n > 0) {
        moved_ += static_cast<size_t>(n);
      } else if (n == 0) {
        return Status(Code::kRemoteError, "the peer closed the connection during the handshake");
      } else if (errno == EAGAIN) {
        return sending ? State::kWantWrite : State::kWantRead;
      } else if (errno != EINTR) {
        return system_error(errno, "handshake");
      }
    }
    TUTTI_RETURN_IF_ERROR(finish_phase());
    begin(after(phase_));
  }
  return State::kDone;
}

}  // namespace tutti::net
