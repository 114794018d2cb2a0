#include "transport/shm/transport.h"

#include "base/net/socket.h"
#include "transport/blob.h"
#include "transport/end_table.h"
#include "transport/greeting.h"
#include "transport/reception.h"
#include "transport/shm/connection.h"
#include "transport/shm/meeting.h"
#include "transport/shm/place.h"

namespace tutti::transport {
namespace shm {
namespace {

constexpr char kPurpose[] = "tutti shm 1";
constexpr size_t kMostGuests = 4096;

struct Address {
  Identity identity{};
  Place place;
  std::string socket;  // name of the abstract unix socket
};

class ShmTransport final : public Transport {
 public:
  ShmTransport(const ShmOptions& options, const Identity& identity, std::unique_ptr<Engine> engine,
               net::UnixListener listener)
      : options_(options),
        self_{identity, this_place(), std::move(listener.name)},
        engine_(std::move(engine)),
        listener_(std::move(listener.fd)) {}

  std::string_view name() const override { return "shm"; }
  std::vector<std::byte> address() const override {
    return BlobWriter().put(self_.identity).put(self_.place).put_string(self_.socket).take();
  }
  Status start(std::span<const Peer> peers, std::span<const std::vector<std::byte>> addresses) override;
  Status reaches(int peer) const override;

  SendEnd* sender(int peer) override;
  RecvEnd* receiver(int peer) override;
  std::vector<int> receivers() const override { return receivers_.ranks(); }

  bool progress() override { return engine_->progress(); }
  bool needs_progress() const override { return unfinished_.load(std::memory_order_relaxed) != 0; }
  bool carries() const override { return false; }
  int wait_descriptor() const override { return engine_->descriptor(); }

  bool failed() const override { return engine_->failures().any(); }
  std::vector<Failure> failures() const override { return engine_->failures().list(); }

  Result<Registration> register_memory(void* address, size_t bytes, MemoryKind kind) override {
    return Registration{address, bytes, kind, 0, {}};
  }
  Status deregister_memory(const Registration&) override { return {}; }

 private:
  // A connection that is being made to `peer`; gone when it is there or has failed.
  class Departure;

  const Peer& peer(int rank) const { return peers_[static_cast<size_t>(rank)]; }
  void admit(net::Fd socket, const std::vector<std::byte>& bytes);
  void taken(int rank, Result<Taking::Given> given);
  void no_longer_missed(int rank);

  const ShmOptions options_;
  const Address self_;
  const std::unique_ptr<Engine> engine_;
  net::Fd listener_;  // until start()
  std::vector<Peer> peers_;
  std::vector<Address> addresses_;  // by rank; identity zero: of another kind
  std::atomic<int> unfinished_{0};  // connections that are being made, or are missed by receiver()
  std::mutex mutex_;                // making senders
  EndTable<Sender> senders_;
  std::vector<std::unique_ptr<Departure>> departures_;
  EndTable<Receiver> receivers_;
  std::vector<std::unique_ptr<Taking>> takings_;  // by rank
  std::vector<std::atomic<bool>> missed_;         // receiver() was asked for and is not there
  std::unique_ptr<Reception> reception_;
};

// Under the claim once it runs; made by sender().
class ShmTransport::Departure final : public Task {
 public:
  Departure(ShmTransport& transport, int rank, Sender* end) : transport_(transport), rank_(rank), end_(end) {}
  void run() override { connect(); }

 private:
  void connect();
  void proved(Result<net::Fd> socket);
  void open(Result<Offering::Taken> taken);
  void fail(const Status& status);

