#include "bootstrap/tcp/tree.h"

#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cstring>

#include "base/log.h"
#include "bootstrap/notice.h"
#include "bootstrap/tcp/rendezvous.h"

namespace tutti::bootstrap {

namespace {

enum MessageType : uint8_t { kUp = 10, kDown = 11, kNotice = 12 };

void append_part(Bytes& bytes, int rank, std::span<const std::byte> part) {
  const uint32_t head[2] = {static_cast<uint32_t>(rank), static_cast<uint32_t>(part.size())};
  const auto* head_bytes = reinterpret_cast<const std::byte*>(head);
  bytes.insert(bytes.end(), head_bytes, head_bytes + sizeof head);
  bytes.insert(bytes.end(), part.begin(), part.end());
}

std::vector<std::pair<int, Bytes>> split_parts(std::span<const std::byte> bytes, int nranks) {
  std::vector<std::pair<int, Bytes>> parts;
  while (bytes.size() >= 8) {
    uint32_t head[2];
    std::memcpy(head, bytes.data(), sizeof head);
    bytes = bytes.subspan(sizeof head);
    if (head[0] >= static_cast<uint32_t>(nranks) || head[1] > bytes.size()) return {};
    parts.emplace_back(static_cast<int>(head[0]), Bytes(bytes.begin(), bytes.begin() + head[1]));
    bytes = bytes.subspan(head[1]);
  }
  return parts;
}

}  // namespace

Tree::Tree(int rank, int nranks, const net::Secret& secret, std::vector<Link> links)
    : rank_(rank),
      nranks_(nranks),
      secret_(secret),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      links_(std::move(links)),
      children_(links_.size() - (rank > 0 ? 1 : 0)),
      left_(static_cast<size_t>(nranks)),
      reported_(links_.size()) {
  for (const Link& link : links_) {
    epoll_event event{};
    event.events = EPOLLIN;
    epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, link.fd(), &event);
  }
}

void Tree::pump() {
  for (Link& link : links_) {
    if (!link.open()) continue;
    link.flush();
    for (const Link::Message& message : link.receive()) handle(link, message);
  }
  // Links also close while something is sent (a neighbour that takes nothing any more), hence the second look.
  for (size_t i = 0; i < links_.size(); ++i) {
    if (links_[i].open() || reported_[i]) continue;
    reported_[i] = true;
    lost(links_[i].rank());
  }
}

void Tree::handle(Link& from, const Link::Message& message) {
  switch (message.type) {
    case kUp:
      for (auto& part : split_parts(message.body, nranks_)) parts_.push_back(std::move(part));
      heard_.push_back(from.rank());
      return;
    case kDown:
      result_.resize(static_cast<size_t>(nranks_));
      for (auto& [rank, part] : split_parts(message.body, nranks_))
        result_[static_cast<size_t>(rank)] = std::move(part);
      for (Link& link : links_)
        if (&link != &from) link.send(kDown, message.body);
      return;
    case kNotice: {
      const Result<Notice> notice = decode_notice(message.body, nranks_);
      if (!notice.ok()) {
        log_warn("rank {}: from rank {}: {}", rank_, from.rank(), notice.status().text());
        return;
      }
      if (notice->kind == Notice::Kind::kLeft) left_[static_cast<size_t>(notice->rank)] = true;
      notices_.push_back(*notice);
      flood(*notice, &from);
      return;
    }
    default: log_warn("rank {}: a message of type {} from rank {}", rank_, message.type, from.rank());
  }
}

void Tree::flood(const Notice& notice, const Link* except) {
  const Bytes bytes = encode(notice);
  for (Link& link : links_)
    if (&link != except) link.send(kNotice, bytes);
}

void Tree::lost(int rank) {
  if (left_[static_cast<size_t>(rank)]) return;
  if (lost_ < 0) lost_ = rank;
  Notice notice;
  notice.kind = Notice::Kind::kDied;
  notice.rank = rank;
  notices_.push_back(notice);
  flood(notice, nullptr);
}

void Tree::advance_gathering() {
  if (!mine_ || sent_up_ || heard_.size() < children_) return;
  Bytes bytes;
  for (const auto& [rank, part] : parts_) append_part(bytes, rank, part);
  sent_up_ = true;
  if (rank_ > 0) {
    links_.front().send(kUp, bytes);
  } else {
    result_.resize(static_cast<size_t>(nranks_));
    for (auto& [rank, part] : parts_) result_[static_cast<size_t>(rank)] = std::move(part);
    for (Link& link : links_) link.send(kDown, bytes);
  }
  // From now on what children send belongs to the next round.
  parts_.clear();
  heard_.clear();
}

Status Tree::gathering_failed(Code code, std::string_view why) const {
  std::string silent;
  for (const Link& link : links_) {
    const bool child = parent_of(link.rank()) == rank_ && link.rank() > 0;
    const bool heard = std::find(heard_.begin(), heard_.end(), link.rank()) != heard_.end();
    if (child && !sent_up_ && !heard) silent += fmt::format("{}{}", silent.empty() ? "" : ", ", link.rank());
  }
  if (silent.empty() && rank_ > 0) silent = fmt::format("{} (its parent)", links_.front().rank());
  return error(code, "rank {}: exchange between {} ranks {}; nothing from rank {} or the ranks below it", rank_,
               nranks_, why, silent);
}

Result<std::vector<Bytes>> Tree::all_gather(std::span<const std::byte> mine, Deadline deadline,
                                            const std::atomic<bool>* stop) {
  {
    const std::lock_guard lock(mutex_);
    parts_.emplace_back(rank_, Bytes(mine.begin(), mine.end()));
    mine_ = true;
  }
  for (;;) {
    std::vector<pollfd> fds;
    {
      const std::lock_guard lock(mutex_);
      pump();
      advance_gathering();
      if (!result_.empty()) {
        mine_ = false;
        sent_up_ = false;
        return std::exchange(result_, {});
      }
      if (lost_ >= 0)
        return gathering_failed(Code::kRemoteError, fmt::format("broke: rank {} closed its connection", lost_));
      if (stop != nullptr && stop->load(std::memory_order_acquire))
        return gathering_failed(Code::kInvalidUsage, "was aborted");
      if (std::chrono::steady_clock::now() >= deadline) return gathering_failed(Code::kTimeout, "timed out");
      for (const Link& link : links_)
        if (link.open())
          fds.push_back({link.fd(), static_cast<short>(link.wants_write() ? POLLIN | POLLOUT : POLLIN), 0});
    }
    poll(fds.data(), fds.size(), 20);
  }
}

void Tree::send(const Notice& notice) {
  const std::lock_guard lock(mutex_);
  flood(notice, nullptr);
}

std::vector<Notice> Tree::receive() {
  const std::lock_guard lock(mutex_);
  pump();
  return std::exchange(notices_, {});
}

void Tree::abandon() {
  for (Link& link : links_) link.close();
}

void Tree::leave() {
  Notice notice;
  notice.kind = Notice::Kind::kLeft;
  notice.rank = rank_;
  send(notice);
}

}  // namespace tutti::bootstrap
