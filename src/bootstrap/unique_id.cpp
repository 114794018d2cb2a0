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

net::Secret derive(std::string_view text) {
  net::Secret secret;
  crypto_generichash(secret.data(), secret.size(), reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                     nullptr, 0);
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
    id.secret = derive("tutti secret " + *config.secret);
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
  id.secret = derive("tutti without a secret");
  return id;
}

}  // namespace tutti::bootstrap
