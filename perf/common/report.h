// What a run prints: nccl-tests' header, table and footer on stdout, and the same as a JSON document (-J).
// One object in rank 0's first thread; nobody else prints results.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "common/args.h"
#include "common/json.h"
#include "common/stats.h"

namespace tutti::perf {

struct DeviceLine {
  int rank = 0, group = 0, pid = 0;
  std::string host;
  int device = 0;  // index of the rank on its machine
  std::string info;
};
std::string encode(const DeviceLine& line);
DeviceLine decode_device(const std::string& text);  // of encode()'s output

struct Line {
  int64_t bytes = 0, count = 0;
  std::string type, op;
  int root = -1;
};

// Out of place or in place.
struct Half {
  double seconds = 0;  // per operation, as -a and -C ask for
  double algorithm_bandwidth = 0, bus_bandwidth = 0;
  int64_t wrong = -1;              // -1: not checked
  std::vector<double> iterations;  // seconds, the slowest rank's; empty unless asked for
};

struct Versions {
  std::string program;  // whose columns these are, and our own: "2.19.6+tutti0.1.0"
  int header = 0, library = 0;
};

class Report {
 public:
  // `out` is stdout but for tests.
  Report(const Args& args, std::FILE* out);

  void header(const std::string& collective, const Versions& versions, const std::vector<std::string>& argv,
              const std::vector<DeviceLine>& devices, int64_t reduced_to);
  void begin_line(const Line& line);
  void half(const Half& half, bool in_place);
  void end_line();
  void footer(const std::string& collective);

  // Sums so far, for the exit code.
  int64_t wrong() const { return wrong_; }
  double average_bus_bandwidth() const { return halves_ > 0 ? bandwidth_ / halves_ : 0; }
  bool bandwidth_missed() const;  // less than 0.9 times NCCL_TESTS_MIN_BW
  int exit_code() const;

 private:
  void open_json();
  void json_config(const std::vector<DeviceLine>& devices);
  void json_half(const Half& half, const Stats& stats, bool in_place);
  void column_heads();
  void print_notes();

  const Args& args_;
  std::FILE* out_;
  std::FILE* json_file_ = nullptr;
  JsonWriter json_;
  int64_t wrong_ = 0;
  double bandwidth_ = 0;
  int halves_ = 0;
  double minimum_bandwidth_ = -1;
};

}  // namespace tutti::perf
