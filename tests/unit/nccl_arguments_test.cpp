// What the C API refuses, how it says so, and what it lets pass, on communicators that live.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "nccl.h"
#include "tutti/tutti.h"

namespace {

bool last_error_has(const std::string& part) {
  return std::string(ncclGetLastError(nullptr)).find(part) != std::string::npos;
}
#define EXPECT_REFUSED(call, code, part)                            \
  do {                                                              \
    EXPECT_EQ(call, code);                                          \
    EXPECT_TRUE(last_error_has(part)) << ncclGetLastError(nullptr); \
  } while (false)

template <class Enum>
Enum as(int value) {
  Enum result;
  std::memcpy(&result, &value, sizeof result);  // any value, as a C caller can pass it
  return result;
}

// Communicators of ranks in this thread.
class Arguments : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    comms_.resize(static_cast<size_t>(GetParam()));
    ASSERT_EQ(ncclCommInitAll(comms_.data(), GetParam(), nullptr), ncclSuccess) << ncclGetLastError(nullptr);
  }
  void TearDown() override {
    for (const ncclComm_t comm : comms_) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  }

  // A right operation on all ranks still works after whatever was refused.
  void expect_working() {
    std::vector<int> values(comms_.size(), 1);
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    for (size_t r = 0; r < comms_.size(); ++r)
      ASSERT_EQ(ncclAllReduce(&values[r], &values[r], 1, ncclInt, ncclSum, comms_[r], nullptr), ncclSuccess);
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << ncclGetLastError(nullptr);
    for (const int value : values) EXPECT_EQ(value, static_cast<int>(comms_.size()));
  }

  std::vector<ncclComm_t> comms_;
  std::array<float, 64> a_{}, b_{};
};
INSTANTIATE_TEST_SUITE_P(Ranks, Arguments, testing::Values(1, 3));

TEST_P(Arguments, TypesOpsAndBuffers) {
  const ncclComm_t comm = comms_[0];
  float* const a = a_.data();
  float* const b = b_.data();
  for (const int type : {-1, static_cast<int>(ncclNumTypes), 1000})
    EXPECT_REFUSED(ncclAllReduce(a, b, 4, as<ncclDataType_t>(type), ncclSum, comm, nullptr), ncclInvalidArgument,
                   std::to_string(type));
  for (const int op : {-1, static_cast<int>(ncclNumOps), 1000, static_cast<int>(ncclMaxRedOp)})
    EXPECT_REFUSED(ncclAllReduce(a, b, 4, ncclFloat, as<ncclRedOp_t>(op), comm, nullptr), ncclInvalidArgument,
                   std::to_string(op));
  EXPECT_REFUSED(ncclAllReduce(nullptr, b, 4, ncclFloat, ncclSum, comm, nullptr), ncclInvalidArgument, "sendbuff");
  EXPECT_REFUSED(ncclAllReduce(a, nullptr, 4, ncclFloat, ncclSum, comm, nullptr), ncclInvalidArgument, "recvbuff");
  expect_working();
}

TEST_P(Arguments, CountZeroIsASuccessButStillChecked) {
  EXPECT_EQ(ncclAllReduce(nullptr, nullptr, 0, ncclFloat, ncclSum, comms_[0], nullptr), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(nullptr, nullptr, 0, as<ncclDataType_t>(50), ncclSum, comms_[0], nullptr),
            ncclInvalidArgument);
  expect_working();
}

TEST_P(Arguments, Streams) {
  int one = 1;
  const auto foreign = reinterpret_cast<cudaStream_t>(&one);
  EXPECT_REFUSED(ncclAllReduce(a_.data(), b_.data(), 4, ncclFloat, ncclSum, comms_[0], foreign), ncclInvalidArgument,
                 "tuttiStreamCreate");
  tuttiStream_t stream = nullptr;
  ASSERT_EQ(tuttiStreamCreate(&stream), ncclSuccess);
  ASSERT_EQ(tuttiStreamDestroy(stream), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(a_.data(), b_.data(), 4, ncclFloat, ncclSum, comms_[0], stream), ncclInvalidArgument);
  EXPECT_EQ(tuttiStreamDestroy(stream), ncclInvalidArgument);
  EXPECT_EQ(tuttiStreamCreate(nullptr), ncclInvalidArgument);
  EXPECT_EQ(tuttiEventCreate(nullptr), ncclInvalidArgument);
  EXPECT_EQ(tuttiEventSynchronize(nullptr), ncclInvalidArgument);
  expect_working();
}

