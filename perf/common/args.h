// The command line of all perf programs: nccl-tests' flags and defaults, and our own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/types.h"

namespace tutti::perf {

enum class Average : int { kRank0 = 0, kMean = 1, kMin = 2, kMax = 3 };
enum class CheckMode { kExact, kReal };
enum class Memory { kMalloc, kNccl };
enum class StreamKind { kNull, kHost };

struct Args {
  int threads = 1;
  int gpus = 1;  // ranks that one thread drives
  int64_t min_bytes = 32 << 20;
  int64_t max_bytes = 32 << 20;
  int64_t step_bytes = 1 << 20;
  double step_factor = 1;  // above 1: sizes grow by it instead of by step_bytes
  int iters = 20;
  int warmup_iters = 1;
  int agg_iters = 1;
  int run_cycles = 1;  // 0: for ever
  bool parallel_init = false;
  int checks = 1;  // verification iterations
  std::vector<Op> ops{Op::kSum};
  std::vector<Type> types{Type::kFloat};
  int root = 0;  // -1: all
  int blocking = 0;
  bool report_cputime = false;
  bool report_timestamps = false;
  std::string json_file;
  Average average = Average::kMean;
  int local_register = 0;  // 1: ncclCommRegister, 2: a symmetric window
  bool report_memory = false;
  int64_t unalign = 0;  // elements
  bool per_iter_timing = false;
  int per_iter_skip = 0;
  int timeout_seconds = 0;  // 0: none

  // Our own.
  int procs = 0;           // --procs: 0: whatever the launcher says
  std::vector<int> nodes;  // with --procs: processes of each node that this machine plays (NCCL_HOSTID); empty: one
  CheckMode check_mode = CheckMode::kExact;
  Memory memory = Memory::kMalloc;
  StreamKind stream = StreamKind::kNull;
  bool percentiles = false;

  std::vector<std::string> notes;  // flags that were accepted but have no effect on host memory
};

struct ParsedArgs {
  Args args;
  bool help = false;
  std::string error;  // not empty: args is not usable
};

ParsedArgs parse_args(const std::vector<std::string>& words);  // without the program's name
std::string usage(const std::string& program);

}  // namespace tutti::perf
