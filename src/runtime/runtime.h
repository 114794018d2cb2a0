// The runtime's face to the C API: every public operation, with arguments already checked and translated.
//
// Read runtime/communicator.h next. All functions may be called from any thread; calls on one communicator must not
// overlap (as in NCCL), except comm_abort and comm_async_error. Functions return kInProgress where a non-blocking
// communicator has begun something that it has not finished. No function throws.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/status.h"
#include "base/types.h"

namespace tutti::runtime {

class Communicator;  // ncclComm_t is a Communicator*

// ncclConfig_t, parsed and validated; what host memory has no use for is left out.
struct CommOptions {
  bool blocking = true;
  std::string name;
};

// A reduction as a call asks for it.
struct ReduceSpec {
  ReduceOp op = ReduceOp::kSum;
  alignas(8) unsigned char scalar[8] = {};  // kPreMulSum: the factor, in the data type of the operation
};

// --- communicators. `*out` is NULL until the communicator is usable, except for non-blocking ones and inside a group.
Result<std::array<char, 128>> get_unique_id();
Status comm_init_rank(Communicator** out, int nranks, const std::array<char, 128>& id, int rank, const CommOptions&);
Status comm_init_all(Communicator** out, int n, const int* devices);  // devices may be null: 0 .. n-1
bool comm_is_valid(const void* handle);                               // safe for any pointer
Status comm_finalize(Communicator*);
Status comm_destroy(Communicator*);
Status comm_abort(Communicator*);
Status comm_async_error(Communicator*, Status* out);  // *out: what ncclCommGetAsyncError reports
int comm_count(const Communicator*);
int comm_rank(const Communicator*);
int comm_device(const Communicator*);

// --- groups: per thread, nest.
Status group_start();
Status group_end();
bool in_group();
// A call inside this thread's group was refused: the group will not run, and its end returns the first such status.
void group_refuse(const Status& status);

// --- collectives on host memory. stream: null, or a handle from stream_create.
Status all_reduce(Communicator*, const void* send, void* recv, uint64_t count, DataType, const ReduceSpec&,
                  void* stream);

// --- reduction operators made by the user: handles >= 5, private to the communicator.
// read_later: the scalar is read at each call that uses the operator (ncclScalarDevice), else now.
Status red_op_create_premulsum(Communicator*, const void* scalar, DataType, bool read_later, int* op_out);
Status red_op_lookup(Communicator*, int op, DataType, ReduceSpec* out);
Status red_op_destroy(Communicator*, int op);

// --- memory that ranks of other processes can map.
Result<void*> mem_alloc(size_t bytes);
Status mem_free(void* address);
Status comm_register(Communicator*, void* address, size_t bytes, void** handle);
Status comm_deregister(Communicator*, void* handle);

// --- host streams and events.
bool stream_is_valid(const void* stream);  // null and our own handles
Result<void*> stream_create();
Status stream_destroy(void* stream);  // waits for what was issued
Status stream_synchronize(void* stream);
Status stream_query(void* stream);  // kInProgress while something is unfinished
Result<void*> event_create();
Status event_destroy(void* event);
Status event_record(void* event, void* stream);
Status event_synchronize(void* event);
Status event_query(void* event);
Status stream_wait_event(void* stream, void* event);

// --- the process's last error, for ncclGetLastError. The text stays valid until this thread asks again.
void set_last_error(const Status& status);
const char* last_error_text();
std::mutex& last_error_mutex();  // for fork.h; nothing else is locked under it

}  // namespace tutti::runtime
