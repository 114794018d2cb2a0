#include "policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kMostBlocks = 20000, kFewestOperations = 3 };
static const double kBlockSeconds = 5e-6;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare_doubles(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

struct sizes parse_sizes(int argc, char** argv) {
  struct sizes sizes = {0, 0, 0, 0};
  if (argc == 5) {
    sizes.first = strtoull(argv[1], NULL, 10);
    sizes.last = strtoull(argv[2], NULL, 10);
    sizes.factor = strtod(argv[3], NULL);
    sizes.budget = strtod(argv[4], NULL);
  }
  if (sizes.first < 4 || sizes.last < sizes.first || sizes.factor <= 1 || sizes.budget <= 0) {
    fprintf(stderr, "usage: %s first-bytes last-bytes factor seconds-per-size\n", argv[0]);
    exit(2);
  }
  return sizes;
}

/* Every rank's inputs are small integers, so that the sum is exact in any order. */
static float input(int rank, size_t i) {
  return (float)((i * 7 + (size_t)rank * 3) % 13);
}

static size_t count_wrong(const struct library* library, const float* result, size_t count) {
  size_t wrong = 0;
  for (size_t i = 0; i < count; ++i) {
    float expected = 0;
    for (int rank = 0; rank < library->ranks; ++rank) expected += input(rank, i);
    wrong += result[i] != expected;
  }
  return wrong;
}

static double time_operations(const struct library* library, const float* send, float* receive, size_t count,
                              size_t operations) {
  const double start = now();
  for (size_t i = 0; i < operations; ++i) library->all_reduce(send, receive, count);
  return now() - start;
}

static int measure_size(const struct library* library, size_t bytes, double budget, float* send, float* receive,
                        double* blocks) {
  const size_t count = bytes / sizeof(float);
  time_operations(library, send, receive, count, 2);
  const size_t wrong = count_wrong(library, receive, count);
  library->barrier();
  size_t sample = 1; /* as many as it takes to be seen against the clock */
  double seconds = 0;
  do {
    seconds = library->largest(time_operations(library, send, receive, count, sample));
    sample *= 4;
  } while (seconds < budget / 20 && sample < 1000000);
  const double each = seconds / ((double)sample / 4);

  size_t block = (size_t)(kBlockSeconds / each) + 1;
  size_t number = (size_t)(budget / (each * (double)block));
  if (number > kMostBlocks) number = kMostBlocks;
  if (number < kFewestOperations) number = kFewestOperations;
  library->barrier();
  double total = 0;
  for (size_t i = 0; i < number; ++i) {
    blocks[i] = time_operations(library, send, receive, count, block);
    total += blocks[i];
  }
  qsort(blocks, number, sizeof(double), compare_doubles);
  const double median = library->largest(blocks[number / 2] / (double)block);
  const double mean = library->largest(total / (double)(number * block));
  const double all_wrong = library->largest((double)wrong);
  if (library->rank == 0) {
    printf(
        "{\"library\": \"%s\", \"ranks\": %d, \"bytes\": %zu, \"operations\": %zu, \"median_us\": %.4f, "
        "\"mean_us\": %.4f, \"wrong\": %.0f}\n",
        library->name, library->ranks, bytes, number * block, median * 1e6, mean * 1e6, all_wrong);
    fflush(stdout);
  }
  return all_wrong > 0;
}

int measure_all(const struct library* library, const struct sizes* sizes) {
  float* send = library->allocate(sizes->last);
  float* receive = library->allocate(sizes->last);
  double* blocks = malloc(kMostBlocks * sizeof(double));
  if (send == NULL || receive == NULL || blocks == NULL) {
    fprintf(stderr, "%s: %zu bytes of memory twice are not to be had\n", library->name, sizes->last);
    return 2;
  }
  for (size_t i = 0; i < sizes->last / sizeof(float); ++i) {
    send[i] = input(library->rank, i);
    receive[i] = -1;
  }
  int failed = 0;
  for (double bytes = (double)sizes->first; bytes <= (double)sizes->last; bytes *= sizes->factor)
    failed |=
        measure_size(library, (size_t)bytes / sizeof(float) * sizeof(float), sizes->budget, send, receive, blocks);
  free(blocks);
  library->release(send);
  library->release(receive);
  return failed;
}
