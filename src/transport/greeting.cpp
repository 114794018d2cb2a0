#include "transport/greeting.h"

#include "transport/blob.h"

namespace tutti::transport {
namespace {

constexpr uint32_t kVersion = 1;

std::string describe(const QueueShape& shape) {
  return fmt::format("{} flights x {} lanes, {} slots of {} bytes", shape.flights, shape.lanes, shape.depth,
                     shape.slot_bytes);
}

}  // namespace

std::vector<std::byte> Greeting::encode() const {
  return BlobWriter().put(kVersion).put(receiver).put(sender).put(wire).put(wires).put(shape).take();
}

Result<Greeting> Greeting::decode(std::span<const std::byte> bytes) {
  Greeting greeting;
  uint32_t version = 0;
  BlobReader reader(bytes);
  if (!reader.get(version) || version != kVersion)
    return error(Code::kRemoteError, "a greeting of version {} instead of {}", version, kVersion);
  if (!reader.get(greeting.receiver) || !reader.get(greeting.sender) || !reader.get(greeting.wire) ||
      !reader.get(greeting.wires) || !reader.get(greeting.shape) || !reader.empty())
    return error(Code::kRemoteError, "a greeting of {} bytes", bytes.size());
  return greeting;
}

Status check(const Greeting& greeting, const Identity& self, const QueueShape& shape, std::span<const Peer> peers) {
  if (greeting.receiver != self) return error(Code::kRemoteError, "a greeting for a transport that is gone");
  if (greeting.sender < 0 || static_cast<size_t>(greeting.sender) >= peers.size())
    return error(Code::kRemoteError, "a greeting from rank {} of {}", greeting.sender, peers.size());
  if (greeting.shape != shape)
    return error(Code::kInvalidUsage, "{} has queues of {}, this rank of {}",
                 peers[static_cast<size_t>(greeting.sender)].name(), describe(greeting.shape), describe(shape));
  return {};
}

}  // namespace tutti::transport
