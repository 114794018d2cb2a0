#include "bootstrap/tcp/rendezvous.h"

#include <poll.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "base/log.h"
#include "base/net/socket.h"
#include "bootstrap/tcp/door.h"
#include "bootstrap/tcp/link.h"

namespace tutti::bootstrap {

using Clock = std::chrono::steady_clock;

Bytes encode(const CheckIn& c) {
  Bytes bytes(8);
  std::memcpy(bytes.data(), &c.rank, 4);
  std::memcpy(bytes.data() + 4, &c.nranks, 4);
  const Bytes address = c.address.to_bytes();
  bytes.insert(bytes.end(), address.begin(), address.end());
  return bytes;
}

Result<CheckIn> decode_check_in(std::span<const std::byte> bytes) {
  if (bytes.size() != 8 + net::SocketAddress::kBytes)
    return error(Code::kRemoteError, "a check-in of {} bytes", bytes.size());
  CheckIn c;
  std::memcpy(&c.rank, bytes.data(), 4);
  std::memcpy(&c.nranks, bytes.data() + 4, 4);
  TUTTI_ASSIGN_OR_RETURN(c.address, net::SocketAddress::from_bytes(bytes.subspan(8)));
  return c;
}

Bytes encode(const Answer& a) {
  Bytes bytes(4);
  const int code = static_cast<int>(a.code);
  std::memcpy(bytes.data(), &code, 4);
  const Bytes address = a.parent.to_bytes();
  bytes.insert(bytes.end(), address.begin(), address.end());
  const auto* text = reinterpret_cast<const std::byte*>(a.text.data());
  bytes.insert(bytes.end(), text, text + a.text.size());
  return bytes;
}

Result<Answer> decode_answer(std::span<const std::byte> bytes) {
  constexpr size_t head = 4 + net::SocketAddress::kBytes;
  if (bytes.size() < head) return error(Code::kRemoteError, "an answer of {} bytes from the rendezvous", bytes.size());
  Answer a;
  int code = 0;
  std::memcpy(&code, bytes.data(), 4);
  a.code = static_cast<Code>(code);
  if (auto parent = net::SocketAddress::from_bytes(bytes.subspan(4)); parent.ok()) a.parent = *parent;
  a.text.assign(reinterpret_cast<const char*>(bytes.data()) + head, bytes.size() - head);
  return a;
}

namespace {

// "0-2, 5": for messages about ranks.
std::string ranges(const std::vector<int>& ranks) {
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    size_t j = i;
    while (j + 1 < ranks.size() && ranks[j + 1] == ranks[j] + 1) ++j;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", ranks[i]);
    if (j > i) text += fmt::format("-{}", ranks[j]);
    i = j + 1;
  }
  return text;
}

// Roots of this process that are telling ranks why they failed.
std::atomic<int> failing_roots{0};

class Root {
 public:
  Root(net::Fd listener, const net::Secret& secret, std::chrono::seconds timeout)
      : door_(std::in_place, std::move(listener), secret, kRendezvousPurpose),
        timeout_(timeout),
        deadline_(Clock::now() + std::chrono::hours(1)) {}

  ~Root() {
    if (!failure_.ok()) failing_roots.fetch_sub(1);
  }

  void run() {
    while (!done_) {
      wait();
      door_->serve([this](net::Fd socket, const Bytes& hello) { check_in(std::move(socket), hello); });
      if (Clock::now() >= deadline_) give_up();
    }
    drain();
  }

 private:
  // How long after a failure ranks may still come and be told.
  static constexpr auto kLateComers = std::chrono::seconds(60);

  void wait() {
    std::vector<pollfd> fds;
    door_->add_to(&fds);
    for (const auto& [rank, link] : members_) {
      if (link.open()) fds.push_back({link.fd(), POLLIN, 0});  // notices a rank that goes away again
    }
    poll(fds.data(), fds.size(), door_->occupied() ? 100 : 1000);
    for (auto& [rank, link] : members_) link.receive();
    // A rank that has gone away again has not come: it may come anew, and is missing until then.
    std::erase_if(members_, [](const auto& member) { return !member.second.open(); });
  }

