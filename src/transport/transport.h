// The transport contract. Read slot_queue.h first.
//
// A Transport object belongs to one rank of one communicator and reaches that communicator's other ranks over one kind
// of wire (in_process, shm, tcp; later rdma, cuda_ipc). Data flows from a sender's end to a receiver's end; the sender
// connects, the receiver accepts, so that two ranks that need each other never meet half way:
//
//   rank a: SendEnd* e = transport.sender(b)      starts to connect at the first call, never blocks
//   rank b: RecvEnd* e = transport.receiver(a)    nullptr until a has connected and both have proved the secret
//
// Each end offers `flights * lanes` independent queues, one for every operation that may be in flight and every lane of
// its plan. A queue that stalls never blocks another one, also where they share a socket: a transport only carries a
// message whose slot on the far side is free.
//
// Ownership: a transport owns its ends, rings and sockets; queue references live until the transport is destroyed.
// Destroying a transport frees everything at once, whatever state the peers are in (dead, frozen, connecting).
// Threads: sender(), receiver(), receivers(), progress() and failure() may be called from any thread at any time; a
// queue has one user at a time. No call ever blocks or waits for a peer. Errors: a broken connection is never repaired
// silently; failure() tells it, with host, pid and cause.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/types.h"
#include "transport/doorbell.h"
#include "transport/slot_queue.h"

namespace tutti::transport {

// What a transport must know about a rank, its own or another. Exchanged through the bootstrap once per communicator.
struct Peer {
  int rank = -1;
  uint64_t host = 0;     // equal: one node (NCCL_HOSTID, else hash of host name and boot id)
  uint64_t process = 0;  // equal: one process (drawn at random at first use)
  int pid = 0;
  std::string hostname;
  // For messages: "rank 3 (pid 4711 on node7)".
  std::string name() const;
};

// Sizes that both ends of every connection must agree on; part of the snapshot.
struct QueueShape {
  uint32_t flights = 4;             // operations of one communicator in flight
  uint32_t lanes = 8;               // lanes of one operation
  uint32_t depth = 8;               // slots a queue, power of two
  uint32_t slot_bytes = 64 * 1024;  // payload bytes a slot, a multiple of 64
  friend bool operator==(const QueueShape&, const QueueShape&) = default;

  uint32_t channels() const { return flights * lanes; }
  uint32_t channel(uint32_t flight, uint32_t lane) const { return flight * lanes + lane; }
  size_t stride() const { return kCacheLine + slot_bytes; }
};

// Memory that a transport was told about, so that it can be read or written straight. Returned by register_memory.
struct Registration {
  void* address = nullptr;
  size_t bytes = 0;
  MemoryKind kind = MemoryKind::kHost;
  uint64_t handle = 0;            // the transport's own
  std::vector<std::byte> remote;  // what a peer needs to reach it; opaque, sent through the control network
};

class SendEnd {
 public:
  virtual ~SendEnd() = default;
  // True once queues may be used. Until then the end is connecting: call the transport's progress().
  virtual bool ready() const = 0;
  virtual SendQueue& queue(uint32_t flight, uint32_t lane) = 0;
  // True when messages published with kReference for [address, address + bytes) can be read by the peer.
  virtual bool can_reference(const void* address, size_t bytes, MemoryKind kind) const = 0;
  // Bytes from which on that is faster than a copy into a slot; SIZE_MAX: never.
  virtual size_t lend_from() const = 0;
  // Takes back the memory of all references that have not been released: when it returns, nobody reads that memory any
  // more, or what is read is not used. Never waits for another process. Nothing more can be sent over this end.
  virtual void revoke() = 0;
};

class RecvEnd {
 public:
  virtual ~RecvEnd() = default;
  virtual RecvQueue& queue(uint32_t flight, uint32_t lane) = 0;
  // The memory that a kReference message names, where this process can see it; nullptr where it cannot (then pull()),
  // and when the sender has revoked it. Each pointer is followed by one end_view() when the reading is done.
  virtual const void* view(const SlotHeader& message) = 0;
  virtual void end_view() = 0;
  // Copies `bytes` bytes at `offset` of that memory. Fails, and reports nothing, when the sender has revoked it; fails
  // and reports a Failure when it cannot be read.
  virtual Status pull(const SlotHeader& message, size_t offset, void* to, size_t bytes) = 0;
};

// What failed, and with whom.
struct Failure {
  int peer = -1;  // -1: the transport as a whole
  Status status;  // kRemoteError when the peer is gone, kSystemError when this side cannot go on
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::string_view name() const = 0;  // "shm"

  // What other ranks need to connect to this one; opaque to all but the same kind of transport.
  virtual std::vector<std::byte> address() const = 0;
  // Called once, after the exchange: everybody's Peer and address() blob, indexed by rank. No ends exist before.
  virtual Status start(std::span<const Peer> peers, std::span<const std::vector<std::byte>> addresses) = 0;

  // Whether `peer` can be reached, before anyone asks for an end; !ok carries the reason for the log, not an error.
  // Both sides of a pair must come to the same answer from the same data.
  virtual Status reaches(int peer) const = 0;

  // nullptr: there is no such rank, or no memory for its queues (failures() tells). A peer that cannot be reached has
  // an end that never becomes ready, and a failure.
  virtual SendEnd* sender(int peer) = 0;
  virtual RecvEnd* receiver(int peer) = 0;
  // Ranks from which a connection has come in so far (to look for messages of operations that we are not in).
  virtual std::vector<int> receivers() const = 0;

  // Does what can be done without waiting: accepts, proves, connects, carries messages. Returns true when anything
  // moved. Several threads may call it; all but one return at once.
  virtual bool progress() = 0;
  // True when progress() has work that no other process does for it (tcp). For shm and in_process only while
  // connections are being made, so that the fast path skips the call.
  virtual bool needs_progress() const = 0;
  // True when messages travel through this transport's own buffers or a socket, so that what a peer has published may
  // not have arrived yet (tcp, rdma); false when both ends share the queues.
  virtual bool carries() const = 0;
  // True when destroying this transport would lose nothing: every published message is in memory that its receiver has
  // (shm, in_process), or was released by it (tcp). May say false for a moment while another thread is in progress().
  // A rank that leaves in good order waits for it, with progress() and a deadline.
  virtual bool drained() { return true; }
  // True while published messages still have to be handed to the wire by progress(): whoever stops calling it must see
  // to it that somebody else does. One atomic load.
  virtual bool has_output() const { return false; }
  // Becomes readable when progress() has something to do; -1 when it never has. May be an epoll descriptor.
  virtual int wait_descriptor() const = 0;

  // The first failure with each peer so far. Empty on the good path; `failed()` is one atomic load.
  virtual bool failed() const = 0;
  virtual std::vector<Failure> failures() const = 0;

  virtual Result<Registration> register_memory(void* address, size_t bytes, MemoryKind kind) = 0;
  virtual Status deregister_memory(const Registration& registration) = 0;
};

}  // namespace tutti::transport
