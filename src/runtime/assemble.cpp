#include "runtime/assemble.h"

#include <algorithm>
#include <thread>

#include "base/config.h"
#include "base/host.h"
#include "base/log.h"
#include "base/net/interfaces.h"
#include "bootstrap/in_process/table.h"
#include "bootstrap/tcp/tree.h"
#include "bootstrap/unique_id.h"
#include "transport/in_process/transport.h"
#include "transport/shm/transport.h"
#include "transport/tcp/transport.h"

#include <unistd.h>

namespace tutti::runtime {

using bootstrap::Bytes;
using bootstrap::Deadline;
using transport::Transport;

namespace {

Member describe_self(int rank, const Config& config) {
  Member me;
  me.peer.rank = rank;
  me.peer.host = host_identity(config.host_id);
  me.peer.process = process_identity();
  me.peer.pid = getpid();
  me.peer.hostname = hostname();
  me.cores = usable_cores();
  me.shm_disable = config.shm_disable;
  me.p2p_disable = config.p2p_disable;
  me.allreduce = config.allreduce.value_or("");
  me.algo = config.algo.value_or("");
  if (config.slot_bytes != 0) me.shape.slot_bytes = config.slot_bytes;
  if (config.queue_depth != 0) me.shape.depth = config.queue_depth;
  return me;
}

// The kinds of wire, best first.
enum class Wire { kInProcess, kShm, kTcp };

// Both sides of a pair come to the same answer, since both know both members.
Wire wire_between(const Member& a, const Member& b) {
  if (a.peer.process == b.peer.process && !a.p2p_disable && !b.p2p_disable) return Wire::kInProcess;
  const bool shm = !a.shm_disable && !b.shm_disable;
  if (a.peer.host == b.peer.host && a.peer.process != b.peer.process && shm) return Wire::kShm;
  return Wire::kTcp;
}

Result<std::vector<net::SocketAddress>> data_interfaces(const Config& config) {
  TUTTI_ASSIGN_OR_RETURN(const std::vector<net::Interface> all, net::list_interfaces());
  TUTTI_ASSIGN_OR_RETURN(const std::vector<net::Interface> chosen,
                         net::choose_interfaces(all, config.socket_interfaces.value_or(""), config.socket_family, {}));
  std::vector<net::SocketAddress> addresses;
  for (const net::Interface& interface : chosen) addresses.push_back(interface.address);
  return addresses;
}

topology::Topology topology_of(const Members& members) {
  topology::Topology topology;
  topology.node = nodes_of(members);
  topology.cores = cores_of_nodes(members, topology.node);
  return topology;
}

}  // namespace

// Puts a communicator together; the only code that knows its concrete parts.
class CommunicatorBuilder {
 public:
  CommunicatorBuilder(Communicator& communicator, const Config& config, Deadline deadline)
      : c_(communicator), config_(config), deadline_(deadline) {}

  Status build() {
    TUTTI_RETURN_IF_ERROR(meet());
    TUTTI_RETURN_IF_ERROR(make_transports());
    TUTTI_RETURN_IF_ERROR(start_transports());
    TUTTI_RETURN_IF_ERROR(configure());
    // Nobody sends before everybody listens.
    return c_.bootstrap_->all_gather({}, deadline_, c_.stop_flag()).status();
  }

 private:
  Status meet() {
    const Bytes mine = encode(describe_self(c_.rank_, config_));
    TUTTI_ASSIGN_OR_RETURN(const std::vector<Bytes> all, c_.bootstrap_->all_gather(mine, deadline_, c_.stop_flag()));
    for (int rank = 0; rank < c_.nranks_; ++rank) {
      TUTTI_ASSIGN_OR_RETURN(Member member, decode_member(all[static_cast<size_t>(rank)], rank));
      c_.members_.push_back(std::move(member));
    }
    c_.left_.resize(c_.members_.size());
    c_.shape_ = c_.members_.front().shape;
    return {};
  }

  const Member& me() const { return c_.members_[static_cast<size_t>(c_.rank_)]; }

  bool needs(Wire wire) const {
    return std::any_of(c_.members_.begin(), c_.members_.end(), [&](const Member& other) {
      return other.peer.rank != c_.rank_ && wire_between(me(), other) == wire;
    });
  }

  Status make_transports() {
    const bool shared = needs(Wire::kShm);
    using Sharing = transport::DoorbellPage::Sharing;
    TUTTI_ASSIGN_OR_RETURN(c_.doorbell_page_,
                           transport::DoorbellPage::create(shared ? Sharing::kProcesses : Sharing::kThreads));
    const net::Secret& secret = c_.bootstrap_->secret();
    // Every rank makes all three places in the exchange; those that it has no use for stay empty.
    if (needs(Wire::kInProcess)) {
      TUTTI_ASSIGN_OR_RETURN(by_wire_[0],
                             transport::make_in_process_transport({c_.rank_, c_.shape_, c_.doorbell_page_}));
    }
    if (shared) {
      TUTTI_ASSIGN_OR_RETURN(by_wire_[1], transport::make_shm_transport({c_.rank_, c_.shape_, c_.doorbell_page_, secret,
                                                                         config_.lend.value_or(false)}));
    }
    if (needs(Wire::kTcp)) {
      TUTTI_ASSIGN_OR_RETURN(std::vector<net::SocketAddress> interfaces, data_interfaces(config_));
      const int sockets = config_.sockets_per_peer != 0 ? config_.sockets_per_peer
                                                        : std::max<int>(2, static_cast<int>(interfaces.size()));
      TUTTI_ASSIGN_OR_RETURN(by_wire_[2], transport::make_tcp_transport({c_.rank_, c_.shape_, c_.doorbell_page_, secret,
                                                                         std::move(interfaces), sockets}));
    }
    return {};
  }

