// Nothing hangs, nothing is silently wrong: ranks that die, freeze, abort, leave or disagree. Bounds are ten times
// those that the library promises (one second), because CI machines are busy.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <thread>

#include "ranks.h"

namespace tutti::test {
namespace {

constexpr double kBound = 10.0;

const std::vector<std::string> kNoShm = {"NCCL_SHM_DISABLE=1"};

std::vector<std::vector<std::string>> environment(int n, bool tcp) {
  return std::vector<std::vector<std::string>>(static_cast<size_t>(n), tcp ? kNoShm : std::vector<std::string>{});
}

// How data go between the ranks: through shared memory, sockets, or out of the sender's own buffers.
enum class Wire { kShm, kTcp, kLent };
const char* name_of(Wire wire) {
  return wire == Wire::kShm ? "shm" : wire == Wire::kTcp ? "tcp" : "lent";
}
std::vector<std::vector<std::string>> environment(int n, Wire wire) {
  if (wire != Wire::kLent) return environment(n, wire == Wire::kTcp);
  return std::vector<std::vector<std::string>>(static_cast<size_t>(n), {"TUTTI_LEND=1"});
}

void note_error(int rank, Shared& shared) {
  shared.seconds[rank].store(now_seconds());
  std::strncpy(shared.text[rank], ncclGetLastError(nullptr), sizeof shared.text[rank] - 1);
}

enum class When { kIdle, kSmall, kLarge };
struct KillCase {
  When when;
  Wire wire;
};
void PrintTo(const KillCase& c, std::ostream* out) {
  *out << (c.when == When::kIdle ? "idle" : c.when == When::kSmall ? "8 bytes" : "256 MB") << ' ' << name_of(c.wire);
}

class Killed : public testing::TestWithParam<KillCase> {};

// One of four ranks is killed; the others find out who it was.
TEST_P(Killed, OthersLearnTheName) {
  constexpr int kRanks = 4;
  constexpr int kVictim = 2;
  const KillCase param = GetParam();
  Ranks ranks(
      kRanks,
      [param](int rank, Shared& shared) {
        ncclComm_t comm = join(rank, kRanks, shared);
        const size_t count = param.when == When::kLarge ? (size_t{256} << 20) / sizeof(float) : 2;
        std::vector<float> in(count, 1.0f), out(count);
        shared.counters[0].fetch_add(1);
        ncclResult_t result = ncclSuccess;
        if (param.when == When::kIdle) {
          while (result == ncclSuccess) {
            TUTTI_EXPECT(ncclCommGetAsyncError(comm, &result), ncclSuccess);
            usleep(1000);
          }
        }
        while (result == ncclSuccess)
          result = ncclAllReduce(in.data(), out.data(), count, ncclFloat, ncclSum, comm, nullptr);
        note_error(rank, shared);
        if (result != ncclRemoteError) return 1;
        TUTTI_EXPECT(ncclCommAbort(comm), ncclSuccess);
        return 0;
      },
      environment(kRanks, param.wire));
  ASSERT_TRUE(ranks.wait_counter(0, kRanks));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const std::string name = "rank 2 (pid " + std::to_string(ranks.pid(kVictim));
  const double killed = now_seconds();
  ranks.send_signal(kVictim, SIGKILL);
  const std::vector<int> results = ranks.wait_all();
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank == kVictim) continue;
    EXPECT_EQ(results[static_cast<size_t>(rank)], 0) << "rank " << rank << ": " << ranks.shared().text[rank];
    const double seconds = ranks.shared().seconds[rank].load() - killed;
    EXPECT_LT(seconds, kBound) << "rank " << rank;
    std::printf("rank %d knew after %.0f ms\n", rank, seconds * 1e3);
    EXPECT_NE(std::string(ranks.shared().text[rank]).find(name), std::string::npos)
        << "rank " << rank << " says: " << ranks.shared().text[rank];
  }
}

INSTANTIATE_TEST_SUITE_P(All, Killed,
                         testing::Values(KillCase{When::kIdle, Wire::kShm}, KillCase{When::kIdle, Wire::kTcp},
                                         KillCase{When::kSmall, Wire::kShm}, KillCase{When::kSmall, Wire::kTcp},
                                         KillCase{When::kLarge, Wire::kShm}, KillCase{When::kLarge, Wire::kTcp},
                                         KillCase{When::kLarge, Wire::kLent}));

