#include "common/bench.h"

#include <algorithm>
#include <chrono>

#include "common/format.h"
#include "common/nccl_calls.h"
#include "common/verify/exact.h"
#include "common/verify/numbers.h"
#include "common/verify/real.h"

namespace tutti::perf {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

int64_t next_size(const Args& args, int64_t bytes) {
  if (args.step_factor <= 1) return bytes + args.step_bytes;
  return std::max(bytes + 1, static_cast<int64_t>(static_cast<double>(bytes) * args.step_factor));
}

}  // namespace

Bench::Bench(const Run& run, int thread, std::vector<Rank>& ranks) : run_(run), thread_(thread), ranks_(ranks) {}

void Bench::run_all() {
  std::vector<int> roots = {run_.collective.rooted ? run_.args.root : -1};
  if (run_.collective.rooted && run_.args.root < 0) {
    roots.clear();
    for (int root = 0; root < run_.total_ranks; ++root) roots.push_back(root);
  }
  const std::vector<Op> one_op = {Op::kSum};
  for (int cycle = 0; run_.args.run_cycles == 0 || cycle < run_.args.run_cycles; ++cycle) {
    for (Type type : run_.args.types) {
      for (Op op : run_.collective.reduces ? run_.args.ops : one_op) {
        for (int root : roots) {
          Job job{type, op, root, {}};
          make_handles(job);
          run_job(job);
          free_handles(job);
        }
      }
    }
  }
}

void Bench::make_handles(Job& job) {
  for (const Rank& rank : ranks_) {
    ncclRedOp_t handle = static_cast<ncclRedOp_t>(job.op);
    if (job.op == Op::kMulSum) {
      uint64_t scalar = 0;  // little endian: its first bytes are the scalar in every type
      with_format(job.type, [&](auto format) {
        using Format = decltype(format);
        if constexpr (Format::kFloating) {
          scalar = Format::encode(mulsum_scalar(rank.rank));
        } else {
          scalar = static_cast<uint64_t>(mulsum_scalar(rank.rank));
        }
      });
      TUTTI_PERF_NCCL(
          ncclRedOpCreatePreMulSum(&handle, &scalar, nccl_type(job.type), ncclScalarHostImmediate, rank.comm));
    }
    job.handles.push_back(handle);
  }
}

void Bench::free_handles(Job& job) {
  if (job.op != Op::kMulSum) return;
  for (size_t i = 0; i < ranks_.size(); ++i) TUTTI_PERF_NCCL(ncclRedOpDestroy(job.handles[i], ranks_[i].comm));
}

void Bench::run_job(Job& job) {
  run_.crew.barrier(thread_);
  warm_up(job, run_.max_bytes);
  warm_up(job, run_.args.min_bytes);
  for (int64_t bytes = std::min(run_.args.min_bytes, run_.max_bytes); bytes <= run_.max_bytes;
       bytes = next_size(run_.args, bytes))
    run_size(job, bytes);
}

void Bench::warm_up(const Job& job, int64_t bytes) {
  const Counts counts = counts_of(job.type, bytes);
  for (int i = 0; i < run_.args.warmup_iters; ++i) start(job, counts, Place::kOut, i);
  finish();
}

void Bench::run_size(const Job& job, int64_t bytes) {
  const Counts counts = counts_of(job.type, bytes);
  const size_t element = size_of(job.type);
  Line line;
  line.bytes = static_cast<int64_t>(std::max(counts.send, counts.receive) * element);
  line.count = static_cast<int64_t>(counts.parameter);
  line.type = name_of(job.type);
  line.op = run_.collective.reduces ? name_of(job.op) : "none";
  line.root = job.root;
  if (thread_ == 0)
    run_.watchdog.watch(print_text("%s of %lld bytes, %s %s", run_.collective.name, static_cast<long long>(line.bytes),
                                   line.type.c_str(), line.op.c_str()));
  if (run_.report != nullptr) run_.report->begin_line(line);
  run_half(job, counts, Place::kOut);
  run_half(job, counts, Place::kIn);
  if (run_.report != nullptr) run_.report->end_line();
}

