/* NCCL's public C interface, version 2.28.9, as Tutti provides it: the same names, values, layouts and calling
 * conventions, so that programs compiled against either header run on either library.
 *
 * Works as C99 and as C++. With CUDA's headers in the include path it takes cudaStream_t from them, like NCCL's own
 * header; without them (or with TUTTI_NO_CUDA_HEADERS defined) it declares an opaque pointer of the same ABI.
 *
 * What host buffers and streams mean, and what Tutti promises beyond NCCL, stands in tutti/tutti.h and in the README.
 * Functions that Tutti does not carry out yet are exported, return ncclInvalidUsage and say so in ncclGetLastError().
 */
#ifndef NCCL_H_
#define NCCL_H_

#if !defined(TUTTI_NO_CUDA_HEADERS) && defined(__has_include)
#if __has_include(<cuda_runtime.h>)
#define TUTTI_HAVE_CUDA_HEADERS 1
#endif
#endif

#ifdef TUTTI_HAVE_CUDA_HEADERS
#include <cuda_runtime.h>

#include <cuda_fp16.h>
#if CUDART_VERSION >= 11000
#include <cuda_bf16.h>
#endif
#if defined(__cplusplus) && CUDART_VERSION >= 11080
#include <cuda_fp8.h>
#endif
#else
typedef struct CUstream_st* cudaStream_t;
#endif

#include <limits.h>
#include <stddef.h>

#define NCCL_MAJOR 2
#define NCCL_MINOR 28
#define NCCL_PATCH 9
#define NCCL_SUFFIX ""

#define NCCL_VERSION_CODE 22809
/* Up to 2.8 a version was written with three digits behind the major number, since then with four. */
#define NCCL_VERSION(X, Y, Z) (((X) <= 2 && (Y) <= 8) ? (X)*1000 + (Y)*100 + (Z) : (X)*10000 + (Y)*100 + (Z))

