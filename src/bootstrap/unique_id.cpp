#include "bootstrap/unique_id.h"

#include <sodium.h>

#include <cstring>

#include "base/log.h"

namespace tutti::bootstrap {

namespace {

constexpr char kMagic[8] = {'T', 'U', 'T', 'T', 'I', 'i', 'd', 1};
constexpr size_t kSecretAt = sizeof kMagic;
constexpr size_t kAddressAt = kSecretAt + sizeof(net::Secret);
constexpr size_t kAgreedAt = kAddressAt + net::SocketAddress::kBytes;

// A secret that a person made may be guessed, and whoever listens in on a handshake can try guesses at home: each one
// then costs him this much (Argon2id, RFC 9106). Every rank pays once a communicator, also the 500 that may share two
// cores, hence not more: about 15 ms.
constexpr unsigned long long kDeriveOperations = 3;
constexpr size_t kDeriveBytes = size_t{8} << 20;
constexpr unsigned char kSalt[crypto_pwhash_SALTBYTES + 1] = "tutti secret v1.";  // all ranks must derive the same

Result<net::Secret> derive(std::string_view text) {
  net::Secret secret;
  if (crypto_pwhash(secret.data(), secret.size(), text.data(), text.size(), kSalt, kDeriveOperations, kDeriveBytes,
                    crypto_pwhash_ALG_ARGON2ID13) != 0)
    return error(Code::kSystemError, "TUTTI_SECRET: no {} MiB of memory to derive the key", kDeriveBytes >> 20);
  return secret;
}

}  // namespace

UniqueIdBytes encode(const UniqueId& id) {
  UniqueIdBytes bytes{};
  std::memcpy(bytes.data(), kMagic, sizeof kMagic);
  std::memcpy(bytes.data() + kSecretAt, id.secret.data(), id.secret.size());
  const std::vector<std::byte> address = id.address.to_bytes();
  std::memcpy(bytes.data() + kAddressAt, address.data(), address.size());
  bytes[kAgreedAt] = id.agreed ? 1 : 0;
  return bytes;
}

Result<UniqueId> decode(const UniqueIdBytes& bytes) {
  if (std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0)
    return Status(Code::kInvalidArgument, "the unique id was not made by Tutti's ncclGetUniqueId (of this version)");
  UniqueId id;
  std::memcpy(id.secret.data(), bytes.data() + kSecretAt, id.secret.size());
  TUTTI_ASSIGN_OR_RETURN(id.address,
                         net::SocketAddress::from_bytes(std::as_bytes(std::span(bytes)).subspan(kAddressAt)));
  id.agreed = bytes[kAgreedAt] != 0;
  return id;
}

Result<UniqueId> agreed_id(const Config& config) {
  UniqueId id;
  id.agreed = true;
  Result<net::SocketAddress> address = net::SocketAddress::parse(*config.comm_id, config.socket_family);
  if (!address.ok())
    return error(Code::kInvalidArgument, "NCCL_COMM_ID=\"{}\": {}", *config.comm_id, address.status().text());
  id.address = *address;
  if (config.secret.has_value()) {
    TUTTI_ASSIGN_OR_RETURN(id.secret, derive(*config.secret));
    return id;
  }
  if (!id.address.is_loopback() && !config.insecure)
    return error(
        Code::kInvalidUsage,
        "NCCL_COMM_ID={} is not a loopback address and carries no secret: set TUTTI_SECRET (or TUTTI_SECRET_FILE) "
        "to the same value on all ranks, or TUTTI_INSECURE=1 to let anyone in",
        *config.comm_id);
  if (!id.address.is_loopback())
    log_warn("TUTTI_INSECURE=1: whoever reaches {} can join the communicator", id.address.to_string());
  return id;  // the secret that everybody knows: zeros
}

}  // namespace tutti::bootstrap
