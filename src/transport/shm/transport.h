// The transport between processes of one host: rings in anonymous shared memory that is passed from process to
// process, so that nothing has a name that could be guessed and nothing is left behind. Read ../transport.h first.
//
//   connection.h   the two ends and their memory
//   meeting.h      how the memory changes hands over an abstract unix socket
#pragma once

#include <array>
#include <memory>

#include "base/status.h"
#include "transport/doorbell_page.h"
#include "transport/transport.h"

namespace tutti::transport {

struct ShmOptions {
  int rank = 0;
  QueueShape shape;
  std::shared_ptr<DoorbellPage> doorbell;  // this rank's, made with Sharing::kProcesses; shared by all its transports
  std::array<unsigned char, 32> secret{};  // Bootstrap::secret()
  // Prefer reading the sender's memory by process_vm_readv(2) to copying through slots. Measured with 2 and 8 ranks on
  // 2 cores from 64 KB to 64 MB it was slower nearly everywhere: the kernel pins every page of each read.
  bool lend = false;
};

Result<std::unique_ptr<Transport>> make_shm_transport(const ShmOptions& options);

}  // namespace tutti::transport
