/* What NCCL has no word for: host streams, events, Tutti's own version.
 *
 * Two kinds of memory. With host pointers, the stream argument of a collective means:
 *   NULL (also CUDA's legacy and per-thread default streams, 1 and 2)
 *                        the call, or the outermost ncclGroupEnd, returns when the result is there; on a non-blocking
 *                        communicator the result is there once ncclCommGetAsyncError says ncclSuccess;
 *   a tuttiStream_t      the call returns at once; the result is there after tuttiStreamSynchronize.
 * Operations of one stream run in order, streams run side by side. Operations of one communicator start in the order in
 * which they were issued, whatever their stream. Any other handle is refused with ncclInvalidArgument and never
 * dereferenced.
 *
 * All functions may be called from any thread. Results are those of nccl.h; ncclGetLastError has the text.
 */
#ifndef TUTTI_TUTTI_H_
#define TUTTI_TUTTI_H_

#include "../nccl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tutti's version: major * 10000 + minor * 100 + patch. (ncclGetVersion gives the version of NCCL that is spoken.) */
ncclResult_t tuttiGetVersion(int* version);

/* A host stream. Pass it where an nccl function takes a cudaStream_t. Owned by the caller. */
typedef cudaStream_t tuttiStream_t;

ncclResult_t tuttiStreamCreate(tuttiStream_t* stream);
/* Waits for what was issued; its error is the result. The handle is invalid afterwards. */
ncclResult_t tuttiStreamDestroy(tuttiStream_t stream);
/* Waits until everything issued so far has ended. Returns the first error since the last call, and forgets it. */
ncclResult_t tuttiStreamSynchronize(tuttiStream_t stream);
/* ncclInProgress while something is unfinished, else as tuttiStreamSynchronize. Never blocks. */
ncclResult_t tuttiStreamQuery(tuttiStream_t stream);

/* A point in a stream. Until it is recorded, there is nothing to wait for. */
typedef struct tuttiEvent* tuttiEvent_t;

ncclResult_t tuttiEventCreate(tuttiEvent_t* event);
ncclResult_t tuttiEventDestroy(tuttiEvent_t event);
/* The event now stands for everything issued on `stream` so far. NULL stream: nothing to wait for. */
ncclResult_t tuttiEventRecord(tuttiEvent_t event, tuttiStream_t stream);
ncclResult_t tuttiEventSynchronize(tuttiEvent_t event);
ncclResult_t tuttiEventQuery(tuttiEvent_t event);
/* What is issued on `stream` from now on waits for the event as it stands now. NULL stream: the call itself waits. */
ncclResult_t tuttiStreamWaitEvent(tuttiStream_t stream, tuttiEvent_t event);

#ifdef __cplusplus
}
#endif

#endif