TEST_P(Arguments, CudasDefaultStreamsAreTheNullStream) {
  for (uintptr_t handle = 0; handle <= 2; ++handle) {
    std::vector<int> values(comms_.size(), 2);
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    for (size_t r = 0; r < comms_.size(); ++r)
      ASSERT_EQ(
          ncclAllReduce(&values[r], &values[r], 1, ncclInt, ncclMax, comms_[r], reinterpret_cast<cudaStream_t>(handle)),
          ncclSuccess);
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
    for (const int value : values) EXPECT_EQ(value, 2);
  }
}

TEST_P(Arguments, HostStreamsAndEvents) {
  tuttiStream_t stream = nullptr;
  tuttiEvent_t event = nullptr;
  ASSERT_EQ(tuttiStreamCreate(&stream), ncclSuccess);
  ASSERT_EQ(tuttiEventCreate(&event), ncclSuccess);
  std::vector<int> values(comms_.size(), 1);
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (size_t r = 0; r < comms_.size(); ++r)
    ASSERT_EQ(ncclAllReduce(&values[r], &values[r], 1, ncclInt, ncclSum, comms_[r], stream), ncclSuccess);
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
  ASSERT_EQ(tuttiEventRecord(event, stream), ncclSuccess);
  ASSERT_EQ(tuttiEventSynchronize(event), ncclSuccess);
  for (const int value : values) EXPECT_EQ(value, static_cast<int>(comms_.size()));
  EXPECT_EQ(tuttiEventQuery(event), ncclSuccess);
  EXPECT_EQ(tuttiStreamSynchronize(stream), ncclSuccess);
  EXPECT_EQ(tuttiEventDestroy(event), ncclSuccess);
  EXPECT_EQ(tuttiStreamDestroy(stream), ncclSuccess);
}

