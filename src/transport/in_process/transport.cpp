#include "transport/in_process/transport.h"

#include "transport/blob.h"
#include "transport/end_table.h"
#include "transport/failure_log.h"
#include "transport/identity.h"
#include "transport/in_process/connection.h"
#include "transport/in_process/mailbox.h"

namespace tutti::transport {
namespace in_process {
namespace {

class InProcessTransport final : public Transport {
 public:
  InProcessTransport(const InProcessOptions& options, const Identity& identity)
      : options_(options), identity_(identity), mailbox_(std::make_shared<Mailbox>(options.doorbell)) {
    enter(identity_, mailbox_);
  }
  ~InProcessTransport() override {
    leave(identity_);
    mailbox_->close();
  }

  std::string_view name() const override { return "in_process"; }
  std::vector<std::byte> address() const override { return BlobWriter().put(identity_).take(); }
  Status start(std::span<const Peer> peers, std::span<const std::vector<std::byte>> addresses) override;
  Status reaches(int peer) const override;

  SendEnd* sender(int peer) override;
  RecvEnd* receiver(int peer) override;
  std::vector<int> receivers() const override { return receivers_.ranks(); }

  bool progress() override;
  bool needs_progress() const override { return !mailbox_->empty(); }
  bool carries() const override { return false; }
  int wait_descriptor() const override { return -1; }

  bool failed() const override { return failures_.any(); }
  std::vector<Failure> failures() const override { return failures_.list(); }

  Result<Registration> register_memory(void* address, size_t bytes, MemoryKind kind) override {
    return Registration{address, bytes, kind, 0, {}};
  }
  Status deregister_memory(const Registration&) override { return {}; }

 private:
  Result<std::shared_ptr<Connection>> connect(int peer);
  void fail(int peer, Status status) { failures_.add(peer, std::move(status), options_.doorbell->doorbell()); }

  const InProcessOptions options_;
  const Identity identity_;
  const std::shared_ptr<Mailbox> mailbox_;
  std::vector<Peer> peers_;
  std::vector<Identity> identities_;  // by rank; zero: of another kind
  std::mutex mutex_;                  // making ends
  EndTable<Sender> senders_;
  EndTable<Receiver> receivers_;
  FailureLog failures_;
};

Status InProcessTransport::start(std::span<const Peer> peers, std::span<const std::vector<std::byte>> addresses) {
  if (peers.size() != addresses.size() || options_.rank < 0 || static_cast<size_t>(options_.rank) >= peers.size())
    return error(Code::kInternalError, "in_process: rank {} starts with {} peers and {} addresses", options_.rank,
                 peers.size(), addresses.size());
  peers_.assign(peers.begin(), peers.end());
  identities_.resize(peers.size());
  for (size_t rank = 0; rank < addresses.size(); ++rank) {
    if (addresses[rank].empty()) continue;
    if (!BlobReader(addresses[rank]).get(identities_[rank]))
      return error(Code::kRemoteError, "in_process: {} sent an address of {} bytes", peers[rank].name(),
                   addresses[rank].size());
  }
  senders_.resize(peers.size());
  receivers_.resize(peers.size());
  return {};
}

Status InProcessTransport::reaches(int peer) const {
  if (!senders_.valid(peer)) return error(Code::kInvalidArgument, "in_process: there is no rank {}", peer);
  const auto& other = peers_[static_cast<size_t>(peer)];
  if (other.process != peers_[static_cast<size_t>(options_.rank)].process)
    return error(Code::kInvalidUsage, "in_process: {} is in another process", other.name());
  if (identities_[static_cast<size_t>(peer)] == Identity{})
    return error(Code::kInvalidUsage, "in_process: {} does not offer this transport", other.name());
  return {};
}

Result<std::shared_ptr<Connection>> InProcessTransport::connect(int peer) {
  TUTTI_RETURN_IF_ERROR(reaches(peer));
  const auto gone = [&] {
    return error(Code::kRemoteError, "{} has left the communicator", peers_[static_cast<size_t>(peer)].name());
  };
  const std::shared_ptr<Mailbox> mailbox = find(identities_[static_cast<size_t>(peer)]);
  if (mailbox == nullptr) return gone();
  TUTTI_ASSIGN_OR_RETURN(RingMemory memory, RingMemory::anonymous(options_.shape));
  auto connection = std::make_shared<Connection>(std::move(memory), options_.doorbell, mailbox->bell());
  if (!mailbox->deliver(options_.rank, connection)) return gone();
  return connection;
}

SendEnd* InProcessTransport::sender(int peer) {
  if (Sender* end = senders_.find(peer)) return end;
  if (!senders_.valid(peer)) return nullptr;
  std::lock_guard lock(mutex_);
  if (Sender* end = senders_.find(peer)) return end;
  auto connection = connect(peer);
  if (!connection.ok()) fail(peer, connection.status());
  auto end = std::make_unique<Sender>(connection.ok() ? *connection : nullptr, options_.shape);
  return senders_.publish(peer, std::move(end));
}

RecvEnd* InProcessTransport::receiver(int peer) {
  if (Receiver* end = receivers_.find(peer)) return end;
  if (mailbox_->empty()) return nullptr;
  progress();
  return receivers_.find(peer);
}

bool InProcessTransport::progress() {
  if (mailbox_->empty()) return false;
  std::lock_guard lock(mutex_);
  bool moved = false;
  for (auto& [sender, connection] : mailbox_->collect()) {
    if (!receivers_.valid(sender) || receivers_.find(sender) != nullptr) continue;
    receivers_.publish(sender, std::make_unique<Receiver>(std::move(connection), options_.shape));
    moved = true;
  }
  return moved;
}

}  // namespace
}  // namespace in_process

Result<std::unique_ptr<Transport>> make_in_process_transport(const InProcessOptions& options) {
  TUTTI_RETURN_IF_ERROR(check(options.shape));
  if (options.doorbell == nullptr)
    return error(Code::kInternalError, "in_process: rank {} has no doorbell", options.rank);
  TUTTI_ASSIGN_OR_RETURN(const Identity identity, random_identity());
  return std::unique_ptr<Transport>(std::make_unique<in_process::InProcessTransport>(options, identity));
}

}  // namespace tutti::transport
