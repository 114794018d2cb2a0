// The measurement: for each type, operator, root and size, out of place and in place: warm up, time, verify, report.
#pragma once

#include <memory>
#include <vector>

#include "common/args.h"
#include "common/collective.h"
#include "common/crew.h"
#include "common/report.h"
#include "common/session.h"
#include "common/watchdog.h"

namespace tutti::perf {

// Shared by the threads of a process.
struct Run {
  const Collective& collective;
  const Args& args;
  int total_ranks;
  int64_t max_bytes;  // what memory allows
  Crew& crew;
  Watchdog& watchdog;
  Report* report;  // rank 0's process only, used by its thread 0
};

// One thread's part. Collective over all threads of all processes.
class Bench {
 public:
  Bench(const Run& run, int thread, std::vector<Rank>& ranks);
  void run_all();

 private:
  enum class Place { kOut, kIn };
  // One (type, operator, root).
  struct Job {
    Type type;
    Op op;
    int root;
    std::vector<ncclRedOp_t> handles;  // of each of this thread's ranks
  };
  struct Timing {
    double seconds = 0;      // per operation, until everything has completed
    double cpu_seconds = 0;  // per operation, until the calls have returned
    std::vector<double> iterations;
  };

  void run_job(Job& job);
  void run_size(const Job& job, int64_t bytes);
  void run_half(const Job& job, const Counts& counts, Place place);
  void warm_up(const Job& job, int64_t bytes);
  Timing measure(const Job& job, const Counts& counts, Place place);
  // Issues one operation on all of this thread's ranks. `iteration` moves the offset into the buffers.
  void start(const Job& job, const Counts& counts, Place place, int64_t iteration);
  void finish();  // waits for the streams
  int64_t verify(const Job& job, const Counts& counts, Place place, int64_t iteration);
  int64_t verify_rank(const Job& job, const Counts& counts, Place place, int64_t iteration, const Rank& rank);
  int64_t compare_bits(const Job& job, const Counts& counts, Place place, int64_t iteration);
  void fill(const Job& job, const Counts& counts, Place place, int64_t iteration);

  char* send_of(const Job& job, const Counts& counts, Place place, int64_t iteration, const Rank& rank) const;
  char* receive_of(const Job& job, const Counts& counts, Place place, int64_t iteration, const Rank& rank) const;
  size_t shift(const Job& job, const Counts& counts, int64_t iteration) const;
  Counts counts_of(Type type, int64_t bytes) const;
  void make_handles(Job& job);
  void free_handles(Job& job);

  const Run& run_;
  const int thread_;
  std::vector<Rank>& ranks_;
  uint64_t seed_ = 0;  // moves with each verification
  int complaints_ = 0;
};

}  // namespace tutti::perf
