// Communicators at odd moments: ended inside the group that makes them, shared by threads, inherited by forked
// children.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "ranks.h"
#include "tutti/tutti.h"

namespace tutti::test {
namespace {

void expect_all_good(Ranks& ranks) {
  for (const int result : ranks.wait_all(std::chrono::seconds(40))) EXPECT_EQ(result, 0);
}

// Both ranks of a communicator of this process add up over a stream each.
bool adds_up(int streams_used) {
  ncclComm_t comms[2];
  TUTTI_EXPECT(ncclCommInitAll(comms, 2, nullptr), ncclSuccess);
  tuttiStream_t streams[2] = {};
  for (int i = 0; i < streams_used; ++i) TUTTI_EXPECT(tuttiStreamCreate(&streams[i]), ncclSuccess);
  float values[2] = {1, 41};
  TUTTI_EXPECT(ncclGroupStart(), ncclSuccess);
  for (int i = 0; i < 2; ++i)
    TUTTI_EXPECT(ncclAllReduce(&values[i], &values[i], 1, ncclFloat, ncclSum, comms[i], streams[i]), ncclSuccess);
  TUTTI_EXPECT(ncclGroupEnd(), ncclSuccess);
  for (int i = 0; i < streams_used; ++i) {
    // Nobody helps: the progress thread has to do it.
    while (tuttiStreamQuery(streams[i]) == ncclInProgress) usleep(100);
    TUTTI_EXPECT(tuttiStreamDestroy(streams[i]), ncclSuccess);
  }
  for (ncclComm_t comm : comms) TUTTI_EXPECT(ncclCommDestroy(comm), ncclSuccess);
  return values[0] == 42 && values[1] == 42;
}

int status_of_child(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(Group, ACommunicatorCannotEndBeforeTheGroupThatMakesIt) {
  Ranks ranks(1, [](int, Shared&) {
    for (const auto end : {ncclCommDestroy, ncclCommAbort}) {
      ncclUniqueId id;
      TUTTI_EXPECT(ncclGetUniqueId(&id), ncclSuccess);
      ncclComm_t comm = nullptr;
      TUTTI_EXPECT(ncclGroupStart(), ncclSuccess);
      TUTTI_EXPECT(ncclCommInitRank(&comm, 1, id, 0), ncclSuccess);
      TUTTI_EXPECT(end(comm), ncclInvalidUsage);
      TUTTI_EXPECT(ncclGroupEnd(), ncclSuccess);
      TUTTI_EXPECT(end(comm), ncclSuccess);
    }
    return 0;
  });
  expect_all_good(ranks);
}

TEST(Init, AbortFromAnotherThreadEndsIt) {
  Ranks ranks(1, [](int, Shared& shared) {
    TUTTI_EXPECT(ncclGetUniqueId(&shared.id), ncclSuccess);
    for (const int blocking : {1, 0}) {
      ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
      config.blocking = blocking;
      ncclComm_t comm = nullptr;
      std::thread aborter([&comm] {
        usleep(200'000);
        TUTTI_EXPECT(ncclCommAbort(comm), ncclSuccess);
      });
      // The other rank never comes.
      const ncclResult_t result = ncclCommInitRankConfig(&comm, 2, shared.id, 0, &config);
      aborter.join();
      if (blocking == 1 ? result == ncclSuccess : result != ncclInProgress) return 1;
    }
    return 0;
  });
  expect_all_good(ranks);
}

TEST(Threads, ShareACommunicatorAndAStream) {
  Ranks ranks(1, [](int, Shared&) {
    constexpr int kCalls = 20000;
    ncclComm_t comms[2];
    tuttiStream_t streams[2];
    TUTTI_EXPECT(ncclCommInitAll(comms, 2, nullptr), ncclSuccess);
    for (tuttiStream_t& stream : streams) TUTTI_EXPECT(tuttiStreamCreate(&stream), ncclSuccess);
    float values[3] = {};
    const auto work = [&](int rank, int calls, int value) {
      for (int i = 0; i < calls; ++i)
        TUTTI_EXPECT(ncclAllReduce(&values[value], &values[value], 1, ncclFloat, ncclSum, comms[rank], streams[rank]),
                     ncclSuccess);
    };
    std::thread threads[] = {std::thread(work, 0, kCalls, 0), std::thread(work, 0, kCalls, 1),
                             std::thread(work, 1, 2 * kCalls, 2)};
    for (std::thread& thread : threads) thread.join();
    for (tuttiStream_t stream : streams) TUTTI_EXPECT(tuttiStreamSynchronize(stream), ncclSuccess);
    for (ncclComm_t comm : comms) TUTTI_EXPECT(ncclCommDestroy(comm), ncclSuccess);
    return 0;
  });
  expect_all_good(ranks);
}

TEST(PreMulSum, AScalarOfTheDeviceIsReadByEachCall) {
  Ranks ranks(1, [](int, Shared&) {
    ncclComm_t comm;
    TUTTI_EXPECT(ncclCommInitAll(&comm, 1, nullptr), ncclSuccess);
    for (const auto residence : {ncclScalarDevice, ncclScalarHostImmediate}) {
      float scalar = 2;
      ncclRedOp_t op;
      TUTTI_EXPECT(ncclRedOpCreatePreMulSum(&op, &scalar, ncclFloat, residence, comm), ncclSuccess);
      scalar = 3;
      float value = 10;
      TUTTI_EXPECT(ncclAllReduce(&value, &value, 1, ncclFloat, op, comm, nullptr), ncclSuccess);
      if (value != (residence == ncclScalarDevice ? 30 : 20)) return 1;
    }
    return 0;
  });
  expect_all_good(ranks);
}

TEST(Fork, ChildrenMakeCommunicatorsOfTheirOwn) {
  Ranks ranks(1, [](int, Shared&) {
    if (!adds_up(2)) return 1;
    if (status_of_child([] { return adds_up(2) && adds_up(0); }) != 0) return 2;
    return adds_up(2) ? 0 : 3;
  });
  expect_all_good(ranks);
}

TEST(Fork, ABusyProgressThreadHoldsNoChildUp) {
  Ranks ranks(1, [](int, Shared&) {
    std::atomic<bool> stop{false};
    std::thread busy([&stop] {
      while (!stop) {
        if (!adds_up(2)) _exit(4);
      }
    });
    int bad = 0;
    for (int i = 0; i < 10; ++i) {
      usleep(2000);
      bad += status_of_child([] { return adds_up(0); }) == 0 ? 0 : 1;
    }
    stop = true;
    busy.join();
    return bad;
  });
  expect_all_good(ranks);
}

TEST(Fork, AnInheritedHandleIsDeadAndHarmless) {
  Ranks ranks(2, [](int rank, Shared& shared) {
    ncclComm_t comm = join(rank, 2, shared);
    float value = 1;
    TUTTI_EXPECT(ncclAllReduce(&value, &value, 1, ncclFloat, ncclSum, comm, nullptr), ncclSuccess);
    if (status_of_child([comm] { return ncclCommDestroy(comm) == ncclInvalidArgument; }) != 0) return 1;
    TUTTI_EXPECT(ncclAllReduce(&value, &value, 1, ncclFloat, ncclSum, comm, nullptr), ncclSuccess);
    TUTTI_EXPECT(ncclCommDestroy(comm), ncclSuccess);
    return value == 4 ? 0 : 2;
  });
  expect_all_good(ranks);
}

// A rank's children (data loaders) live on for a while when it is killed; the others must not wait for them.
TEST(Fork, ChildrenDoNotHideADeath) {
  Ranks ranks(2, [](int rank, Shared& shared) {
    ncclComm_t comm = join(rank, 2, shared);
    float value = 1;
    TUTTI_EXPECT(ncclAllReduce(&value, &value, 1, ncclFloat, ncclSum, comm, nullptr), ncclSuccess);
    if (rank == 1) {
      const pid_t child = fork();
      if (child == 0) {
        while (shared.counters[0].load() == 0) usleep(1000);
        _exit(0);
      }
      raise(SIGKILL);
    }
    const ncclResult_t result = ncclAllReduce(&value, &value, 1, ncclFloat, ncclSum, comm, nullptr);
    shared.counters[0].store(1);
    return result == ncclRemoteError ? 0 : 1;
  });
  EXPECT_EQ(ranks.wait_all(std::chrono::seconds(20)), (std::vector<int>{0, -SIGKILL}));
}

}  // namespace
}  // namespace tutti::test