#ifdef __cplusplus
extern "C" {
#endif

/* Declares a function under both of its names. The nccl name is a weak symbol, so that a tool can go in front. */
#define TUTTI_NCCL_FUNCTION(type, name, arguments) \
  type name arguments;                             \
  type p##name arguments

/* ---- types ---- */

typedef struct ncclComm* ncclComm_t;
typedef struct ncclWindow_vidmem* ncclWindow_t;
#define NCCL_COMM_NULL NULL

#define NCCL_UNIQUE_ID_BYTES 128
typedef struct {
  char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

typedef enum {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7,
  ncclNumResults = 8
} ncclResult_t;

#define NCCL_CONFIG_UNDEF_INT INT_MIN
#define NCCL_CONFIG_UNDEF_PTR NULL
#define NCCL_SPLIT_NOCOLOR -1
#define NCCL_UNDEF_FLOAT -1.0f

/* Flags of window registration. */
#define NCCL_WIN_DEFAULT 0x00
#define NCCL_WIN_COLL_SYMMETRIC 0x01
#define NCCL_WIN_REQUIRED_ALIGNMENT 4096

/* Values of ncclConfig_t.CTAPolicy. */
#define NCCL_CTA_POLICY_DEFAULT 0x00
#define NCCL_CTA_POLICY_EFFICIENCY 0x01
#define NCCL_CTA_POLICY_ZERO 0x02

/* Flags of ncclCommShrink and ncclCommRevoke. */
#define NCCL_SHRINK_DEFAULT 0x00
#define NCCL_SHRINK_ABORT 0x01
#define NCCL_REVOKE_DEFAULT 0x00

/* Fill it with NCCL_CONFIG_INITIALIZER, then set what is wanted. Fields at their UNDEF value are the library's choice.
 */
typedef struct ncclConfig_v22800 {
  size_t size;
  unsigned int magic;
  unsigned int version;
  int blocking; /* 0: calls return ncclInProgress and are polled with ncclCommGetAsyncError */
  int cgaClusterSize;
  int minCTAs;
  int maxCTAs;
  const char* netName;
  int splitShare;
  int trafficClass;
  const char* commName;
  int collnetEnable;
  int CTAPolicy;
  int shrinkShare;
  int nvlsCTAs;
  int nChannelsPerNetPeer;
  int nvlinkCentricSched;
} ncclConfig_t;

/* clang-format off */
#define NCCL_CONFIG_INITIALIZER { \
  sizeof(ncclConfig_t), 0xcafebeef, NCCL_VERSION(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH), \
  NCCL_CONFIG_UNDEF_INT /* blocking */,       NCCL_CONFIG_UNDEF_INT /* cgaClusterSize */, \
  NCCL_CONFIG_UNDEF_INT /* minCTAs */,        NCCL_CONFIG_UNDEF_INT /* maxCTAs */, \
  NCCL_CONFIG_UNDEF_PTR /* netName */,        NCCL_CONFIG_UNDEF_INT /* splitShare */, \
  NCCL_CONFIG_UNDEF_INT /* trafficClass */,   NCCL_CONFIG_UNDEF_PTR /* commName */, \
  NCCL_CONFIG_UNDEF_INT /* collnetEnable */,  NCCL_CONFIG_UNDEF_INT /* CTAPolicy */, \
  NCCL_CONFIG_UNDEF_INT /* shrinkShare */,    NCCL_CONFIG_UNDEF_INT /* nvlsCTAs */, \
  NCCL_CONFIG_UNDEF_INT /* nChannelsPerNetPeer */, NCCL_CONFIG_UNDEF_INT /* nvlinkCentricSched */ \
}
/* clang-format on */

/* Answer of ncclGroupSimulateEnd; estimatedTime in microseconds. */
typedef struct ncclSimInfo_v22200 {
  size_t size;
  unsigned int magic;
  unsigned int version;
  float estimatedTime;
} ncclSimInfo_t;

#define NCCL_SIM_INFO_INITIALIZER \
  { sizeof(ncclSimInfo_t), 0x74685283, NCCL_VERSION(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH), NCCL_UNDEF_FLOAT }

/* Its size is that of ncclRedOp_t, which the next enumeration needs. */
typedef enum { ncclNumOps_dummy = 5 } ncclRedOp_dummy_t;
typedef enum {
  ncclSum = 0,
  ncclProd = 1,
  ncclMax = 2,
  ncclMin = 3,
  ncclAvg = 4,
  ncclNumOps = 5, /* handles of user-made operators begin here */
  ncclMaxRedOp = 0x7fffffff >> (32 - 8 * sizeof(ncclRedOp_dummy_t))
} ncclRedOp_t;

typedef enum {
  ncclInt8 = 0,
  ncclChar = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclInt = 2,
  ncclUint32 = 3,
  ncclInt64 = 4,
  ncclUint64 = 5,
  ncclFloat16 = 6,
  ncclHalf = 6,
  ncclFloat32 = 7,
  ncclFloat = 7,
  ncclFloat64 = 8,
  ncclDouble = 8,
  ncclBfloat16 = 9,
  ncclFloat8e4m3 = 10,
  ncclFloat8e5m2 = 11,
  ncclNumTypes = 12
} ncclDataType_t;

typedef enum {
  ncclScalarDevice = 0,       /* the scalar is read by each call that uses the operator */
  ncclScalarHostImmediate = 1 /* the scalar is copied by the call */
} ncclScalarResidence_t;

/* ---- versions and errors ---- */

TUTTI_NCCL_FUNCTION(ncclResult_t, ncclGetVersion, (int* version));
TUTTI_NCCL_FUNCTION(const char*, ncclGetErrorString, (ncclResult_t result));
/* Text of the process's last error; the argument is not used. Valid until the calling thread asks again. */
TUTTI_NCCL_FUNCTION(const char*, ncclGetLastError, (ncclComm_t comm));
#ifdef __cplusplus
#define TUTTI_NCCL_NO_ARGUMENTS ()
#else
#define TUTTI_NCCL_NO_ARGUMENTS (void)
#endif
__attribute__((deprecated("reads NCCL_DEBUG again; will go away"))) void ncclResetDebugInit TUTTI_NCCL_NO_ARGUMENTS;
__attribute__((deprecated("reads NCCL_DEBUG again; will go away"))) void pncclResetDebugInit TUTTI_NCCL_NO_ARGUMENTS;

/* ---- communicators ---- */

TUTTI_NCCL_FUNCTION(ncclResult_t, ncclGetUniqueId, (ncclUniqueId * uniqueId));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclCommInitRank, (ncclComm_t * comm, int nranks, ncclUniqueId commId, int rank));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclCommInitRankConfig,
                    (ncclComm_t * comm, int nranks, ncclUniqueId commId, int rank, ncclConfig_t* config));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclCommInitRankScalable,
                    (ncclComm_t * newcomm, int nranks, int myrank, int nId, ncclUniqueId* commIds,
                     ncclConfig_t* config));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclCommInitAll, (ncclComm_t * comm, int ndev, const int* devlist));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclCommFinalize, (ncclComm_t comm));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclCommDestroy, (ncclComm_t comm));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclCommAbort, (ncclComm_t comm));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclCommRevoke, (ncclComm_t comm, int revokeFlags));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclCommSplit,
                    (ncclComm_t comm, int color, int key, ncclComm_t* newcomm, ncclConfig_t* config));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclCommShrink,
                    (ncclComm_t comm, int* excludeRanksList, int excludeRanksCount, ncclComm_t* newcomm,
                     ncclConfig_t* config, int shrinkFlags));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclCommGetAsyncError, (ncclComm_t comm, ncclResult_t* asyncError));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclCommCount, (const ncclComm_t comm, int* count));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclCommCuDevice, (const ncclComm_t comm, int* device));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclCommUserRank, (const ncclComm_t comm, int* rank));

