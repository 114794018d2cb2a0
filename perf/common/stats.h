// Statistics over the times of single iterations, as nccl-tests' per-iteration report defines them.
#pragma once

#include <vector>

namespace tutti::perf {

struct Stats {
  double min = 0, max = 0, average = 0, median = 0, p95 = 0, p99 = 0;
  double deviation = 0;  // of the population
  double variation_percent() const { return average > 0 ? 100.0 * deviation / average : 0.0; }
};

// All zero for no values. Median: the upper one of an even number; pN: nearest rank.
Stats stats_of(std::vector<double> values);

}  // namespace tutti::perf
