// All threads of all processes of a run, as one collective body: barriers and reductions between them.
#pragma once

#include <barrier>
#include <cstdint>
#include <string>
#include <vector>

#include "common/args.h"
#include "common/world.h"

namespace tutti::perf {

// Every method but the constructor is collective over all threads of all processes; each thread passes its own index
// within the process. Blocks without spinning, so that it takes no core from the ranks that it waits for.
class Crew {
 public:
  Crew(World& world, int threads);

  // Everybody's text, by process and thread. Valid until this thread's next call.
  const std::vector<std::string>& gather(int thread, std::string mine);
  void barrier(int thread) { gather(thread, {}); }
  // Over all threads of all processes: as Average says.
  double average(int thread, double mine, Average how);
  int64_t sum(int thread, int64_t mine);
  // Element by element the largest of everybody's values (all have the same number).
  std::vector<double> largest(int thread, const std::vector<double>& mine);

 private:
  World& world_;
  std::barrier<> threads_;
  std::vector<std::string> mine_;
  std::vector<std::string> all_;
};

}  // namespace tutti::perf
