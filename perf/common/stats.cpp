#include "common/stats.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tutti::perf {

Stats stats_of(std::vector<double> values) {
  Stats stats;
  if (values.empty()) return stats;
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  const auto nearest_rank = [&](size_t percent) { return values[std::min(n - 1, (n * percent + 99) / 100 - 1)]; };
  stats.min = values.front();
  stats.max = values.back();
  stats.median = values[n / 2];
  stats.p95 = nearest_rank(95);
  stats.p99 = nearest_rank(99);
  stats.average = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n);
  double squares = 0;
  for (double value : values) squares += (value - stats.average) * (value - stats.average);
  stats.deviation = std::sqrt(squares / static_cast<double>(n));
  return stats;
}

}  // namespace tutti::perf