// Memory that a rank has lent to the others is its own again when its call returns, also after an abort.
class LentMemory {
 public:
  explicit LentMemory(size_t floats) : bytes_(floats * sizeof(float)) {
    memory_ = static_cast<float*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  ~LentMemory() { munmap(memory_, bytes_); }
  LentMemory(const LentMemory&) = delete;
  LentMemory& operator=(const LentMemory&) = delete;
  float* get() { return memory_; }

 private:
  size_t bytes_;
  float* memory_;
};

TEST(Lent, IsUnmappedRightAfterAnAbortInTheMiddle) {
  constexpr int kThreads = 3;
  constexpr int kRounds = 8;
  constexpr size_t kCount = size_t{4} << 20;
  // A process of its own: reading what is gone would kill it.
  Ranks ranks(1, [](int, Shared&) {
    std::mt19937 random(7);
    for (int round = 0; round < kRounds; ++round) {
      ncclComm_t comms[kThreads];
      TUTTI_EXPECT(ncclCommInitAll(comms, kThreads, nullptr), ncclSuccess);
      std::atomic<int> wrong{0};
      std::vector<std::jthread> threads;
      for (ncclComm_t comm : comms) {
        threads.emplace_back([comm, &wrong] {
          ncclResult_t result = ncclSuccess;
          while (result == ncclSuccess) {
            LentMemory in(kCount), out(kCount);
            std::fill_n(in.get(), kCount, 1.0f);
            result = ncclAllReduce(in.get(), out.get(), kCount, ncclFloat, ncclSum, comm, nullptr);
            if (result == ncclSuccess && (out.get()[0] != kThreads || out.get()[kCount - 1] != kThreads)) ++wrong;
          }
        });
      }
      std::this_thread::sleep_for(std::chrono::microseconds(20'000 + random() % 100'000));
      TUTTI_EXPECT(ncclCommAbort(comms[round % kThreads]), ncclSuccess);
      threads.clear();
      for (int i = 0; i < kThreads; ++i)
        if (i != round % kThreads) TUTTI_EXPECT(ncclCommAbort(comms[i]), ncclSuccess);
      if (wrong != 0) return 1;
    }
    return 0;
  });
  EXPECT_EQ(ranks.wait_all(), std::vector<int>{0});
}

// What rank 1 does differently from the others.
struct Difference {
  const char* name;
  size_t count;
  ncclDataType_t type;
  ncclRedOp_t op;
};
void PrintTo(const Difference& d, std::ostream* out) {
  *out << d.name;
}

class Disagreement : public testing::TestWithParam<std::tuple<Difference, bool>> {};

TEST_P(Disagreement, AllRanksSeeBothSidesAndOutputsStay) {
  constexpr int kRanks = 4;
  const auto [odd, tcp] = GetParam();
  Ranks ranks(
      kRanks,
      [odd = odd](int rank, Shared& shared) {
        ncclComm_t comm = join(rank, kRanks, shared);
        std::vector<float> in(1 << 20, 1.0f), out(1 << 20, -7.0f);
        // One that agrees first, so that the difference stands at a number that is not 0.
        TUTTI_EXPECT(ncclAllReduce(in.data(), in.data(), 16, ncclFloat, ncclSum, comm, nullptr), ncclSuccess);
        const ncclResult_t result =
            rank == 1 ? ncclAllReduce(in.data(), out.data(), odd.count, odd.type, odd.op, comm, nullptr)
                      : ncclAllReduce(in.data(), out.data(), 1000, ncclFloat, ncclSum, comm, nullptr);
        note_error(rank, shared);
        if (result != ncclInvalidUsage) return 1;
        for (const float value : out)
          if (value != -7.0f) return 2;
        // An abort would overtake the news on its way to a rank that is still busy with the operation before.
        shared.counters[0].fetch_add(1);
        while (shared.counters[0].load() < kRanks) usleep(1000);
        // The communicator says the same from now on.
        TUTTI_EXPECT(ncclAllReduce(in.data(), out.data(), 1, ncclFloat, ncclSum, comm, nullptr), ncclInvalidUsage);
        TUTTI_EXPECT(ncclCommAbort(comm), ncclSuccess);
        return 0;
      },
      environment(kRanks, tcp));
  const std::vector<int> results = ranks.wait_all();
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::string text = ranks.shared().text[rank];
    EXPECT_EQ(results[static_cast<size_t>(rank)], 0) << "rank " << rank << ": " << text;
    EXPECT_NE(text.find("AllReduce #1 of 1000 float, sum"), std::string::npos) << text;
    EXPECT_NE(text.find("rank 1 (pid"), std::string::npos) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Disagreement,
                         testing::Combine(testing::Values(Difference{"count", 1001, ncclFloat, ncclSum},
                                                          Difference{"large count", 1 << 20, ncclFloat, ncclSum},
                                                          Difference{"type of equal size", 1000, ncclInt32, ncclSum},
                                                          Difference{"op", 1000, ncclFloat, ncclMax}),
                                          testing::Bool()));

// A frozen peer neither keeps an abort from ending nor a later operation from being refused.
TEST(Frozen, AbortReturnsFromAnotherThread) {
  for (const bool tcp : {false, true}) {
    Ranks ranks(
        2,
        [](int rank, Shared& shared) {
          ncclComm_t comm = join(rank, 2, shared);
          std::vector<float> in(1 << 22, 1.0f), out(1 << 22);
          TUTTI_EXPECT(ncclAllReduce(in.data(), out.data(), 8, ncclFloat, ncclSum, comm, nullptr), ncclSuccess);
          shared.counters[0].fetch_add(1);
          if (rank == 1) {
            pause();
            return 0;
          }
          while (shared.counters[1].load() == 0) usleep(1000);
          std::thread aborter([&] {
            usleep(200'000);
            const double begin = now_seconds();
            TUTTI_EXPECT(ncclCommAbort(comm), ncclSuccess);
            shared.seconds[0].store(now_seconds() - begin);
          });
          const ncclResult_t result =
              ncclAllReduce(in.data(), out.data(), in.size(), ncclFloat, ncclSum, comm, nullptr);
          aborter.join();
          shared.counters[2].store(1);
          return result == ncclSuccess ? 1 : 0;
        },
        environment(2, tcp));
    ASSERT_TRUE(ranks.wait_counter(0, 2));
    ranks.send_signal(1, SIGSTOP);
    ranks.shared().counters[1].store(1);
    EXPECT_TRUE(ranks.wait_counter(2, 1)) << "rank 0 still waits";
    ranks.send_signal(1, SIGKILL);
    const std::vector<int> results = ranks.wait_all();
    EXPECT_EQ(results[0], 0) << (tcp ? "tcp" : "shm");
    EXPECT_LT(ranks.shared().seconds[0].load(), kBound);
  }
}

TEST(Deadline, NamesTheRankThatIsWaitedFor) {
  Ranks ranks(2,
              [](int rank, Shared& shared) {
                ncclComm_t comm = join(rank, 2, shared);
                if (rank == 1) {
                  while (shared.counters[0].load() == 0) usleep(1000);
                  return 0;
                }
                float in = 1, out = 0;
                const ncclResult_t result = ncclAllReduce(&in, &out, 1, ncclFloat, ncclSum, comm, nullptr);
                note_error(rank, shared);
                shared.counters[0].store(1);
                return result == ncclRemoteError ? 0 : 1;  // NCCL 2.28 has no code for timeouts
              },
              {{"TUTTI_TIMEOUT=1"}, {"TUTTI_TIMEOUT=1"}});
  const std::vector<int> results = ranks.wait_all();
  EXPECT_EQ(results[0], 0);
  EXPECT_NE(std::string(ranks.shared().text[0]).find("rank 1 (pid"), std::string::npos) << ranks.shared().text[0];
}

TEST(Init, MissingRankIsNamed) {
  Ranks ranks(
      3,
      [](int rank, Shared& shared) {
        if (rank == 0) {
          TUTTI_EXPECT(ncclGetUniqueId(&shared.id), ncclSuccess);
          shared.id_ready.store(1);
        }
        while (shared.id_ready.load() == 0) usleep(100);
        if (rank == 1) return 0;  // never comes
        ncclComm_t comm = nullptr;
        const ncclResult_t result = ncclCommInitRank(&comm, 3, shared.id, rank);
        note_error(rank, shared);
        return result != ncclSuccess && comm == nullptr ? 0 : 1;
      },
      std::vector<std::vector<std::string>>(3, {"TUTTI_INIT_TIMEOUT=1"}));
  const std::vector<int> results = ranks.wait_all();
  for (const int rank : {0, 2}) {
    EXPECT_EQ(results[static_cast<size_t>(rank)], 0);
    EXPECT_NE(std::string(ranks.shared().text[rank]).find("missing: 1"), std::string::npos)
        << ranks.shared().text[rank];
  }
}

// Whoever comes last, also after the mistake was found: all three hear of it.
TEST(Init, OneRankTwiceIsNamed) {
  for (const int late : {0, 1, 2}) {
    Ranks ranks(3, [late](int rank, Shared& shared) {
      if (rank == 0) {
        TUTTI_EXPECT(ncclGetUniqueId(&shared.id), ncclSuccess);
        shared.id_ready.store(1);
      }
      while (shared.id_ready.load() == 0) usleep(100);
      if (rank == late) usleep(200'000);
      ncclComm_t comm = nullptr;
      const ncclResult_t result = ncclCommInitRank(&comm, 3, shared.id, rank == 2 ? 1 : rank);
      note_error(rank, shared);
      return result != ncclSuccess ? 0 : 1;
    });
    const std::vector<int> results = ranks.wait_all();
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(results[static_cast<size_t>(rank)], 0) << "late " << late;
      EXPECT_NE(std::string(ranks.shared().text[rank]).find("two processes came as rank 1"), std::string::npos)
          << "late " << late << ": " << ranks.shared().text[rank];
    }
  }
}

}  // namespace
}  // namespace tutti::test
