#include "transport/tcp/transport.h"

#include <algorithm>
#include <mutex>

#include "base/net/socket.h"
#include "transport/blob.h"
#include "transport/end_table.h"
#include "transport/greeting.h"
#include "transport/reception.h"
#include "transport/tcp/connection.h"
#include "transport/tcp/route.h"

namespace tutti::transport {
namespace tcp {
namespace {

constexpr char kPurpose[] = "tutti tcp 1";
constexpr size_t kMostGuests = 4096;
constexpr uint32_t kMostSockets = 64;

struct Address {
  Identity identity{};
  std::vector<net::SocketAddress> listeners;
};

class TcpTransport final : public Transport {
 public:
  TcpTransport(const TcpOptions& options, const Identity& identity, std::unique_ptr<Engine> engine)
      : options_(options), identity_(identity), engine_(std::move(engine)) {}
  Status bind();

  std::string_view name() const override { return "tcp"; }
  std::vector<std::byte> address() const override;
  Status start(std::span<const Peer> peers, std::span<const std::vector<std::byte>> addresses) override;
  Status reaches(int rank) const override;

  SendEnd* sender(int rank) override;
  RecvEnd* receiver(int rank) override { return receivers_.find(rank); }
  std::vector<int> receivers() const override { return receivers_.ranks(); }

  bool progress() override { return engine_->progress(); }
  bool needs_progress() const override { return true; }
  bool carries() const override { return true; }
  int wait_descriptor() const override { return engine_->descriptor(); }
  bool has_output() const override { return engine_->has_output(); }
  bool drained() override;

  bool failed() const override { return engine_->failures().any(); }
  std::vector<Failure> failures() const override { return engine_->failures().list(); }

  Result<Registration> register_memory(void* address, size_t bytes, MemoryKind kind) override {
    return Registration{address, bytes, kind, 0, {}};
  }
  Status deregister_memory(const Registration&) override { return {}; }

 private:
  // The wires of a connection that is being made to a peer.
  class Departure;
  // The wires of one that is being made from a peer.
  struct Arrival {
    std::vector<net::Fd> sockets;
    uint32_t there = 0;
  };

  const Peer& peer(int rank) const { return peers_[static_cast<size_t>(rank)]; }
  Result<Address> decode(std::span<const std::byte> blob) const;
  void admit(net::Fd socket, const std::vector<std::byte>& bytes);
  void complete(int rank, Arrival& arrival);

  const TcpOptions options_;
  const Identity identity_;
  const std::unique_ptr<Engine> engine_;
  std::vector<net::Fd> listeners_;  // until start()
  std::vector<net::SocketAddress> listening_;
  std::vector<Peer> peers_;
  std::vector<Address> addresses_;  // by rank; no listeners: does not offer tcp
  std::mutex mutex_;                // making senders
  EndTable<Sender> senders_;
  std::vector<std::unique_ptr<Departure>> departures_;
  EndTable<Receiver> receivers_;
  std::vector<Arrival> arrivals_;  // by rank; under the claim
  std::unique_ptr<Reception> reception_;
};

// Made by sender(); runs under the claim.
class TcpTransport::Departure final : public Task {
 public:
  Departure(TcpTransport& transport, int rank, Sender* end) : transport_(transport), rank_(rank), end_(end) {}
  void run() override;

 private:
  Status connect(uint32_t wire, const Route& route, size_t wires);
  void proved(uint32_t wire, Result<net::Fd> socket);
  void fail(const Status& status);