TEST_P(Arguments, Queries) {
  int value = -1;
  EXPECT_REFUSED(ncclCommCount(comms_[0], nullptr), ncclInvalidArgument, "NULL");
  EXPECT_REFUSED(ncclCommUserRank(comms_[0], nullptr), ncclInvalidArgument, "NULL");
  EXPECT_REFUSED(ncclCommCuDevice(comms_[0], nullptr), ncclInvalidArgument, "NULL");
  EXPECT_REFUSED(ncclCommGetAsyncError(comms_[0], nullptr), ncclInvalidArgument, "NULL");
  EXPECT_EQ(ncclCommUserRank(comms_.back(), &value), ncclSuccess);
  EXPECT_EQ(value, GetParam() - 1);
  const auto foreign = reinterpret_cast<ncclComm_t>(a_.data());
  EXPECT_EQ(ncclCommCount(foreign, &value), ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(a_.data(), b_.data(), 4, ncclFloat, ncclSum, foreign, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommDestroy(foreign), ncclInvalidArgument);
  EXPECT_EQ(ncclCommAbort(foreign), ncclInvalidArgument);
}

TEST_P(Arguments, ReductionOperators) {
  float factor = 2;
  ncclRedOp_t op = ncclSum;
  const ncclComm_t comm = comms_[0];
  EXPECT_REFUSED(ncclRedOpCreatePreMulSum(nullptr, &factor, ncclFloat, ncclScalarHostImmediate, comm),
                 ncclInvalidArgument, "op");
  EXPECT_REFUSED(ncclRedOpCreatePreMulSum(&op, nullptr, ncclFloat, ncclScalarHostImmediate, comm), ncclInvalidArgument,
                 "scalar");
  EXPECT_EQ(ncclRedOpCreatePreMulSum(&op, &factor, as<ncclDataType_t>(99), ncclScalarHostImmediate, comm),
            ncclInvalidArgument);
  EXPECT_REFUSED(ncclRedOpCreatePreMulSum(&op, &factor, ncclFloat, as<ncclScalarResidence_t>(7), comm),
                 ncclInvalidArgument, "7");
  ASSERT_EQ(ncclRedOpCreatePreMulSum(&op, &factor, ncclFloat, ncclScalarHostImmediate, comm), ncclSuccess);
  EXPECT_GE(static_cast<int>(op), static_cast<int>(ncclNumOps));
  // Made for another type.
  EXPECT_REFUSED(ncclAllReduce(a_.data(), b_.data(), 4, ncclDouble, op, comm, nullptr), ncclInvalidArgument, "double");
  EXPECT_EQ(ncclRedOpDestroy(op, comm), ncclSuccess);
  EXPECT_EQ(ncclRedOpDestroy(op, comm), ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(a_.data(), b_.data(), 4, ncclFloat, op, comm, nullptr), ncclInvalidArgument);
  expect_working();
}

TEST_P(Arguments, ARefusedCallFailsItsGroupAndNothingOfItRuns) {
  std::vector<int> values(comms_.size(), 1);
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (size_t r = 0; r < comms_.size(); ++r)
    ASSERT_EQ(ncclAllReduce(&values[r], &values[r], 1, ncclInt, ncclSum, comms_[r], nullptr), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(a_.data(), b_.data(), 4, as<ncclDataType_t>(50), ncclSum, comms_[0], nullptr),
            ncclInvalidArgument);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
  for (const int value : values) EXPECT_EQ(value, 1);
  expect_working();
}

TEST_P(Arguments, WhatIsUnavailableSaysItsName) {
  float* const a = a_.data();
  float* const b = b_.data();
  const ncclComm_t comm = comms_[0];
  ncclComm_t child = nullptr;
  ncclWindow_t window = nullptr;
  EXPECT_REFUSED(ncclReduce(a, b, 1, ncclFloat, ncclSum, 0, comm, nullptr), ncclInvalidUsage, "ncclReduce ");
  EXPECT_REFUSED(ncclBcast(a, 1, ncclFloat, 0, comm, nullptr), ncclInvalidUsage, "ncclBcast ");
  EXPECT_REFUSED(ncclBroadcast(a, b, 1, ncclFloat, 0, comm, nullptr), ncclInvalidUsage, "ncclBroadcast ");
  EXPECT_REFUSED(ncclAllGather(a, b, 1, ncclFloat, comm, nullptr), ncclInvalidUsage, "ncclAllGather ");
  EXPECT_REFUSED(ncclReduceScatter(a, b, 1, ncclFloat, ncclSum, comm, nullptr), ncclInvalidUsage, "ncclReduceScatter ");
  EXPECT_REFUSED(ncclAlltoAll(a, b, 1, ncclFloat, comm, nullptr), ncclInvalidUsage, "ncclAlltoAll ");
  EXPECT_REFUSED(ncclGather(a, b, 1, ncclFloat, 0, comm, nullptr), ncclInvalidUsage, "ncclGather ");
  EXPECT_REFUSED(ncclScatter(a, b, 1, ncclFloat, 0, comm, nullptr), ncclInvalidUsage, "ncclScatter ");
  EXPECT_REFUSED(ncclSend(a, 1, ncclFloat, 0, comm, nullptr), ncclInvalidUsage, "ncclSend ");
  EXPECT_REFUSED(ncclRecv(a, 1, ncclFloat, 0, comm, nullptr), ncclInvalidUsage, "ncclRecv ");
  EXPECT_REFUSED(ncclCommSplit(comm, 0, 0, &child, nullptr), ncclInvalidUsage, "ncclCommSplit ");
  EXPECT_REFUSED(ncclCommShrink(comm, nullptr, 0, &child, nullptr, 0), ncclInvalidUsage, "ncclCommShrink ");
  EXPECT_REFUSED(ncclCommRevoke(comm, 0), ncclInvalidUsage, "ncclCommRevoke ");
  EXPECT_REFUSED(ncclCommWindowRegister(comm, a, 4, &window, 0), ncclInvalidUsage, "ncclCommWindowRegister ");
  expect_working();
}

TEST(Init, Arguments) {
  ncclComm_t comm = nullptr;
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  EXPECT_REFUSED(ncclCommInitRank(nullptr, 1, id, 0), ncclInvalidArgument, "comm");
  EXPECT_REFUSED(ncclCommInitRank(&comm, 0, id, 0), ncclInvalidArgument, "0");
  EXPECT_EQ(ncclCommInitRank(&comm, -1, id, 0), ncclInvalidArgument);
  EXPECT_REFUSED(ncclCommInitRank(&comm, 2, id, 2), ncclInvalidArgument, "rank 2 of 2");
  EXPECT_EQ(ncclCommInitRank(&comm, 2, id, -1), ncclInvalidArgument);
  EXPECT_EQ(comm, nullptr);
  EXPECT_EQ(ncclCommInitAll(nullptr, 1, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitAll(&comm, 0, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitAll(&comm, -1, nullptr), ncclInvalidArgument);
  ncclComm_t both[2];
  const int twice[] = {3, 3};
  EXPECT_REFUSED(ncclCommInitAll(both, 2, twice), ncclInvalidUsage, "3");
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 5;
  EXPECT_REFUSED(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInvalidArgument, "blocking");
  EXPECT_EQ(comm, nullptr);
}

TEST(Init, ScalableMeetsAtTheFirstOfItsIds) {
  std::array<ncclUniqueId, 2> ids;
  for (ncclUniqueId& id : ids) ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclComm_t comm = nullptr;
  EXPECT_EQ(ncclCommInitRankScalable(&comm, 2, 0, 0, ids.data(), nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitRankScalable(&comm, 2, 0, 3, ids.data(), nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitRankScalable(&comm, 2, 0, 2, nullptr, nullptr), ncclInvalidArgument);
  std::array<int, 2> counts{};
  std::array<ncclResult_t, 2> results{};
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < 2; ++rank) {
      threads.emplace_back([&, rank] {
        const auto r = static_cast<size_t>(rank);
        ncclComm_t mine = nullptr;
        results[r] = ncclCommInitRankScalable(&mine, 2, rank, 2, ids.data(), nullptr);
        if (results[r] != ncclSuccess) return;
        ncclCommCount(mine, &counts[r]);
        results[r] = ncclCommDestroy(mine);
      });
    }
  }
  for (size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(results[r], ncclSuccess) << ncclGetLastError(nullptr);
    EXPECT_EQ(counts[r], 2);
  }
}

TEST(Init, ADeadHandleIsRefusedAndNotDereferenced) {
  ncclComm_t comm = nullptr;
  int count = 0;
  float value = 1;
  ASSERT_EQ(ncclCommInitAll(&comm, 1, nullptr), ncclSuccess);
  ASSERT_EQ(ncclCommDestroy(comm), ncclSuccess);
  EXPECT_REFUSED(ncclCommCount(comm, &count), ncclInvalidArgument, "not alive");
  EXPECT_EQ(ncclAllReduce(&value, &value, 1, ncclFloat, ncclSum, comm, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommDestroy(comm), ncclInvalidArgument);
  EXPECT_EQ(ncclCommAbort(comm), ncclInvalidArgument);
}

TEST(Init, NonBlockingOfOneRank) {
  ncclComm_t comm = nullptr;
  ncclUniqueId id;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclResult_t state = ncclCommInitRankConfig(&comm, 1, id, 0, &config);
  ASSERT_TRUE(state == ncclSuccess || state == ncclInProgress);
  const auto finish = [&] {
    do ASSERT_EQ(ncclCommGetAsyncError(comm, &state), ncclSuccess);
    while (state == ncclInProgress);
    ASSERT_EQ(state, ncclSuccess);
  };
  finish();
  int in = 7;
  int out = 0;
  state = ncclAllReduce(&in, &out, 1, ncclInt, ncclSum, comm, nullptr);
  ASSERT_TRUE(state == ncclSuccess || state == ncclInProgress);
  finish();
  EXPECT_EQ(out, 7);
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST(Memory, Arguments) {
  void* memory = nullptr;
  EXPECT_EQ(ncclMemAlloc(nullptr, 8), ncclInvalidArgument);
  ASSERT_EQ(ncclMemAlloc(&memory, 100), ncclSuccess);
  std::memset(memory, 1, 100);
  EXPECT_EQ(ncclMemFree(memory), ncclSuccess);
  EXPECT_EQ(ncclMemFree(memory), ncclInvalidArgument);
  EXPECT_EQ(ncclMemFree(nullptr), ncclSuccess);
}

TEST(LastError, TheTextStaysWhileOtherThreadsFail) {
  int count = 0;
  ASSERT_EQ(ncclCommCount(nullptr, &count), ncclInvalidArgument);
  const char* const text = ncclGetLastError(nullptr);
  std::jthread([&] { EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage); }).join();
  EXPECT_STREQ(text, "CommCount : comm argument is NULL");
  EXPECT_STREQ(ncclGetLastError(nullptr), "ncclGroupEnd: not in a group call.");
}

}  // namespace
