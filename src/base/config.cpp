#include "base/config.h"

#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>

#include "base/log.h"

namespace tutti {

namespace {

// NCCL's order: the process environment, then NCCL_CONF_FILE or ~/.nccl.conf, then /etc/nccl.conf.
class Sources {
 public:
  Sources() {
    const char* named = std::getenv("NCCL_CONF_FILE");
    if (named != nullptr) {
      read(named);
    } else if (const char* home = std::getenv("HOME")) {
      read(std::string(home) + "/.nccl.conf");
    }
    read("/etc/nccl.conf");
  }
  std::optional<std::string> find(const char* name) const {
    if (const char* value = std::getenv(name)) return std::string(value);
    const auto it = files_.find(name);
    return it == files_.end() ? std::nullopt : std::optional(it->second);
  }

 private:
  void read(const std::string& path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line[0] == '#') continue;
      const size_t equals = line.find('=');
      if (equals == std::string::npos) continue;
      const auto strip = [](std::string text) {
        text.erase(0, text.find_first_not_of(" \t"));
        text.erase(text.find_last_not_of(" \t\r") + 1);
        return text;
      };
      files_.emplace(strip(line.substr(0, equals)), strip(line.substr(equals + 1)));  // the first file wins
    }
  }
  std::map<std::string, std::string> files_;
};

Status bad(const char* name, const std::string& value, std::string_view accepted) {
  return error(Code::kInvalidUsage, "{}=\"{}\": accepted is {}", name, value, accepted);
}

class Reader {
 public:
  Status status;

  void text(const char* name, std::optional<std::string>* out) {
    if (auto value = sources_.find(name)) *out = *value;
  }
  template <class T>
  void number(const char* name, T low, T high, T* out) {
    const auto value = sources_.find(name);
    if (!value.has_value() || value->empty()) return;
    long long parsed = 0;
    const char* end = value->data() + value->size();
    const auto [rest, failure] = std::from_chars(value->data(), end, parsed);
    if (failure != std::errc() || rest != end || parsed < static_cast<long long>(low) ||
        parsed > static_cast<long long>(high))
      return fail(bad(name, *value, fmt::format("a whole number from {} to {}", low, high)));
    *out = static_cast<T>(parsed);
  }
  void flag(const char* name, bool* out) {
    int value = *out ? 1 : 0;
    number(name, 0, 1, &value);
    *out = value != 0;
  }
  void flag(const char* name, std::optional<bool>* out) {
    int value = -1;
    number(name, 0, 1, &value);
    if (value >= 0) *out = value != 0;
  }
  void seconds(const char* name, std::chrono::seconds* out) {
    auto value = static_cast<long long>(out->count());
    number<long long>(name, 0, 10'000'000, &value);
    *out = std::chrono::seconds(value);
  }
  void word(const char* name, const std::vector<std::pair<std::string_view, std::function<void()>>>& words) {
    const auto value = sources_.find(name);
    if (!value.has_value() || value->empty()) return;
    std::string accepted;
    for (const auto& [text, action] : words) {
      if (*value == text) return action();
      accepted += fmt::format("{}{}", accepted.empty() ? "" : ", ", text);
    }
    fail(bad(name, *value, accepted));
  }
  void fail(Status reason) {
    if (status.ok()) status = std::move(reason);
  }

 private:
  Sources sources_;
};

Status read_secret_file(Config& config) {
  const char* path = std::getenv("TUTTI_SECRET_FILE");
  if (path == nullptr || config.secret.has_value()) return {};
  std::ifstream file(path, std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.good() && !file.eof()) return error(Code::kInvalidUsage, "TUTTI_SECRET_FILE=\"{}\": cannot be read", path);
  content.erase(content.find_last_not_of("\r\n") + 1);
  if (content.empty()) return error(Code::kInvalidUsage, "TUTTI_SECRET_FILE=\"{}\": cannot be read, or is empty", path);
  config.secret = content;
  return {};
}

}  // namespace

