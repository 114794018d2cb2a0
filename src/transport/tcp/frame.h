// What travels over a data socket: frames, each a header and, for a message, its payload.
//
// Messages go from the sender to the receiver; credits, and the farewell of either side, are headers alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/fingerprint.h"

namespace tutti::transport::tcp {

enum class FrameKind : uint32_t {
  kMessage = 0x7471'0001,
  kCredit = 0x7471'0002,    // `number`: messages of `channel` that the receiver has released so far
  kFarewell = 0x7471'0003,  // the end of the stream that follows is no failure
};

struct FrameHeader {
  FrameKind kind = FrameKind::kMessage;
  uint32_t channel = 0;
  uint64_t number = 0;  // of the message in its channel, from 0
  uint32_t bytes = 0;   // of the payload
  uint32_t check = 0;   // checksum() of the rest
  Fingerprint fingerprint{};

  // Tells a stream that has slipped or was tampered with from a header; the payload is TCP's business.
  uint32_t checksum() const {
    FrameHeader copy = *this;
    copy.check = 0;
    uint64_t words[sizeof(FrameHeader) / 8];
    std::memcpy(words, &copy, sizeof copy);
    uint64_t sum = 0x9e37'79b9'7f4a'7c15;
    for (const uint64_t word : words) sum = (sum ^ word) * 0xff51'afd7'ed55'8ccd + (sum >> 29);
    return static_cast<uint32_t>(sum >> 32);
  }
  bool known() const {
    return kind == FrameKind::kMessage || kind == FrameKind::kCredit || kind == FrameKind::kFarewell;
  }
};
static_assert(sizeof(FrameHeader) == 56);

}  // namespace tutti::transport::tcp
