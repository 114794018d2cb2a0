#include "bootstrap/tcp/link.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace tutti::bootstrap {

namespace {
constexpr size_t kHead = 5;
}

void Link::send(uint8_t type, std::span<const std::byte> body) {
  if (!open()) return;
  const auto length = static_cast<uint32_t>(body.size() + 1);
  std::array<std::byte, kHead> head;
  std::memcpy(head.data(), &length, sizeof length);
  head[4] = static_cast<std::byte>(type);
  out_.insert(out_.end(), head.begin(), head.end());
  out_.insert(out_.end(), body.begin(), body.end());
  flush();
  if (out_.size() - sent_ > kMostQueued) close();
}

void Link::flush() {
  while (wants_write()) {
    const ssize_t n = ::send(fd(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
    if (n > 0) {
      sent_ += static_cast<size_t>(n);
    } else if (errno != EINTR) {
      // A broken connection shows at the next receive(), which may still find messages.
      if (errno == EAGAIN) return;
      sent_ = out_.size();
    }
  }
  out_.clear();
  sent_ = 0;
}

std::vector<Link::Message> Link::receive() {
  bool ended = false;
  std::array<std::byte, 65536> buffer;
  while (open() && !ended) {
    const ssize_t n = recv(fd(), buffer.data(), buffer.size(), 0);
    if (n > 0) {
      in_.insert(in_.end(), buffer.begin(), buffer.begin() + n);
    } else if (n == 0) {
      ended = true;
    } else if (errno != EINTR) {
      if (errno == EAGAIN) break;
      ended = true;
    }
  }
  std::vector<Message> messages;
  size_t at = 0;
  while (in_.size() - at >= kHead) {
    uint32_t length = 0;
    std::memcpy(&length, in_.data() + at, sizeof length);
    if (length < 1 || length > kMostBody) {
      ended = true;
      break;
    }
    if (in_.size() - at - 4 < length) break;
    Message message;
    message.type = std::to_integer<uint8_t>(in_[at + 4]);
    const auto body = in_.begin() + static_cast<std::ptrdiff_t>(at + kHead);
    message.body.assign(body, body + (length - 1));
    messages.push_back(std::move(message));
    at += 4 + length;
  }
  in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(at));
  if (ended) close();
  return messages;
}

}  // namespace tutti::bootstrap