  ShmTransport& transport_;
  const int rank_;
  Sender* const end_;
  std::unique_ptr<Approach> approach_;
  std::unique_ptr<Offering> offering_;
};

void ShmTransport::Departure::connect() {
  if (Status status = transport_.reaches(rank_); !status.ok()) return fail(status);
  const Address& address = transport_.addresses_[static_cast<size_t>(rank_)];
  auto socket = net::connect_unix(address.socket);
  if (socket.status().code() == Code::kInProgress) return transport_.engine_->run_later(*this);  // full backlog
  if (!socket.ok()) return fail(socket.status());
  Greeting greeting;
  greeting.receiver = address.identity;
  greeting.sender = transport_.options_.rank;
  greeting.shape = transport_.options_.shape;
  approach_ = std::make_unique<Approach>(*transport_.engine_, std::move(socket).value(), "@" + address.socket,
                                         transport_.options_.secret, kPurpose, greeting.encode(),
                                         [this](Result<net::Fd> proof) { proved(std::move(proof)); });
  approach_->start();
}

void ShmTransport::Departure::proved(Result<net::Fd> socket) {
  if (!socket.ok()) return fail(socket.status());
  offering_ = std::make_unique<Offering>(*transport_.engine_, std::move(socket).value(), transport_.options_.shape,
                                         [this](Result<Offering::Taken> taken) { open(std::move(taken)); });
  offering_->start();
}

void ShmTransport::Departure::open(Result<Offering::Taken> taken) {
  if (!taken.ok()) return fail(taken.status());
  end_->open(std::move(taken->memory), transport_.options_.shape, std::move(taken->peer_bell), std::move(taken->socket),
             taken->readable);
  transport_.unfinished_.fetch_sub(1, std::memory_order_relaxed);
  transport_.engine_->bell().ring();
}

void ShmTransport::Departure::fail(const Status& status) {
  transport_.unfinished_.fetch_sub(1, std::memory_order_relaxed);
  transport_.engine_->fail(
      rank_, error(Code::kRemoteError, "no shm connection to {}: {}", transport_.peer(rank_).name(), status.text()));
}

Status ShmTransport::start(std::span<const Peer> peers, std::span<const std::vector<std::byte>> addresses) {
  if (peers.size() != addresses.size() || options_.rank < 0 || static_cast<size_t>(options_.rank) >= peers.size())
    return error(Code::kInternalError, "shm: rank {} starts with {} peers and {} addresses", options_.rank,
                 peers.size(), addresses.size());
  peers_.assign(peers.begin(), peers.end());
  addresses_.resize(peers.size());
  for (size_t rank = 0; rank < addresses.size(); ++rank) {
    if (addresses[rank].empty()) continue;
    BlobReader reader(addresses[rank]);
    Address& address = addresses_[rank];
    if (!reader.get(address.identity) || !reader.get(address.place) || !reader.get_string(address.socket))
      return error(Code::kRemoteError, "shm: {} sent an address of {} bytes", peers[rank].name(),
                   addresses[rank].size());
  }
  senders_.resize(peers.size());
  receivers_.resize(peers.size());
  takings_.resize(peers.size());
  missed_ = std::vector<std::atomic<bool>>(peers.size());
  reception_ = std::make_unique<Reception>(
      *engine_, options_.secret, kPurpose, kMostGuests,
      [this](net::Fd socket, const std::vector<std::byte>& greeting) { admit(std::move(socket), greeting); });
  return reception_->listen(std::move(listener_));
}

Status ShmTransport::reaches(int rank) const {
  if (!senders_.valid(rank)) return error(Code::kInvalidArgument, "shm: there is no rank {}", rank);
  if (rank == options_.rank) return error(Code::kInvalidUsage, "shm: rank {} is this rank", rank);
  const Address& other = addresses_[static_cast<size_t>(rank)];
  const auto differ = [](uint64_t a, uint64_t b) { return a != 0 && b != 0 && a != b; };
  if (peer(rank).host != peer(options_.rank).host)
    return error(Code::kInvalidUsage, "shm: {} is on another host", peer(rank).name());
  if (other.identity == Identity{})
    return error(Code::kInvalidUsage, "shm: {} does not offer this transport", peer(rank).name());
  if (differ(other.place.boot, self_.place.boot))
    return error(Code::kInvalidUsage, "shm: {} has this rank's host id, but runs under another kernel",
                 peer(rank).name());
  if (differ(other.place.network_namespace, self_.place.network_namespace))
    return error(Code::kInvalidUsage, "shm: {} is in another network namespace ({} instead of {})", peer(rank).name(),
                 other.place.network_namespace, self_.place.network_namespace);
  return {};
}

SendEnd* ShmTransport::sender(int rank) {
  if (Sender* end = senders_.find(rank)) return end;
  if (!senders_.valid(rank)) return nullptr;
  Departure* departure = nullptr;
  Sender* end = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (Sender* made = senders_.find(rank)) return made;
    end = senders_.publish(rank, std::make_unique<Sender>(*engine_, peer(rank), options_.lend));
    departures_.push_back(std::make_unique<Departure>(*this, rank, end));
    departure = departures_.back().get();
    unfinished_.fetch_add(1, std::memory_order_relaxed);
  }
  engine_->run_soon(*departure);
  return end;
}

RecvEnd* ShmTransport::receiver(int rank) {
  if (Receiver* end = receivers_.find(rank)) return end;
  if (!receivers_.valid(rank)) return nullptr;
  std::atomic<bool>& missed = missed_[static_cast<size_t>(rank)];
  if (!missed.load(std::memory_order_relaxed) && !missed.exchange(true)) unfinished_.fetch_add(1);
  Receiver* end = receivers_.find(rank);  // it may have come before it was missed
  if (end != nullptr) no_longer_missed(rank);
  return end;
}

void ShmTransport::no_longer_missed(int rank) {
  if (missed_[static_cast<size_t>(rank)].exchange(false)) unfinished_.fetch_sub(1);
}

void ShmTransport::admit(net::Fd socket, const std::vector<std::byte>& bytes) {
  const auto greeting = Greeting::decode(bytes);
  if (!greeting.ok()) return;
  const Status status = check(*greeting, self_.identity, options_.shape, peers_);
  if (status.code() == Code::kInvalidUsage) engine_->fail(greeting->sender, status);
  if (!status.ok()) return;
  auto& taking = takings_[static_cast<size_t>(greeting->sender)];
  if (taking != nullptr) return;  // one connection for each rank
  taking = std::make_unique<Taking>(
      *engine_, std::move(socket), options_.shape,
      [this, rank = greeting->sender](Result<Taking::Given> given) { taken(rank, std::move(given)); });
  taking->start();
}

void ShmTransport::taken(int rank, Result<Taking::Given> given) {
  if (!given.ok())
    return engine_->fail(
        rank, error(Code::kRemoteError, "no shm connection from {}: {}", peer(rank).name(), given.status().text()));
  Receiver* end =
      receivers_.publish(rank, std::make_unique<Receiver>(*engine_, peer(rank), given->pid, std::move(given->memory),
                                                          options_.shape, std::move(given->peer_bell)));
  end->watch(std::move(given->socket));
  no_longer_missed(rank);
  engine_->bell().ring();
}

}  // namespace
}  // namespace shm

Result<std::unique_ptr<Transport>> make_shm_transport(const ShmOptions& options) {
  TUTTI_RETURN_IF_ERROR(check(options.shape));
  if (options.doorbell == nullptr || options.doorbell->descriptor() < 0)
    return error(Code::kInternalError, "shm: rank {} has no doorbell that other processes can ring", options.rank);
  TUTTI_ASSIGN_OR_RETURN(const Identity identity, random_identity());
  TUTTI_ASSIGN_OR_RETURN(auto engine, Engine::create(options.doorbell));
  // From now on peers may connect; they wait in the backlog until start().
  TUTTI_ASSIGN_OR_RETURN(net::UnixListener listener, net::listen_unix());
  return std::unique_ptr<Transport>(
      std::make_unique<shm::ShmTransport>(options, identity, std::move(engine), std::move(listener)));
}

}  // namespace tutti::transport
