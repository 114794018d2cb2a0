#include "bootstrap/notice.h"

#include <cstring>

namespace tutti::bootstrap {

namespace {

struct Head {
  int32_t rank;
  int32_t other;
  Fingerprint mine;
  Fingerprint theirs;
  Notice::Kind kind;
};

}  // namespace

Bytes encode(const Notice& notice) {
  Head head{};
  head.rank = notice.rank;
  head.other = notice.other;
  head.mine = notice.mine;
  head.theirs = notice.theirs;
  head.kind = notice.kind;
  Bytes bytes(sizeof head + notice.text.size());
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(bytes.data() + sizeof head, notice.text.data(), notice.text.size());
  return bytes;
}

Result<Notice> decode_notice(std::span<const std::byte> bytes, int nranks) {
  Head head{};
  if (bytes.size() < sizeof head)
    return error(Code::kRemoteError, "a notice of {} bytes; at least {} are expected", bytes.size(), sizeof head);
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.rank < 0 || head.rank >= nranks || head.other < -1 || head.other >= nranks ||
      head.kind > Notice::Kind::kFailed)
    return error(Code::kRemoteError, "a notice of kind {} about ranks {} and {} of {}", static_cast<int>(head.kind),
                 head.rank, head.other, nranks);
  Notice notice;
  notice.kind = head.kind;
  notice.rank = head.rank;
  notice.other = head.other;
  notice.mine = head.mine;
  notice.theirs = head.theirs;
  notice.text.assign(reinterpret_cast<const char*>(bytes.data()) + sizeof head, bytes.size() - sizeof head);
  return notice;
}

}  // namespace tutti::bootstrap
