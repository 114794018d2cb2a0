// A communicator: one rank's view of a group of ranks, and the engine that runs its operations.
//
// Claim. One thread at a time runs the communicator (claim_): whoever waits for an operation, else the progress thread.
// Everything that the executor touches belongs to the claim's holder. Calls that find the claim taken, or that may not
// start yet, leave their operation in the inbox.
//
// Operations start in issue order, each in the next flight (sequence number modulo flights), when its flight is free
// and its stream has come to it. Their queues are separate, so that one that stalls blocks no other.
//
// Errors. The first one (a dead rank, a disagreement, an abort) stays for good: every unfinished and every later
// operation ends with it. The user then aborts the communicator.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/select.h"
#include "bootstrap/bootstrap.h"
#include "runtime/executor.h"
#include "runtime/members.h"
#include "runtime/operation.h"
#include "runtime/plan_cache.h"
#include "runtime/red_ops.h"
#include "runtime/registrations.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/waiter.h"
#include "transport/doorbell_page.h"
#include "transport/transport.h"

namespace tutti::runtime {

// One call of a collective, before it has a place in the order of operations.
struct Call {
  Collective kind = Collective::kAllReduce;
  const void* send = nullptr;
  void* recv = nullptr;
  uint64_t count = 0;
  DataType type = DataType::kFloat32;
  ReduceSpec reduce;
  int root = -1;
  std::shared_ptr<Stream> stream;  // null: the null stream
};

class Communicator final : private QueueSource {
 public:
  Communicator(int rank, int nranks, int device, CommOptions options);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int nranks() const { return nranks_; }
  int device() const { return device_; }
  const CommOptions& options() const { return options_; }
  RedOps& red_ops() { return red_ops_; }
  Registrations& registrations() { return registrations_; }

  // Joins the other ranks: rendezvous, exchange, transports. Blocks; ends by `deadline` or abort. See assemble.cpp.
  Status connect(std::unique_ptr<bootstrap::Bootstrap> bootstrap, bootstrap::Deadline deadline);

  // --- initialisation in the background (non-blocking communicators)
  void set_finalized() { finalized_.store(true); }
  void set_initialising() { initialising_.store(true); }
  void finish_initialising(const Status& status);
  // Named in an open group: its initialisation begins at the group's end.
  void set_waits_for_group(bool waits) { waits_for_group_.store(waits, std::memory_order_release); }
  bool waits_for_group() const { return waits_for_group_.load(std::memory_order_acquire); }
  bool initialising() const { return initialising_.load(std::memory_order_acquire); }
  const std::atomic<bool>* stop_flag() const { return &stop_; }

  // --- operations
  // Checks that an operation may be issued now.
  Status usable() const;
  // The fast path: runs `call` to its end on the calling thread, when nothing stands before it. Returns false when it
  // cannot; then issue() it.
  bool run_now(const Call& call, Status* status);
  // Puts `call` in the order of operations; the ticket tells when it has ended, and how. stream_ticket: the place in
  // the call's stream (Stream::issue) that it waits for.
  std::shared_ptr<Ticket> issue(const Call& call, uint64_t stream_ticket);
  // True while operations are issued and not ended.
  bool busy() const { return unfinished_.load(std::memory_order_acquire) != 0; }
  // Runs whatever can run now. Returns true when anything moved, false also when another thread is at it.
  bool progress();
  // The slow side of waiting: failures, deadlines, messages of foreign operations. Call now and then while nothing
  // moves.
  void look_after();
  // For a thread that waits and drives this communicator.
  Waiter& waiter() { return waiter_; }
  // Waiter::sleep_if_due for a thread that attends.
  template <class Idle>
  void sleep_if_due(uint32_t round, Idle idle) {
    if (!waiter_.sleepy(round)) return;
    unattend(true);
    waiter_.sleep_if_due(round, idle);
    attend();
  }

  // --- health
  bool broken() const { return broken_.load(std::memory_order_acquire); }
  Status error_status() const;
  // Ends everything with `status`; the first call counts. Any thread.
  enum class Tell { kNobody, kEverybody };
  void fail(const Status& status, Tell tell);
  // The same, but operations before number `sequence` may still end well: other ranks have done their part in them.
  void fail_from(uint32_t sequence, const Status& status);
  // The error that the next operation would meet; OK while there is none.
  Status pending_error() const;
  // The control network's part, done by the progress thread.
  void serve_control();
  // Turns a broken connection into this communicator's error; also while nothing runs. Done by the progress thread.
  void notice_failures() {
    if (!broken()) check_transports();
  }
  bool claimed() const { return claim_.load(std::memory_order_relaxed); }

