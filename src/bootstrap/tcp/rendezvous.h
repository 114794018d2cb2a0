// The rendezvous: where ranks that only know a unique id learn where their neighbour in the tree is.
//
// The root serves all ranks at once from one thread with non-blocking sockets; each rank tells it where it listens and
// gets, once all have come, the address of its parent. The root never holds more than that, and it ends after one
// communicator.
#pragma once

#include <atomic>

#include "base/config.h"
#include "base/net/fd.h"
#include "bootstrap/bootstrap.h"
#include "bootstrap/unique_id.h"

namespace tutti::bootstrap {

// The tree of the control network: rank 0 on top, kFanout children each.
inline constexpr int kFanout = 8;
constexpr int parent_of(int rank) {
  return (rank - 1) / kFanout;
}

// What a rank says when it comes, under the proof.
struct CheckIn {
  int rank = -1;
  int nranks = 0;
  net::SocketAddress address;  // where its children find it
};
Bytes encode(const CheckIn& check_in);
Result<CheckIn> decode_check_in(std::span<const std::byte> bytes);

// What the root answers, in a Link frame of type kAnswer.
struct Answer {
  Code code = Code::kOk;
  std::string text;           // when code is not kOk
  net::SocketAddress parent;  // except for rank 0
};
inline constexpr uint8_t kAnswer = 1;
Bytes encode(const Answer& answer);
Result<Answer> decode_answer(std::span<const std::byte> bytes);

inline constexpr std::string_view kRendezvousPurpose = "tutti rendezvous 1";
inline constexpr std::string_view kTreePurpose = "tutti control tree 1";

// Starts the root's thread on a listening socket. It ends when it has answered all ranks, or `timeout` after the first
// rank came (telling the others who is missing), or when nobody has come for an hour.
void start_root(net::Fd listener, const net::Secret& secret, std::chrono::seconds timeout);

// Waits, at most `limit`, until roots of this process that have failed have told every rank why. A rank that shares its
// process with the root and ends it at once would leave the others without an answer.
void wait_for_failing_roots(std::chrono::milliseconds limit);

}  // namespace tutti::bootstrap
