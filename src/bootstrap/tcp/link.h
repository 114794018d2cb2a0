// A proved connection that carries framed messages: u32 length (of what follows), u8 type, body. Never blocks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/net/fd.h"
#include "base/status.h"
#include "bootstrap/bootstrap.h"

namespace tutti::bootstrap {

class Link {
 public:
  Link() = default;
  Link(int rank, net::Fd fd) : rank_(rank), fd_(std::move(fd)) {}

  int rank() const { return rank_; }
  int fd() const { return fd_.get(); }
  bool open() const { return fd_.valid(); }
  void close() { fd_.reset(); }

  struct Message {
    uint8_t type = 0;
    Bytes body;
  };

  // Queues a message and writes what the socket takes. A neighbour that lets more than kMostQueued bytes pile up is
  // dropped.
  void send(uint8_t type, std::span<const std::byte> body);
  bool wants_write() const { return open() && sent_ < out_.size(); }
  void flush();
  // Reads what is there. Closes the link at the end of the stream, at an error and at a frame longer than kMostBody.
  std::vector<Message> receive();

  static constexpr size_t kMostQueued = size_t{64} << 20;
  static constexpr size_t kMostBody = size_t{64} << 20;

 private:
  int rank_ = -1;
  net::Fd fd_;
  Bytes in_;
  Bytes out_;
  size_t sent_ = 0;  // bytes of out_ that the socket has taken
};

}  // namespace tutti::bootstrap