  // --- who makes the transports move. A thread that waits does it itself while it is awake; the progress thread then
  // keeps away from their descriptors, or both would wake and read for every message.
  bool attended() const { return attendants_.load(std::memory_order_seq_cst) != 0; }
  // The progress thread got an event for an attended communicator and will get no more until it has looked again.
  std::atomic<bool> unwatched{false};
  void attend() {
    if (carried_) attendants_.fetch_add(1, std::memory_order_seq_cst);
  }
  // `asleep`: the thread stays, but looks at nothing until its doorbell rings.
  void unattend(bool asleep);
  bootstrap::Bootstrap* control() { return bootstrap_.get(); }
  const std::vector<std::unique_ptr<transport::Transport>>& transports() const { return transports_; }

  // Ends every wait on this communicator, also that of its initialisation, and tells the other ranks. Any thread.
  void abort_begin();
  // Frees connections and memory; no thread may be inside. Says good-bye to the others when `orderly`.
  void release(bool orderly);

  // Threads inside calls on this communicator, so that abort can wait for them to leave.
  std::atomic<int> users{0};

 private:
  friend class CommunicatorBuilder;

  transport::SendEnd* send_end(uint32_t peer) override;
  transport::RecvEnd* recv_end(uint32_t peer) override;

  bool try_claim() { return !claim_.exchange(true, std::memory_order_acquire); }
  void unclaim() { claim_.store(false, std::memory_order_release); }

  struct Pending {
    Call call;
    uint64_t stream_ticket = 0;
    std::shared_ptr<Ticket> ticket;
  };
  // All below: only with the claim.
  bool start_pending();
  bool can_start(const Pending& pending);
  Status start(const Call& call, std::shared_ptr<Ticket> ticket);
  static bool may_lend(const Operation& op);
  void run_alone(const Call& call);  // one rank: copies only
  void drive(Operation& op);         // until it has ended
  void end(Operation& op, const Status& status);
  void end_all(const Status& status);
  void finish(const std::shared_ptr<Stream>& stream, const std::shared_ptr<Ticket>& ticket, const Status& status);
  bool advance_operations();
  bool carry_transports();
  std::byte* scratch(uint32_t flight, size_t bytes);
  void inspect();  // look_after with the claim
  void check_transports();
  bool explanation_is_over();
  void apply_later_error();
  void check_deadline(Operation& op);
  bool find_foreign_message(Operation& op);
  void disagree(const Operation& op, const Disagreement& found);

  // Any thread.
  std::string name_of_rank(int rank) const;
  Status disagreement_status(int rank, const Fingerprint& mine, int other, const Fingerprint& theirs) const;
  bool has_left(int rank, std::chrono::steady_clock::time_point* when) const;
  bool still_carries(int peer) const;
  void drain_transports();
  void wait_for_departures();

  const int rank_;
  const int nranks_;
  const int device_;
  const CommOptions options_;
  RedOps red_ops_;
  Registrations registrations_;

  std::unique_ptr<bootstrap::Bootstrap> bootstrap_;
  Members members_;
  std::vector<std::unique_ptr<transport::Transport>> transports_;
  std::vector<transport::Transport*> route_;  // by peer
  std::shared_ptr<transport::DoorbellPage> doorbell_page_;
  transport::QueueShape shape_;
  algorithms::Snapshot snapshot_;
  PlanCache plans_;
  Executor executor_{*this};
  Waiter waiter_;

  bool lending_ = true;
  bool carried_ = false;  // some transport carries messages itself (tcp)
  std::atomic<int> attendants_{0};
  std::atomic<bool> claim_{false};
  std::vector<Operation> flights_;
  std::vector<std::vector<std::byte>> scratch_;
  uint32_t next_sequence_ = 0;
  uint32_t active_ = 0;
  std::atomic<uint64_t> unfinished_{0};
  std::deque<Pending> pending_;
  std::mutex inbox_mutex_;
  std::deque<Pending> inbox_;
  std::atomic<bool> inbox_full_{false};

  std::atomic<bool> initialising_{false};
  std::atomic<bool> waits_for_group_{false};
  std::atomic<bool> stop_{false};
  std::atomic<bool> broken_{false};
  mutable std::mutex health_mutex_;
  Status error_;
  Status later_error_;  // of operation later_sequence_ and all that follow
  uint32_t later_sequence_ = 0;
  std::atomic<bool> later_{false};
  std::vector<std::optional<std::chrono::steady_clock::time_point>> left_;  // by rank: when it said good-bye
  std::optional<std::chrono::steady_clock::time_point> first_failure_;      // of a transport
  std::chrono::seconds timeout_{0};                                         // of one operation; 0: none
  std::atomic<bool> finalized_{false};
};

}  // namespace tutti::runtime
