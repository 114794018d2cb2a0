// The printed table and the JSON document, character by character where other programs read them.
#include "common/report.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "common/exit.h"

namespace tutti::perf {
namespace {

class ReportTest : public testing::Test {
 protected:
  ReportTest() : out_(std::tmpfile()) { unsetenv("NCCL_TESTS_MIN_BW"); }
  ~ReportTest() override { std::fclose(out_); }

  std::string printed() {
    std::rewind(out_);
    std::string text;
    for (int c; (c = std::fgetc(out_)) != EOF;) text += static_cast<char>(c);
    return text;
  }

  void run(Report& report, int64_t wrong) {
    report.header("AllReduce", {"2.19.6", 22809, 22810}, {"all_reduce_perf", "-b", "8"},
                  {{0, 0, 4711, "host", 0, "host memory, CPU"}, {1, 0, 4712, "host", 1, "host memory, CPU"}}, 0);
    report.begin_line({1048576, 262144, "float", "sum", -1});
    report.half({0.000123456, 8.5, 8.5, wrong, {1e-6, 2e-6, 3e-6}}, false);
    report.half({0.25, 0.004, 0.004, -1, {1e-6, 2e-6, 3e-6}}, true);
    report.end_line();
    report.footer("AllReduce");
  }

  std::FILE* out_;
  Args args_;
};

TEST_F(ReportTest, LooksLikeNcclTests) {
  Report report(args_, out_);
  run(report, 0);
  EXPECT_EQ(printed(),
            "# nccl-tests version 2.19.6 nccl-headers=22809 nccl-library=22810\n"
            "# Collective test starting: AllReduce\n"
            "# nThread 1 nGpus 1 minBytes 33554432 maxBytes 33554432 step: 1048576(bytes) warmup iters: 1 iters: 20 "
            "agg iters: 1 validation: 1 graph: 0 unalign: 0\n"
            "#\n"
            "# Using devices\n"
            "#  Rank  0 Group  0 Pid   4711 on       host device  0 [0000:00:00] host memory, CPU\n"
            "#  Rank  1 Group  0 Pid   4712 on       host device  1 [0000:00:00] host memory, CPU\n"
            "#\n"
            "#                                                              out-of-place                       "
            "in-place          \n"
            "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   "
            "busbw  #wrong\n"
            "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  "
            "(GB/s)        \n"
            "     1048576        262144     float     sum      -1   123.46    8.50    8.50       0   250000    0.00    "
            "0.00     N/A\n"
            "# Out of bounds values : 0 OK\n"
            "# Avg bus bandwidth    : 4.252 \n"
            "#\n"
            "# Collective test concluded: AllReduce\n"
            "#\n");
  EXPECT_EQ(report.exit_code(), 0);
}

TEST_F(ReportTest, WrongElementsFail) {
  Report report(args_, out_);
  run(report, 3);
  EXPECT_NE(printed().find("# Out of bounds values : 3 FAILED\n"), std::string::npos);
  EXPECT_EQ(report.exit_code(), kExitWrongResults);
}

TEST_F(ReportTest, MinimumBandwidth) {
  setenv("NCCL_TESTS_MIN_BW", "4.5", 1);  // 4.252 is more than 0.9 of it
  Report enough(args_, out_);
  run(enough, 0);
  EXPECT_EQ(enough.exit_code(), 0);
  EXPECT_NE(printed().find("# Avg bus bandwidth    : 4.252 OK\n"), std::string::npos);
  setenv("NCCL_TESTS_MIN_BW", "5", 1);
  Report less(args_, out_);
  run(less, 0);
  EXPECT_EQ(less.exit_code(), kExitWrongResults);
  EXPECT_NE(printed().find("# Avg bus bandwidth    : 4.252 FAILED\n"), std::string::npos);
  unsetenv("NCCL_TESTS_MIN_BW");
}

TEST_F(ReportTest, ExtraColumns) {
  args_.per_iter_timing = true;
  args_.percentiles = true;
  args_.report_cputime = true;
  Report report(args_, out_);
  run(report, 0);
  const std::string text = printed();
  EXPECT_NE(text.find("cputime   algbw   busbw  #wrong    i_min    i_max    i_p99    i_cv%   median      p99"),
            std::string::npos);
  EXPECT_NE(text.find("       0     1.00     3.00     3.00    40.82     2.00     3.00"), std::string::npos);
}

TEST_F(ReportTest, ReducedSizeIsSaid) {
  Report report(args_, out_);
  report.header("AllReduce", {"2.19.6", 1, 2}, {}, {}, 4096);
  EXPECT_NE(printed().find("# Reducing maxBytes to 4096 due to memory limitation\n"), std::string::npos);
}

TEST_F(ReportTest, JsonNeverOverwritesAndKeepsSecrets) {
  char directory[] = "/tmp/tutti_report_XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  args_.json_file = std::string(directory) + "/x.json";
  args_.per_iter_timing = true;
  setenv("TUTTI_SECRET", "do-not-tell", 1);
  setenv("TUTTI_DEBUG", "WARN", 1);
  for (int i = 0; i < 2; ++i) {
    Report report(args_, out_);
    run(report, 1);
  }
  unsetenv("TUTTI_SECRET");
  unsetenv("TUTTI_DEBUG");
  for (const char* name : {"/x.json", "/x.json.0"}) {
    const std::string path = std::string(directory) + name;
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    const std::string json = text.str();
    EXPECT_EQ(json.rfind("{\"version\":3,\"start_time\":\"", 0), 0u) << json.substr(0, 60);
    EXPECT_NE(json.find("\"size\":1048576,\"count\":262144,\"type\":\"float\",\"redop\":\"sum\",\"root\":\"    -1\","
                        "\"out_of_place\":{\"time\":123.456000,\"alg_bw\":8.500000,\"bus_bw\":8.500000,"
                        "\"nwrong\":1.000000}"),
              std::string::npos);
    EXPECT_NE(json.find("\"out_of_bounds\":{\"count\":1,\"okay\":\"false\"}"), std::string::npos);
    EXPECT_NE(json.find("\"times_us\":[1.000000,2.000000,3.000000]"), std::string::npos);
    EXPECT_NE(json.find("TUTTI_DEBUG=WARN"), std::string::npos);
    EXPECT_EQ(json.find("do-not-tell"), std::string::npos);
    EXPECT_EQ(json.find("PATH="), std::string::npos);
    EXPECT_EQ(json.back(), '}');
    std::remove(path.c_str());
  }
  rmdir(directory);
}

TEST(DeviceLineTest, SurvivesTheWay) {
  const DeviceLine line = decode_device(encode(DeviceLine{3, 1, 99, "a b", 2, "odd \n text"}));
  EXPECT_EQ(line.rank, 3);
  EXPECT_EQ(line.pid, 99);
  EXPECT_EQ(line.host, "a b");
  EXPECT_EQ(line.device, 2);
  EXPECT_EQ(line.info, "odd \n text");
}

}  // namespace
}  // namespace tutti::perf
