#include "runtime/members.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace tutti::runtime {

namespace {

// The layout of a Member on the wire; changes with every change of Member or of what ranks must agree on.
constexpr uint32_t kFormat = 0x54550001;

class Writer {
 public:
  template <class T>
  void number(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    out.insert(out.end(), bytes, bytes + sizeof value);
  }
  void text(const std::string& value) {
    number(static_cast<uint32_t>(value.size()));
    const auto* bytes = reinterpret_cast<const std::byte*>(value.data());
    out.insert(out.end(), bytes, bytes + value.size());
  }
  std::vector<std::byte> out;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> in) : in_(in) {}
  template <class T>
  T number() {
    T value{};
    if (in_.size() < sizeof value) {
      good = false;
      return value;
    }
    std::memcpy(&value, in_.data(), sizeof value);
    in_ = in_.subspan(sizeof value);
    return value;
  }
  std::string text() {
    const auto size = number<uint32_t>();
    if (!good || in_.size() < size) {
      good = false;
      return {};
    }
    std::string value(reinterpret_cast<const char*>(in_.data()), size);
    in_ = in_.subspan(size);
    return value;
  }
  bool good = true;

 private:
  std::span<const std::byte> in_;
};

}  // namespace

std::vector<std::byte> encode(const Member& m) {
  Writer w;
  w.number(kFormat);
  w.number(m.peer.rank);
  w.number(m.peer.host);
  w.number(m.peer.process);
  w.number(m.peer.pid);
  w.text(m.peer.hostname);
  w.number(m.cores);
  w.number(static_cast<uint8_t>(m.shm_disable));
  w.number(static_cast<uint8_t>(m.p2p_disable));
  w.text(m.allreduce);
  w.text(m.algo);
  w.number(m.shape.flights);
  w.number(m.shape.lanes);
  w.number(m.shape.depth);
  w.number(m.shape.slot_bytes);
  return std::move(w.out);
}

Result<Member> decode_member(std::span<const std::byte> bytes, int rank) {
  Reader r(bytes);
  const auto format = r.number<uint32_t>();
  if (r.good && format != kFormat)
    return error(Code::kInvalidUsage, "rank {} speaks member format {:#x}, this rank {:#x}: another version of Tutti?",
                 rank, format, kFormat);
  Member m;
  m.peer.rank = r.number<int>();
  m.peer.host = r.number<uint64_t>();
  m.peer.process = r.number<uint64_t>();
  m.peer.pid = r.number<int>();
  m.peer.hostname = r.text();
  m.cores = r.number<uint32_t>();
  m.shm_disable = r.number<uint8_t>() != 0;
  m.p2p_disable = r.number<uint8_t>() != 0;
  m.allreduce = r.text();
  m.algo = r.text();
  m.shape.flights = r.number<uint32_t>();
  m.shape.lanes = r.number<uint32_t>();
  m.shape.depth = r.number<uint32_t>();
  m.shape.slot_bytes = r.number<uint32_t>();
  if (!r.good || m.peer.rank != rank)
    return error(Code::kInternalError, "the description of rank {} is damaged ({} bytes)", rank, bytes.size());
  return m;
}

std::vector<int> nodes_of(const Members& members) {
  std::map<uint64_t, int> numbers;
  std::vector<int> nodes;
  for (const Member& m : members)
    nodes.push_back(numbers.emplace(m.peer.host, static_cast<int>(numbers.size())).first->second);
  return nodes;
}

std::vector<int> cores_of_nodes(const Members& members, const std::vector<int>& nodes) {
  std::vector<int> cores(nodes.empty() ? 0 : static_cast<size_t>(*std::max_element(nodes.begin(), nodes.end())) + 1);
  for (size_t rank = 0; rank < members.size(); ++rank) {
    int& known = cores[static_cast<size_t>(nodes[rank])];
    known = std::max(known, static_cast<int>(members[rank].cores));
  }
  return cores;
}

bool crowded(const Members& members) {
  // Several "nodes" of one machine (NCCL_HOSTID) share its cores, hence the host name and not the host identity.
  std::map<std::string, std::pair<uint32_t, uint32_t>> machines;  // ranks, cores
  for (const Member& m : members) {
    auto& [ranks, cores] = machines[m.peer.hostname];
    ++ranks;
    cores = std::max(cores, m.cores);
  }
  for (const auto& [name, machine] : machines)
    if (machine.first > machine.second) return true;
  return false;
}

}  // namespace tutti::runtime
