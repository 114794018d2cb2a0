#include "common/launch/frame.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace tutti::perf {

namespace {

bool send_all(int fd, const char* data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t sent = send(fd, data, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    data += sent;
    bytes -= static_cast<size_t>(sent);
  }
  return true;
}

bool receive_all(int fd, char* data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = recv(fd, data, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    data += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

bool send_frame(int fd, const std::string& text) {
  uint64_t length = text.size();
  std::string frame(reinterpret_cast<const char*>(&length), sizeof length);
  frame += text;
  return send_all(fd, frame.data(), frame.size());
}

bool receive_frame(int fd, std::string* text) {
  constexpr uint64_t kMost = uint64_t{1} << 30;  // no run gathers more; a stranger's bytes are not a length
  uint64_t length = 0;
  if (!receive_all(fd, reinterpret_cast<char*>(&length), sizeof length) || length > kMost) return false;
  text->resize(length);
  return receive_all(fd, text->data(), length);
}

std::string pack(const std::vector<std::string>& texts) {
  std::string packed;
  for (const std::string& text : texts) {
    const uint64_t length = text.size();
    packed.append(reinterpret_cast<const char*>(&length), sizeof length);
    packed += text;
  }
  return packed;
}

std::vector<std::string> unpack(const std::string& packed) {
  std::vector<std::string> texts;
  for (size_t at = 0; at + sizeof(uint64_t) <= packed.size();) {
    uint64_t length = 0;
    std::memcpy(&length, packed.data() + at, sizeof length);
    at += sizeof length;
    texts.push_back(packed.substr(at, length));
    at += length;
  }
  return texts;
}

}  // namespace tutti::perf