void Bench::run_half(const Job& job, const Counts& counts, Place place) {
  const Timing timing = measure(job, counts, place);
  Half half;
  const double mine = run_.args.report_cputime ? timing.cpu_seconds : timing.seconds;
  half.seconds = run_.crew.average(thread_, mine, run_.args.average);
  half.iterations = run_.crew.largest(thread_, timing.iterations);
  const Bandwidth bandwidth = run_.collective.bandwidth(counts, size_of(job.type), half.seconds, run_.total_ranks);
  half.algorithm_bandwidth = bandwidth.algorithm;
  half.bus_bandwidth = bandwidth.bus;
  if (run_.args.checks > 0) {
    int64_t wrong = 0;
    for (int i = 0; i < run_.args.checks; ++i) wrong += verify(job, counts, place, i);
    half.wrong = run_.crew.sum(thread_, wrong);
  }
  if (run_.report != nullptr) run_.report->half(half, place == Place::kIn);
}

Bench::Timing Bench::measure(const Job& job, const Counts& counts, Place place) {
  const Args& args = run_.args;
  if (args.warmup_iters > 0) {
    start(job, counts, place, 0);
    finish();
  }
  run_.crew.barrier(thread_);
  const bool each = args.per_iter_timing || args.percentiles;
  Timing timing;
  double outside = 0;  // time that -z 3 spends in barriers
  const Clock::time_point begin = Clock::now();
  for (int iteration = 0; iteration < args.iters; ++iteration) {
    const Clock::time_point iteration_begin = each ? Clock::now() : begin;
    if (args.agg_iters > 1) TUTTI_PERF_NCCL(ncclGroupStart());
    for (int inner = 0; inner < args.agg_iters; ++inner)
      start(job, counts, place, static_cast<int64_t>(iteration) * args.agg_iters + inner);
    if (args.agg_iters > 1) TUTTI_PERF_NCCL(ncclGroupEnd());
    if (each || args.blocking != 0) finish();
    if (args.blocking == 1) run_.crew.barrier(thread_);
    if (each && iteration >= args.per_iter_skip)
      timing.iterations.push_back(seconds_since(iteration_begin) / args.agg_iters);
    if (args.blocking == 3) {
      const Clock::time_point barrier_begin = Clock::now();
      run_.crew.barrier(thread_);
      outside += seconds_since(barrier_begin);
    }
  }
  const double operations = static_cast<double>(args.iters) * args.agg_iters;
  timing.cpu_seconds = (seconds_since(begin) - outside) / operations;
  finish();
  timing.seconds = (seconds_since(begin) - outside) / operations;
  return timing;
}

void Bench::start(const Job& job, const Counts& counts, Place place, int64_t iteration) {
  const bool group = ranks_.size() > 1;
  if (group) TUTTI_PERF_NCCL(ncclGroupStart());
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const Rank& rank = ranks_[i];
    const Call call{send_of(job, counts, place, iteration, rank),
                    receive_of(job, counts, place, iteration, rank),
                    counts.parameter,
                    nccl_type(job.type),
                    job.handles[i],
                    job.root,
                    rank.comm,
                    rank.stream,
                    rank.rank,
                    run_.total_ranks};
    TUTTI_PERF_NCCL(run_.collective.run(call));
  }
  if (group) TUTTI_PERF_NCCL(ncclGroupEnd());
}

void Bench::finish() {
  for (const Rank& rank : ranks_) synchronize(rank);
}

Counts Bench::counts_of(Type type, int64_t bytes) const {
  const size_t element = size_of(type);
  return run_.collective.counts(static_cast<size_t>(bytes) / element, element, run_.total_ranks);
}

// Each iteration takes the next piece of the buffers, so that caches help no more than they would a real program and
// a late write of one operation cannot be mistaken for the next one's.
size_t Bench::shift(const Job& job, const Counts& counts, int64_t iteration) const {
  const size_t bytes = std::max(counts.send, counts.receive) * size_of(job.type);
  if (bytes == 0) return 0;
  const size_t places = std::max<size_t>(1, static_cast<size_t>(run_.max_bytes) / bytes);
  return bytes * (static_cast<size_t>(iteration) % places);
}

char* Bench::send_of(const Job& job, const Counts& counts, Place place, int64_t iteration, const Rank& rank) const {
  const size_t at = shift(job, counts, iteration);
  if (place == Place::kOut) return rank.send->data() + at;
  return rank.receive->data() + at + run_.collective.in_place_send(counts, rank.rank) * size_of(job.type);
}

char* Bench::receive_of(const Job& job, const Counts& counts, Place place, int64_t iteration, const Rank& rank) const {
  char* start = rank.receive->data() + shift(job, counts, iteration);
  if (place == Place::kOut) return start;
  return start + run_.collective.in_place_receive(counts, rank.rank) * size_of(job.type);
}

}  // namespace tutti::perf