  void check_in(net::Fd socket, const Bytes& hello) {
    const Result<CheckIn> came = decode_check_in(hello);
    Link link(came.ok() ? came->rank : -1, std::move(socket));
    if (!came.ok()) return refuse(link, came.status());
    if (!failure_.ok()) return turn_away(link);
    if (nranks_ == 0) {
      nranks_ = came->nranks;
      deadline_ = Clock::now() + timeout_;
    }
    if (came->nranks != nranks_)
      return fail_with(
          link, error(Code::kInvalidUsage, "rank {} was given {} ranks, others {}", came->rank, came->nranks, nranks_));
    if (came->rank < 0 || came->rank >= nranks_)
      return fail_with(link, error(Code::kInvalidArgument, "rank {} is outside 0..{}", came->rank, nranks_ - 1));
    const auto old = members_.find(came->rank);
    if (old != members_.end() && old->second.open())
      return fail_with(
          link, error(Code::kInvalidUsage, "two processes came as rank {}: the second listens at {}, the first at {}",
                      came->rank, came->address.to_string(), addresses_[came->rank].to_string()));
    members_[came->rank] = std::move(link);
    addresses_[came->rank] = came->address;
    if (static_cast<int>(members_.size()) == nranks_) answer_all();
  }

  static void refuse(Link& link, const Status& status) {
    link.send(kAnswer, encode(Answer{status.code(), status.text(), {}}));
  }
  // The whole communicator fails: everybody who has come hears why, and so does whoever still comes.
  void fail_with(Link& newcomer, const Status& status) {
    begin_to_fail(status);
    turn_away(newcomer);
    turn_all_away();
  }
  void begin_to_fail(const Status& status) {
    failure_ = status;
    deadline_ = Clock::now() + kLateComers;
    failing_roots.fetch_add(1);
  }
  // The lowest rank last: this thread often lives in its process, which may end as soon as it has heard.
  void turn_all_away() {
    for (auto member = members_.rbegin(); member != members_.rend(); ++member) turn_away(member->second);
    members_.clear();
  }
  void turn_away(Link& link) {
    refuse(link, failure_);
    leaving_.push_back(std::move(link));
    if (static_cast<int>(leaving_.size()) >= nranks_) done_ = true;
  }
  void give_up() {
    if (!failure_.ok() || nranks_ == 0) {
      done_ = true;
      return;
    }
    std::vector<int> missing;
    for (int rank = 0; rank < nranks_; ++rank)
      if (!members_.contains(rank)) missing.push_back(rank);
    begin_to_fail(error(Code::kTimeout, "{} of {} ranks have not come within {} s (TUTTI_INIT_TIMEOUT); missing: {}",
                        missing.size(), nranks_, timeout_.count(), ranges(missing)));
    turn_all_away();
  }
  void answer_all() {
    for (auto& [rank, link] : members_) {
      Answer answer;
      if (rank > 0) answer.parent = addresses_[parent_of(rank)];
      link.send(kAnswer, encode(answer));
    }
    done_ = true;
  }
  // Closing a socket whose other side has sent something unread would destroy what we sent: wait until they have
  // closed.
  void drain() {
    door_.reset();
    for (auto& [rank, link] : members_) leaving_.push_back(std::move(link));
    const auto until = Clock::now() + std::chrono::seconds(5);
    while (Clock::now() < until) {
      std::vector<pollfd> fds;
      for (Link& link : leaving_) {
        link.flush();
        link.receive();
        if (link.open())
          fds.push_back({link.fd(), static_cast<short>(link.wants_write() ? POLLIN | POLLOUT : POLLIN), 0});
      }
      if (fds.empty()) return;
      poll(fds.data(), fds.size(), 100);
    }
  }

  std::optional<Door> door_;  // until everybody has been answered
  const std::chrono::seconds timeout_;
  Clock::time_point deadline_;
  int nranks_ = 0;  // 0: nobody has come
  std::map<int, Link> members_;
  std::map<int, net::SocketAddress> addresses_;
  std::vector<Link> leaving_;  // have been told why it failed
  Status failure_;
  bool done_ = false;
};

}  // namespace

void wait_for_failing_roots(std::chrono::milliseconds limit) {
  const auto until = Clock::now() + limit;
  while (failing_roots.load() != 0 && Clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void start_root(net::Fd listener, const net::Secret& secret, std::chrono::seconds timeout) {
  std::thread([root = std::make_shared<Root>(std::move(listener), secret, timeout)] { root->run(); }).detach();
}

}  // namespace tutti::bootstrap
