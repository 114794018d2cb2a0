// The transport between ranks that are threads of one process: rings in plain memory, found through a process-wide
// table of mailboxes. Straight references to any host memory (view()). Read ../transport.h first.
#pragma once

#include <memory>

#include "base/status.h"
#include "transport/doorbell_page.h"
#include "transport/transport.h"

namespace tutti::transport {

struct InProcessOptions {
  int rank = 0;
  QueueShape shape;
  std::shared_ptr<DoorbellPage> doorbell;  // this rank's; shared by all its transports
};

Result<std::unique_ptr<Transport>> make_in_process_transport(const InProcessOptions& options);

}  // namespace tutti::transport