/* ---- memory ---- */

TUTTI_NCCL_FUNCTION(ncclResult_t, ncclMemAlloc, (void** ptr, size_t size));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclMemFree, (void* ptr));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclCommRegister, (const ncclComm_t comm, void* buff, size_t size, void** handle));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclCommDeregister, (const ncclComm_t comm, void* handle));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclCommWindowRegister,
                    (ncclComm_t comm, void* buff, size_t size, ncclWindow_t* win, int winFlags));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclCommWindowDeregister, (ncclComm_t comm, ncclWindow_t win));

/* ---- reduction operators ---- */

TUTTI_NCCL_FUNCTION(ncclResult_t, ncclRedOpCreatePreMulSum,
                    (ncclRedOp_t * op, void* scalar, ncclDataType_t datatype, ncclScalarResidence_t residence,
                     ncclComm_t comm));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclRedOpDestroy, (ncclRedOp_t op, ncclComm_t comm));

/* ---- collectives; counts are elements ---- */

TUTTI_NCCL_FUNCTION(ncclResult_t, ncclReduce,
                    (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                     int root, ncclComm_t comm, cudaStream_t stream));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclBcast,
                    (void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                     cudaStream_t stream));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclBroadcast,
                    (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                     ncclComm_t comm, cudaStream_t stream));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclAllReduce,
                    (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                     ncclComm_t comm, cudaStream_t stream));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclReduceScatter,
                    (const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype, ncclRedOp_t op,
                     ncclComm_t comm, cudaStream_t stream));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclAllGather,
                    (const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype, ncclComm_t comm,
                     cudaStream_t stream));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclAlltoAll,
                    (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclComm_t comm,
                     cudaStream_t stream));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclGather,
                    (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                     ncclComm_t comm, cudaStream_t stream));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclScatter,
                    (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                     ncclComm_t comm, cudaStream_t stream));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclSend,
                    (const void* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                     cudaStream_t stream));
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclRecv,
                    (void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                     cudaStream_t stream));

/* ---- groups ---- */

TUTTI_NCCL_FUNCTION(ncclResult_t, ncclGroupStart, TUTTI_NCCL_NO_ARGUMENTS);
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclGroupEnd, TUTTI_NCCL_NO_ARGUMENTS);
TUTTI_NCCL_FUNCTION(ncclResult_t, ncclGroupSimulateEnd, (ncclSimInfo_t * simInfo));

#undef TUTTI_NCCL_NO_ARGUMENTS
#undef TUTTI_NCCL_FUNCTION

#ifdef __cplusplus
}
#endif

#endif