  TcpTransport& transport_;
  const int rank_;
  Sender* const end_;
  std::vector<std::unique_ptr<Approach>> approaches_;  // by wire
  std::vector<net::Fd> sockets_;
  size_t proved_ = 0;
};

void TcpTransport::Departure::run() {
  if (Status status = transport_.reaches(rank_); !status.ok()) return fail(status);
  const auto& address = transport_.addresses_[static_cast<size_t>(rank_)];
  const auto wires =
      routes(transport_.options_.interfaces, address.listeners, static_cast<size_t>(transport_.options_.sockets));
  sockets_.resize(wires.size());
  for (uint32_t wire = 0; wire < wires.size(); ++wire)
    if (Status status = connect(wire, wires[wire], wires.size()); !status.ok()) return fail(status);
}

Status TcpTransport::Departure::connect(uint32_t wire, const Route& route, size_t wires) {
  TUTTI_ASSIGN_OR_RETURN(net::Fd socket, net::connect_tcp(route.to, route.from));
  Greeting greeting;
  greeting.receiver = transport_.addresses_[static_cast<size_t>(rank_)].identity;
  greeting.sender = transport_.options_.rank;
  greeting.wire = wire;
  greeting.wires = static_cast<uint32_t>(wires);
  greeting.shape = transport_.options_.shape;
  approaches_.push_back(std::make_unique<Approach>(
      *transport_.engine_, std::move(socket), route.to.to_string(), transport_.options_.secret, kPurpose,
      greeting.encode(), [this, wire](Result<net::Fd> proof) { proved(wire, std::move(proof)); }));
  approaches_.back()->start();
  return {};
}

void TcpTransport::Departure::proved(uint32_t wire, Result<net::Fd> socket) {
  if (!socket.ok()) return fail(socket.status());
  sockets_[wire] = std::move(socket).value();
  if (++proved_ < sockets_.size()) return;
  end_->attach(std::move(sockets_));
  end_->set_ready();
}

void TcpTransport::Departure::fail(const Status& status) {
  transport_.engine_->fail(
      rank_, error(Code::kRemoteError, "no tcp connection to {}: {}", transport_.peer(rank_).name(), status.text()));
}

Status TcpTransport::bind() {
  for (net::SocketAddress interface : options_.interfaces) {
    interface.set_port(0);
    TUTTI_ASSIGN_OR_RETURN(net::Fd listener, net::listen_tcp(interface, kMostGuests));
    TUTTI_ASSIGN_OR_RETURN(const net::SocketAddress bound, net::local_address(listener.get()));
    listening_.push_back(bound);
    listeners_.push_back(std::move(listener));
  }
  return {};
}

std::vector<std::byte> TcpTransport::address() const {
  BlobWriter writer;
  writer.put(identity_).put(static_cast<uint32_t>(listening_.size()));
  for (const net::SocketAddress& listener : listening_) {
    const auto bytes = listener.to_bytes();
    std::array<std::byte, net::SocketAddress::kBytes> fixed;
    std::copy_n(bytes.begin(), fixed.size(), fixed.begin());
    writer.put(fixed);
  }
  return writer.take();
}

Result<Address> TcpTransport::decode(std::span<const std::byte> blob) const {
  Address address;
  if (blob.empty()) return address;
  BlobReader reader(blob);
  uint32_t count = 0;
  bool whole = reader.get(address.identity) && reader.get(count);
  for (uint32_t i = 0; whole && i < count; ++i) {
    std::array<std::byte, net::SocketAddress::kBytes> bytes;
    whole = reader.get(bytes);
    if (!whole) break;
    TUTTI_ASSIGN_OR_RETURN(const net::SocketAddress listener, net::SocketAddress::from_bytes(bytes));
    address.listeners.push_back(listener);
  }
  if (!whole || !reader.empty()) return error(Code::kRemoteError, "an address of {} bytes", blob.size());
  return address;
}

Status TcpTransport::start(std::span<const Peer> peers, std::span<const std::vector<std::byte>> addresses) {
  if (peers.size() != addresses.size() || options_.rank < 0 || static_cast<size_t>(options_.rank) >= peers.size())
    return error(Code::kInternalError, "tcp: rank {} starts with {} peers and {} addresses", options_.rank,
                 peers.size(), addresses.size());
  peers_.assign(peers.begin(), peers.end());
  for (size_t rank = 0; rank < addresses.size(); ++rank) {
    auto address = decode(addresses[rank]);
    if (!address.ok()) return error(Code::kRemoteError, "tcp: {} sent {}", peers[rank].name(), address.status().text());
    addresses_.push_back(std::move(address).value());
  }
  senders_.resize(peers.size());
  receivers_.resize(peers.size());
  arrivals_.resize(peers.size());
  reception_ = std::make_unique<Reception>(
      *engine_, options_.secret, kPurpose, kMostGuests,
      [this](net::Fd socket, const std::vector<std::byte>& greeting) { admit(std::move(socket), greeting); });
  for (net::Fd& listener : listeners_) TUTTI_RETURN_IF_ERROR(reception_->listen(std::move(listener)));
  return {};
}

Status TcpTransport::reaches(int rank) const {
  if (!senders_.valid(rank)) return error(Code::kInvalidArgument, "tcp: there is no rank {}", rank);
  if (rank == options_.rank) return error(Code::kInvalidUsage, "tcp: rank {} is this rank", rank);
  const Address& other = addresses_[static_cast<size_t>(rank)];
  if (other.listeners.empty())
    return error(Code::kInvalidUsage, "tcp: {} does not offer this transport", peer(rank).name());
  if (routes(listening_, other.listeners, 1).empty())
    return error(Code::kInvalidUsage, "tcp: {} has no address of a family that this rank has too (it has {})",
                 peer(rank).name(), other.listeners[0].to_string());
  return {};
}

SendEnd* TcpTransport::sender(int rank) {
  if (Sender* end = senders_.find(rank)) return end;
  if (!senders_.valid(rank)) return nullptr;
  Departure* departure = nullptr;
  Sender* end = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (Sender* made = senders_.find(rank)) return made;
    auto memory = RingMemory::anonymous(options_.shape);
    if (!memory.ok()) {
      engine_->fail(rank, memory.status());
      return nullptr;
    }
    end = senders_.publish(rank,
                           std::make_unique<Sender>(*engine_, peer(rank), options_.shape, std::move(memory).value()));
    departures_.push_back(std::make_unique<Departure>(*this, rank, end));
    departure = departures_.back().get();
  }
  engine_->run_soon(*departure);
  return end;
}

void TcpTransport::admit(net::Fd socket, const std::vector<std::byte>& bytes) {
  const auto greeting = Greeting::decode(bytes);
  if (!greeting.ok()) return;
  const Status status = check(*greeting, identity_, options_.shape, peers_);
  if (status.code() == Code::kInvalidUsage) engine_->fail(greeting->sender, status);
  if (!status.ok() || greeting->wires == 0 || greeting->wires > kMostSockets || greeting->wire >= greeting->wires)
    return;
  Arrival& arrival = arrivals_[static_cast<size_t>(greeting->sender)];
  if (arrival.sockets.empty()) arrival.sockets.resize(greeting->wires);
  // A second connection of a rank, or a wire that is there already, is turned away.
  if (arrival.sockets.size() != greeting->wires || arrival.there == greeting->wires ||
      arrival.sockets[greeting->wire].get() >= 0)
    return;
  arrival.sockets[greeting->wire] = std::move(socket);
  if (++arrival.there == greeting->wires) complete(greeting->sender, arrival);
}

void TcpTransport::complete(int rank, Arrival& arrival) {
  auto memory = RingMemory::anonymous(options_.shape);
  if (!memory.ok()) return engine_->fail(rank, memory.status());
  Receiver* end = receivers_.publish(
      rank, std::make_unique<Receiver>(*engine_, peer(rank), options_.shape, std::move(memory).value()));
  end->attach(std::exchange(arrival.sockets, std::vector<net::Fd>(arrival.there)));
  engine_->bell().ring();
}

bool TcpTransport::drained() {
  bool all = true;
  const bool looked = engine_->with_claim([&] {
    for (const int rank : senders_.ranks()) all = all && senders_.find(rank)->drained();
  });
  return looked && all;
}

}  // namespace
}  // namespace tcp

Result<std::unique_ptr<Transport>> make_tcp_transport(const TcpOptions& options) {
  TUTTI_RETURN_IF_ERROR(check(options.shape));
  if (options.interfaces.empty())
    return error(Code::kInvalidUsage, "tcp: rank {} has no network interface to use", options.rank);
  if (options.sockets < 1 || options.sockets > static_cast<int>(tcp::kMostSockets))
    return error(Code::kInvalidArgument, "tcp: {} sockets for each peer; 1 to {} are possible", options.sockets,
                 tcp::kMostSockets);
  TUTTI_ASSIGN_OR_RETURN(const Identity identity, random_identity());
  TUTTI_ASSIGN_OR_RETURN(auto engine, Engine::create(options.doorbell));
  auto transport = std::make_unique<tcp::TcpTransport>(options, identity, std::move(engine));
  // From now on peers may connect; they wait in the backlog until start().
  TUTTI_RETURN_IF_ERROR(transport->bind());
  return std::unique_ptr<Transport>(std::move(transport));
}

}  // namespace tutti::transport
