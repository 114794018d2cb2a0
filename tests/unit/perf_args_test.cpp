#include "common/args.h"

#include <gtest/gtest.h>

namespace tutti::perf {
namespace {

Args good(const std::vector<std::string>& words) {
  const ParsedArgs parsed = parse_args(words);
  EXPECT_EQ(parsed.error, "");
  return parsed.args;
}

std::string complaint(const std::vector<std::string>& words) {
  return parse_args(words).error;
}

TEST(ArgsTest, DefaultsAreNcclTests) {
  const Args args = good({});
  EXPECT_EQ(args.threads, 1);
  EXPECT_EQ(args.gpus, 1);
  EXPECT_EQ(args.min_bytes, 32 << 20);
  EXPECT_EQ(args.max_bytes, 32 << 20);
  EXPECT_EQ(args.step_bytes, 1 << 20);
  EXPECT_EQ(args.iters, 20);
  EXPECT_EQ(args.warmup_iters, 1);
  EXPECT_EQ(args.checks, 1);
  EXPECT_EQ(args.average, Average::kMean);
  EXPECT_EQ(args.ops, std::vector<Op>{Op::kSum});
  EXPECT_EQ(args.types, std::vector<Type>{Type::kFloat});
}

TEST(ArgsTest, ShortLongAndJoinedForms) {
  const Args args = good({"-t", "2", "--ngpus=3", "-b8", "--maxbytes", "1.5M", "-f", "2", "-n5", "--percentiles",
                          "--check-mode", "real", "--memory=nccl", "--stream", "host", "-J", "x.json", "-r", "all"});
  EXPECT_EQ(args.threads, 2);
  EXPECT_EQ(args.gpus, 3);
  EXPECT_EQ(args.min_bytes, 8);
  EXPECT_EQ(args.max_bytes, 3 << 19);
  EXPECT_EQ(args.step_factor, 2);
  EXPECT_EQ(args.iters, 5);
  EXPECT_TRUE(args.percentiles);
  EXPECT_EQ(args.check_mode, CheckMode::kReal);
  EXPECT_EQ(args.memory, Memory::kNccl);
  EXPECT_EQ(args.stream, StreamKind::kHost);
  EXPECT_EQ(args.json_file, "x.json");
  EXPECT_EQ(args.root, -1);
}

TEST(ArgsTest, All) {
  const Args args = good({"-d", "all", "-o", "all"});
  EXPECT_EQ(args.types.size(), 12u);
  EXPECT_EQ(args.ops.size(), 6u);
  EXPECT_EQ(good({"-d", "f8e5m2"}).types, std::vector<Type>{Type::kF8e5m2});
  EXPECT_EQ(good({"-o", "mulsum"}).ops, std::vector<Op>{Op::kMulSum});
}

TEST(ArgsTest, GpuOnlyFlagsAreAcceptedWithANote) {
  const Args args = good({"-G", "3", "-x", "1", "-D", "0", "-y", "0"});
  ASSERT_EQ(args.notes.size(), 2u);
  EXPECT_NE(args.notes[0].find("-G 3"), std::string::npos);
}

TEST(ArgsTest, Nodes) {
  EXPECT_EQ(good({"--procs", "5", "--nodes", "2,3"}).nodes, (std::vector<int>{2, 3}));
  EXPECT_NE(complaint({"--procs", "5", "--nodes", "2,2"}), "");
  EXPECT_NE(complaint({"--nodes", "2,2"}), "");
  EXPECT_NE(complaint({"--procs", "4", "--nodes", "2,,2"}), "");
  EXPECT_NE(complaint({"--procs", "4", "--nodes", ""}), "");
}

TEST(ArgsTest, ComplaintsNameFlagValueAndWhatIsAccepted) {
  EXPECT_EQ(complaint({"-n", "many"}), "-n: \"many\" is not a whole number from 1 to 2147483647");
  EXPECT_EQ(complaint({"--memory", "gpu"}), "--memory: \"gpu\" is not malloc or nccl");
  EXPECT_EQ(complaint({"-b", "12X"}).rfind("-b: \"12X\" is not bytes", 0), 0u);
  EXPECT_EQ(complaint({"--foo"}), "unknown flag --foo");
  EXPECT_EQ(complaint({"8"}), "\"8\" is not a flag");
  EXPECT_NE(complaint({"-n"}), "");
  EXPECT_NE(complaint({"-d", "int16"}), "");
  EXPECT_NE(complaint({"-o", "xor"}), "");
  EXPECT_NE(complaint({"-a", "4"}), "");
  EXPECT_NE(complaint({"-z", "4"}), "");
  EXPECT_NE(complaint({"-f", "0.5"}), "");
  EXPECT_NE(complaint({"-i", "0"}), "");
  EXPECT_NE(complaint({"-n", "99999999999"}), "");
  EXPECT_EQ(complaint({"-b", "4", "-e", "2"}), "-b 4 is larger than -e 2");
  EXPECT_NE(complaint({"-n", "3", "-K", "3"}), "");
  EXPECT_NE(complaint({"-R", "2"}), "");
}

TEST(ArgsTest, HelpNamesEveryFlag) {
  EXPECT_TRUE(parse_args({"-h"}).help);
  EXPECT_TRUE(parse_args({"-t", "2", "--help"}).help);
  const std::string text = usage("x");
  for (const char* flag :
       {"-t,", "-g,", "-b,", "-e,", "-i,", "-f,", "-n,", "-w,", "-m,",     "-N,",          "-p,",     "-c,",
        "-o,", "-d,", "-r,", "-z,", "-y,", "-T,", "-G,", "-C,", "-S,",     "-J,",          "-a,",     "-R,",
        "-x,", "-D,", "-V,", "-M,", "-u,", "-I,", "-K,", "-h,", "--procs", "--check-mode", "--memory"})
    EXPECT_NE(text.find(flag), std::string::npos) << flag;
}

}  // namespace
}  // namespace tutti::perf