Result<Config> Config::from_environment() {
  Config c;
  Reader r;
  r.text("NCCL_COMM_ID", &c.comm_id);
  r.text("TUTTI_SECRET", &c.secret);
  if (c.secret.has_value() && c.secret->empty()) c.secret.reset();
  r.flag("TUTTI_INSECURE", &c.insecure);
  r.text("NCCL_SOCKET_IFNAME", &c.socket_interfaces);
  r.word("NCCL_SOCKET_FAMILY",
         {{"AF_INET", [&c] { c.socket_family = AF_INET; }}, {"AF_INET6", [&c] { c.socket_family = AF_INET6; }}});
  r.text("NCCL_HOSTID", &c.host_id);
  r.seconds("TUTTI_INIT_TIMEOUT", &c.init_timeout);
  r.seconds("TUTTI_TIMEOUT", &c.timeout);
  r.flag("NCCL_SHM_DISABLE", &c.shm_disable);
  r.flag("NCCL_P2P_DISABLE", &c.p2p_disable);
  r.flag("TUTTI_LEND", &c.lend);
  int threads = 0;
  int sockets = 0;
  r.number("NCCL_SOCKET_NTHREADS", -2, 16, &threads);
  r.number("NCCL_NSOCKS_PERTHREAD", -2, 64, &sockets);
  if (threads > 0 || sockets > 0) c.sockets_per_peer = std::max(1, threads) * std::max(1, sockets);
  if (c.sockets_per_peer > 64)
    r.fail(error(Code::kInvalidUsage, "NCCL_SOCKET_NTHREADS * NCCL_NSOCKS_PERTHREAD = {}: accepted is at most 64",
                 c.sockets_per_peer));
  r.number("TUTTI_SLOT_BYTES", 1024u, 16u << 20, &c.slot_bytes);
  if (c.slot_bytes % 64 != 0) r.fail(bad("TUTTI_SLOT_BYTES", std::to_string(c.slot_bytes), "a multiple of 64"));
  r.number("TUTTI_QUEUE_DEPTH", 2u, 256u, &c.queue_depth);
  if (c.queue_depth != 0 && !std::has_single_bit(c.queue_depth))
    r.fail(bad("TUTTI_QUEUE_DEPTH", std::to_string(c.queue_depth), "a power of two from 2 to 256"));
  r.text("TUTTI_ALLREDUCE", &c.allreduce);
  r.text("NCCL_ALGO", &c.algo);
  r.word("TUTTI_SIMD", {{"SCALAR", [&c] { c.simd = "SCALAR"; }},
                        {"SSE2", [&c] { c.simd = "SSE2"; }},
                        {"SSE4", [&c] { c.simd = "SSE4"; }},
                        {"AVX2", [&c] { c.simd = "AVX2"; }},
                        {"AVX3", [&c] { c.simd = "AVX3"; }},
                        {"NEON", [&c] { c.simd = "NEON"; }}});
  r.flag("NCCL_CHECK_POINTERS", &c.check_pointers);
  r.word("NCCL_CHECK_MODE", {{"DEFAULT", [] {}},
                             {"DEBUG_LOCAL", [&c] { c.check_pointers = true; }},
                             {"DEBUG_GLOBAL", [&c] { c.check_pointers = true; }}});
  r.flag("NCCL_COMM_BLOCKING", &c.comm_blocking);
  r.number("TUTTI_NCCL_VERSION", 2000, 99999, &c.reported_version);
  if (!r.status.ok()) return r.status;
  TUTTI_RETURN_IF_ERROR(check_log_environment());
  TUTTI_RETURN_IF_ERROR(read_secret_file(c));
  return c;
}

const Result<Config>& process_config() {
  static const auto* config = new Result<Config>(Config::from_environment());
  return *config;
}

}  // namespace tutti