  Status start_transports() {
    std::vector<transport::Peer> peers;
    for (const Member& member : c_.members_) peers.push_back(member.peer);
    for (const auto& transport : by_wire_) {
      const Bytes mine = transport == nullptr ? Bytes{} : transport->address();
      TUTTI_ASSIGN_OR_RETURN(const std::vector<Bytes> all, c_.bootstrap_->all_gather(mine, deadline_, c_.stop_flag()));
      if (transport != nullptr) TUTTI_RETURN_IF_ERROR(transport->start(peers, all));
    }
    c_.route_.resize(c_.members_.size(), nullptr);
    for (const Member& other : c_.members_) {
      if (other.peer.rank == c_.rank_) continue;
      Transport* transport = by_wire_[static_cast<size_t>(wire_between(me(), other))].get();
      const Status reach = transport->reaches(other.peer.rank);
      if (!reach.ok())
        return error(Code::kSystemError, "{} cannot be reached by {}: {}", other.peer.name(), transport->name(),
                     reach.text());
      c_.route_[static_cast<size_t>(other.peer.rank)] = transport;
    }
    for (auto& transport : by_wire_)
      if (transport != nullptr) c_.transports_.push_back(std::move(transport));
    return {};
  }

  Status configure() {
    c_.snapshot_.number = 1;
    c_.snapshot_.topology = topology_of(c_.members_);
    c_.snapshot_.queue_depth = c_.shape_.depth;
    c_.snapshot_.slot_bytes = c_.shape_.slot_bytes;
    c_.snapshot_.max_lanes = c_.shape_.lanes;
    // Rank 0's settings go for all: what a rank has in its own environment must not make it choose another plan.
    const Member& first = c_.members_.front();
    const auto given = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); };
    TUTTI_ASSIGN_OR_RETURN(c_.snapshot_.overrides,
                           algorithms::parse_overrides(given(first.allreduce), given(first.algo)));
    TUTTI_RETURN_IF_ERROR(algorithms::validate(c_.snapshot_));
    c_.plans_.configure(c_.rank_, c_.snapshot_, c_.shape_);
    c_.flights_ = std::vector<Operation>(c_.shape_.flights);
    c_.scratch_.resize(c_.shape_.flights);
    c_.timeout_ = config_.timeout;
    c_.lending_ = config_.lend.value_or(true);
    c_.executor_.configure(c_.shape_.slot_bytes);
    c_.carried_ = std::any_of(c_.transports_.begin(), c_.transports_.end(), [](const auto& t) { return t->carries(); });
    c_.waiter_.configure(&c_.doorbell_page_->doorbell(), crowded(c_.members_), c_.carried_);
    log_info(Subsystem::kInit, "rank {} of {} on {} nodes: {} slots of {} bytes a queue, {} kernels, {}", c_.rank_,
             c_.nranks_, c_.snapshot_.topology.nodes(), c_.shape_.depth, c_.shape_.slot_bytes,
             kernels::host_kernels().target, describe_wires());
    return {};
  }

  std::string describe_wires() const {
    std::string text;
    for (const auto& transport : c_.transports_) {
      const auto peers = std::count(c_.route_.begin(), c_.route_.end(), transport.get());
      text += fmt::format("{}{} to {} ranks", text.empty() ? "" : ", ", transport->name(), peers);
    }
    return text;
  }

  Communicator& c_;
  const Config& config_;
  const Deadline deadline_;
  std::array<std::unique_ptr<Transport>, 3> by_wire_;
};

Status Communicator::connect(std::unique_ptr<bootstrap::Bootstrap> bootstrap, bootstrap::Deadline deadline) {
  bootstrap_ = std::move(bootstrap);
  return CommunicatorBuilder(*this, *process_config(), deadline).build();
}

Result<std::array<char, 128>> make_unique_id() {
  TUTTI_ASSIGN_OR_RETURN(const bootstrap::UniqueId id, bootstrap::create_unique_id(*process_config()));
  return bootstrap::encode(id);
}

Status join_by_id(Communicator& communicator, const std::array<char, 128>& bytes, Deadline deadline) {
  TUTTI_ASSIGN_OR_RETURN(const bootstrap::UniqueId id, bootstrap::decode(bytes));
  if (communicator.nranks() == 1) return {};
  TUTTI_ASSIGN_OR_RETURN(std::unique_ptr<bootstrap::Bootstrap> bootstrap,
                         bootstrap::join_tcp(id, communicator.rank(), communicator.nranks(), *process_config(),
                                             deadline, communicator.stop_flag()));
  return communicator.connect(std::move(bootstrap), deadline);
}

Status join_in_this_process(const std::vector<Communicator*>& communicators, Deadline deadline) {
  if (communicators.size() == 1) return {};
  TUTTI_ASSIGN_OR_RETURN(auto seats, bootstrap::join_in_process(static_cast<int>(communicators.size())));
  std::vector<Status> results(communicators.size());
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < communicators.size(); ++i) {
      threads.emplace_back(
          [&communicator = *communicators[i], seat = std::move(seats[i]), deadline, &result = results[i]]() mutable {
            result = communicator.connect(std::move(seat), deadline);
          });
    }
  }
  for (const Status& result : results) TUTTI_RETURN_IF_ERROR(result);
  return {};
}

}  // namespace tutti::runtime
