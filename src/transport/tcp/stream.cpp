#include "transport/tcp/stream.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace tutti::transport::tcp {

Outcome FrameReader::read(int fd, size_t budget, Sink& sink) {
  Outcome outcome;
  for (size_t total = 0; total < budget;) {
    // While a payload is incomplete the buffer is empty; otherwise it holds less than a header.
    std::memmove(buffer_.data(), buffer_.data() + begin_, buffered_);
    begin_ = 0;
    std::array<iovec, 2> parts{{{target_, missing_}, {buffer_.data() + buffered_, buffer_.size() - buffered_}}};
    const size_t skip = missing_ == 0 ? 1 : 0;
    const size_t room = missing_ + parts[1].iov_len;
    const ssize_t got = readv(fd, parts.data() + skip, static_cast<int>(parts.size() - skip));
    if (got == 0) {
      outcome.state = Outcome::State::kClosed;
      return outcome;
    }
    if (got < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) return outcome;
      outcome.state = Outcome::State::kError;
      outcome.cause = errno;
      return outcome;
    }
    outcome.moved = true;
    const size_t bytes = static_cast<size_t>(got);
    total += bytes;
    const size_t direct = std::min(bytes, missing_);
    target_ += direct;
    missing_ -= direct;
    buffered_ += bytes - direct;
    if (direct != 0 && missing_ == 0) sink.complete(header_);
    if (!parse(sink)) {
      outcome.state = Outcome::State::kCorrupt;
      return outcome;
    }
    if (bytes < room) return outcome;  // that was all; saves the call that would say so
  }
  return outcome;
}

bool FrameReader::parse(Sink& sink) {
  while (missing_ == 0 && buffered_ >= sizeof header_) {
    std::memcpy(&header_, buffer_.data() + begin_, sizeof header_);
    begin_ += sizeof header_;
    buffered_ -= sizeof header_;
    if (!header_.known() || header_.check != header_.checksum() || !sink.accept(header_, &target_)) return false;
    const size_t here = std::min<size_t>(buffered_, header_.bytes);
    if (here != 0) std::memcpy(target_, buffer_.data() + begin_, here);
    begin_ += here;
    buffered_ -= here;
    target_ += here;
    missing_ = header_.bytes - here;
    if (missing_ == 0) sink.complete(header_);
  }
  return true;
}

void FrameWriter::add(const FrameHeader& header, const std::byte* payload) {
  Frame& frame = frames_[count_++];
  frame.header = header;
  frame.header.check = header.checksum();
  frame.payload = payload;
}

ssize_t FrameWriter::send_some(int fd, Outcome& outcome) {
  std::array<iovec, 2 * kFrames> parts;
  size_t used = 0;
  size_t skip = offset_;
  const auto append = [&](const void* data, size_t bytes) {
    const size_t skipped = std::min(skip, bytes);
    skip -= skipped;
    if (bytes > skipped)
      parts[used++] = {const_cast<std::byte*>(static_cast<const std::byte*>(data) + skipped), bytes - skipped};
  };
  for (size_t i = first_; i < count_; ++i) {
    append(&frames_[i].header, sizeof(FrameHeader));
    append(frames_[i].payload, frames_[i].header.bytes);
  }
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = used;
  while (true) {
    const ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return sent;
    if (errno == EINTR) continue;
    if (errno != EAGAIN) {
      outcome.state = Outcome::State::kError;
      outcome.cause = errno;
    }
    return 0;
  }
}

}  // namespace tutti::transport::tcp
