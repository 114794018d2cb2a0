// The tcp bootstrap: the tree of proved connections between ranks, which gathers once and then carries notices.
#pragma once

#include <mutex>

#include "base/config.h"
#include "base/net/fd.h"
#include "bootstrap/bootstrap.h"
#include "bootstrap/tcp/link.h"
#include "bootstrap/unique_id.h"

namespace tutti::bootstrap {

// Makes an id whose rendezvous is served by a thread of this process (or, with NCCL_COMM_ID, by rank 0 later).
Result<UniqueId> create_unique_id(const Config& config);

// Joins the communicator. Blocks until all ranks have come, `deadline`, or *stop. Errors name the ranks that are
// missing, wrong or twice.
Result<std::unique_ptr<Bootstrap>> join_tcp(const UniqueId& id, int rank, int nranks, const Config& config,
                                            Deadline deadline, const std::atomic<bool>* stop);

class Tree final : public Bootstrap {
 public:
  Tree(int rank, int nranks, const net::Secret& secret, std::vector<Link> links);

  int rank() const override { return rank_; }
  int nranks() const override { return nranks_; }
  const Secret& secret() const override { return secret_; }
  Result<std::vector<Bytes>> all_gather(std::span<const std::byte> mine, Deadline deadline,
                                        const std::atomic<bool>* stop) override;
  void send(const Notice& notice) override;
  std::vector<Notice> receive() override;
  int wait_descriptor() const override { return epoll_.get(); }
  void leave() override;
  void abandon() override;

 private:
  void pump();  // under mutex_, like all below
  void handle(Link& from, const Link::Message& message);
  void flood(const Notice& notice, const Link* except);
  void lost(int rank);
  // Sends up or down what is complete.
  void advance_gathering();
  Status gathering_failed(Code code, std::string_view why) const;

  const int rank_;
  const int nranks_;
  const Secret secret_;
  net::Fd epoll_;
  std::mutex mutex_;
  std::vector<Link> links_;  // the parent first (except on rank 0), then the children
  size_t children_ = 0;
  // The current round of all_gather. A child may be ahead of this rank: what it sends waits in parts_.
  std::vector<std::pair<int, Bytes>> parts_;  // by rank, what has come up so far and this rank's own
  std::vector<int> heard_;                    // children whose part has come
  bool mine_ = false;                         // this rank has called all_gather
  bool sent_up_ = false;
  std::vector<Bytes> result_;    // complete when not empty
  std::vector<Notice> notices_;  // for the next receive()
  std::vector<bool> left_;       // by rank
  std::vector<bool> reported_;   // by link: its loss has been told
  int lost_ = -1;                // the first neighbour that is gone
};

}  // namespace tutti::bootstrap
