// What every rank of a communicator knows about every other, exchanged once at its birth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "transport/transport.h"

namespace tutti::runtime {

struct Member {
  transport::Peer peer;
  uint32_t cores = 1;           // processors that this process may run on
  bool shm_disable = false;     // NCCL_SHM_DISABLE
  bool p2p_disable = false;     // NCCL_P2P_DISABLE
  std::string allreduce;        // TUTTI_ALLREDUCE; only rank 0's counts
  std::string algo;             // NCCL_ALGO; only rank 0's counts
  transport::QueueShape shape;  // only rank 0's counts
};

using Members = std::vector<Member>;  // by rank

std::vector<std::byte> encode(const Member& member);
// A rank that runs another version of Tutti, or sends something else, gets a clear error.
Result<Member> decode_member(std::span<const std::byte> bytes, int rank);

// Node of each rank (numbered by first appearance), from the hosts.
std::vector<int> nodes_of(const Members& members);
// Processor cores of each node, by the numbers of nodes_of(): those that its ranks may use.
std::vector<int> cores_of_nodes(const Members& members, const std::vector<int>& nodes);
// True when some node has more ranks than its ranks have cores.
bool crowded(const Members& members);

}  // namespace tutti::runtime
