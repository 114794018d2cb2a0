// Configuration: every environment variable that Tutti reads, read once, checked once.
//
// A variable with a bad value is an error that names variable, value and what is accepted; it is reported by the first
// call that returns a result (ncclGetUniqueId, ncclCommInit*), and again by every later one.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace tutti {

struct Config {
  // --- finding each other
  std::optional<std::string> comm_id;            // NCCL_COMM_ID: "ipv4:port", "[ipv6]:port", "host:port"
  std::optional<std::string> secret;             // TUTTI_SECRET, or the content of TUTTI_SECRET_FILE
  bool insecure = false;                         // TUTTI_INSECURE=1: no secret needed off loopback
  std::optional<std::string> socket_interfaces;  // NCCL_SOCKET_IFNAME: prefixes, "^" excludes, "=" exact
  int socket_family = 0;                         // NCCL_SOCKET_FAMILY: AF_INET, AF_INET6; 0: either
  std::optional<std::string> host_id;            // NCCL_HOSTID
  std::chrono::seconds init_timeout{300};        // TUTTI_INIT_TIMEOUT, seconds
  std::chrono::seconds timeout{1800};            // TUTTI_TIMEOUT, seconds: longest wait of one operation; 0: none
  // --- transports
  bool shm_disable = false;  // NCCL_SHM_DISABLE: use the network also within a node
  bool p2p_disable = false;  // NCCL_P2P_DISABLE: no straight access between ranks of one process
  std::optional<bool> lend;  // TUTTI_LEND: whether large messages are read where they lie instead of copied: 0 never,
                             // 1 wherever that is possible; unset: wherever it is faster
  int sockets_per_peer = 0;  // NCCL_NSOCKS_PERTHREAD * NCCL_SOCKET_NTHREADS; 0: chosen by Tutti
  uint32_t slot_bytes = 0;   // TUTTI_SLOT_BYTES; 0: chosen by Tutti
  uint32_t queue_depth = 0;  // TUTTI_QUEUE_DEPTH, power of two; 0: chosen by Tutti
  // --- algorithms
  std::optional<std::string> allreduce;  // TUTTI_ALLREDUCE: "one_shot:0-8K;tree:8K-256K;ring:256K-max"
  std::optional<std::string> algo;       // NCCL_ALGO
  std::optional<std::string> simd;       // TUTTI_SIMD
  // --- behaviour
  bool check_pointers = false;        // NCCL_CHECK_MODE=DEBUG_LOCAL or DEBUG_GLOBAL; NCCL_CHECK_POINTERS=1
  std::optional<bool> comm_blocking;  // NCCL_COMM_BLOCKING: 0 or 1, overrides ncclConfig_t.blocking
  int reported_version = 22809;       // TUTTI_NCCL_VERSION: what ncclGetVersion says

  // Reads the environment. The first bad value is the error.
  static Result<Config> from_environment();
};

// The process's configuration: read at the first call, then constant. The status is that of from_environment().
const Result<Config>& process_config();

}  // namespace tutti
