// Frames in and out of a non-blocking socket, with partial reads and writes anywhere. Payloads go straight from and to
// the slots: at most the first few kilobytes of one are copied.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "transport/tcp/frame.h"

namespace tutti::transport::tcp {

// How a round of reading or writing ended.
struct Outcome {
  enum class State : uint8_t {
    kOpen,     // done, or the socket would block
    kClosed,   // the peer has closed
    kError,    // errno in `cause`
    kCorrupt,  // a header that cannot be, or that the sink refused
  };
  State state = State::kOpen;
  int cause = 0;
  bool moved = false;  // at least one byte
};

class FrameReader {
 public:
  class Sink {
   public:
    // Says where header.bytes bytes of payload go. False: no valid frame at this place; nothing has been stored.
    virtual bool accept(const FrameHeader& header, std::byte** payload) = 0;
    virtual void complete(const FrameHeader& header) = 0;

   protected:
    ~Sink() = default;
  };

  // Reads until the socket is empty, or about `budget` bytes, so that one socket does not keep others waiting.
  Outcome read(int fd, size_t budget, Sink& sink);

 private:
  bool parse(Sink& sink);  // uses up what is buffered; false: corrupt

  FrameHeader header_;
  std::byte* target_ = nullptr;
  size_t missing_ = 0;   // payload bytes of header_ that have not come yet
  size_t begin_ = 0;     // of the unused part of the buffer
  size_t buffered_ = 0;  // its length
  std::array<std::byte, 4096> buffer_;
};

class FrameWriter {
 public:
  static constexpr size_t kFrames = 8;

  bool idle() const { return first_ == count_; }
  bool full() const { return count_ == kFrames; }
  // Only while not full(). `payload` must stay until the frame is written. Fills in the checksum.
  void add(const FrameHeader& header, const std::byte* payload);
  // Writes what was added. Calls `written(header)` for each frame that the kernel has taken whole.
  template <class Written>
  Outcome write(int fd, Written written) {
    Outcome outcome;
    while (!idle()) {
      const ssize_t sent = send_some(fd, outcome);
      if (sent <= 0) return outcome;
      outcome.moved = true;
      for (size_t left = static_cast<size_t>(sent); first_ < count_;) {
        Frame& frame = frames_[first_];
        const size_t taken = std::min(left, frame.size() - offset_);
        left -= taken;
        offset_ += taken;
        if (offset_ < frame.size()) break;
        written(frame.header);
        offset_ = 0;
        ++first_;
      }
    }
    first_ = count_ = 0;
    return outcome;
  }

 private:
  struct Frame {
    FrameHeader header;
    const std::byte* payload;
    size_t size() const { return sizeof header + header.bytes; }
  };
  // The result of one sendmsg, or 0 with *outcome saying why not.
  ssize_t send_some(int fd, Outcome& outcome);

  std::array<Frame, kFrames> frames_;
  size_t first_ = 0;   // the frame that is being written
  size_t offset_ = 0;  // bytes of it that are written
  size_t count_ = 0;
};

}  // namespace tutti::transport::tcp
