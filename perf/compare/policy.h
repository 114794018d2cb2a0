/* How every driver of the comparison measures, so that only the library differs: float sum, separate send and receive
 * buffers, one result line in JSON for each size.
 *
 * For each size: warm up, estimate the time of one operation, agree on a number of operations that fits the time
 * budget, then time blocks of operations (a block is long enough that reading the clock does not count) and report
 * the median and the mean over the blocks, of the slowest rank. The result of one operation is checked. */
#ifndef TUTTI_PERF_COMPARE_POLICY_H_
#define TUTTI_PERF_COMPARE_POLICY_H_

#include <stddef.h>

struct library {
  const char* name;
  int rank, ranks;
  void (*all_reduce)(const float* send, float* receive, size_t count); /* returns when the result is there */
  void (*barrier)(void);
  double (*largest)(double mine); /* over all ranks */
  void* (*allocate)(size_t bytes);
  void (*release)(void* buffer);
};

struct sizes {
  size_t first, last; /* bytes, multiples of 4 */
  double factor;
  double budget; /* seconds for the timed operations of one size */
};

/* "first last factor budget" from the command line; ends the process when they are not usable. */
struct sizes parse_sizes(int argc, char** argv);

/* Runs all sizes. Returns 0, or 1 when a result was wrong. */
int measure_all(const struct library* library, const struct sizes* sizes);

#endif
