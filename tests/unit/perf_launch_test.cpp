// Starting and joining processes, and the texts that they exchange.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <thread>

#include "common/crew.h"
#include "common/launch/frame.h"
#include "common/watchdog.h"
#include "common/world.h"

namespace tutti::perf {
namespace {

using Clock = std::chrono::steady_clock;

TEST(FrameTest, PackedTextsComeBack) {
  const std::vector<std::string> texts = {"", "a", std::string("b\0c", 3), std::string(100000, 'x')};
  EXPECT_EQ(unpack(pack(texts)), texts);
  EXPECT_TRUE(unpack("").empty());
}

// In each process: gathers, checks, and says how it went by its exit code.
int gather_often(World& world) {
  for (int round = 0; round < 20; ++round) {
    const std::string mine =
        std::to_string(round) + ":" + std::to_string(world.rank()) + std::string(round * 1000, '.');
    const std::vector<std::string> all = world.all_gather(mine);
    if (static_cast<int>(all.size()) != world.size()) return 50;
    for (int rank = 0; rank < world.size(); ++rank)
      if (all[static_cast<size_t>(rank)] !=
          std::to_string(round) + ":" + std::to_string(rank) + std::string(round * 1000, '.'))
        return 51;
    if (world.broadcast("from " + std::to_string(world.rank())) != "from 0") return 52;
    world.barrier();
  }
  return 0;
}

TEST(ProcessesTest, GatherBetweenAnyNumber) {
  for (int processes : {1, 2, 3, 8}) EXPECT_EQ(run_processes(processes, gather_often), 0) << processes;
}

TEST(ProcessesTest, TheExitCodeIsKept) {
  EXPECT_EQ(run_processes(3, [](World&) { return 7; }), 7);
  EXPECT_EQ(run_processes(3, [](World& world) { return world.rank() == 1 ? 3 : 0; }), 3);
}

TEST(ProcessesTest, AKilledChildIsReportedAndTheOthersAreEnded) {
  testing::internal::CaptureStderr();
  const auto start = Clock::now();
  const int code = run_processes(4, [](World& world) {
    world.barrier();
    if (world.rank() == 2) raise(SIGKILL);
    world.barrier();  // never completes
    return 0;
  });
  EXPECT_EQ(code, 128 + SIGKILL);
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(10));
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("rank 2 (pid "), std::string::npos) << text;
  EXPECT_NE(text.find("was killed by signal 9"), std::string::npos) << text;
}

TEST(ProcessesTest, AChildThatNeverEndsIsEndedAfterAFailure) {
  testing::internal::CaptureStderr();
  const int code = run_processes(2, [](World& world) {
    if (world.rank() == 1) return 3;
    while (true) pause();
  });
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(code, 3);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);  // no child is left
}

Launched detect(const std::map<std::string, std::string>& variables) {
  return detect_launcher([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(LauncherTest, IsFoundByItsVariables) {
  EXPECT_EQ(detect({}).by, Launched::By::kNobody);
  EXPECT_EQ(detect({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "1"}}).by, Launched::By::kMpi);
  EXPECT_EQ(detect({{"PMI_SIZE", "4"}, {"PMI_RANK", "3"}}).by, Launched::By::kMpi);
  const Launched torch =
      detect({{"RANK", "2"}, {"WORLD_SIZE", "3"}, {"MASTER_ADDR", "10.0.0.1"}, {"MASTER_PORT", "29500"}});
  EXPECT_EQ(torch.by, Launched::By::kTorchrun);
  EXPECT_EQ(torch.rank, 2);
  EXPECT_EQ(torch.size, 3);
  EXPECT_EQ(torch.address, "10.0.0.1");
  EXPECT_EQ(torch.port, 29500);
  const Launched slurm = detect({{"SLURM_PROCID", "1"},
                                 {"SLURM_STEP_ID", "0"},
                                 {"SLURM_NTASKS", "4"},
                                 {"SLURM_JOB_ID", "12345"},
                                 {"SLURM_STEP_NODELIST", "node[03-07,9],x1"}});
  EXPECT_EQ(slurm.by, Launched::By::kSlurm);
  EXPECT_EQ(slurm.address, "node03");
  EXPECT_EQ(slurm.size, 4);
  EXPECT_GT(slurm.port, 1024);
  EXPECT_LT(slurm.port, 65534);
}

TEST(LauncherTest, BadVariablesAreNamed) {
  const std::map<std::string, std::string> good = {
      {"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1000"}};
  const auto with = [&](const std::string& name, const std::string& value) {
    auto variables = good;
    variables[name] = value;
    return detect(variables).error;
  };
  EXPECT_EQ(detect(good).error, "");
  EXPECT_NE(with("RANK", "2").find("RANK=2 is not below WORLD_SIZE=2"), std::string::npos);
  EXPECT_NE(with("WORLD_SIZE", "two").find("WORLD_SIZE=\"two\""), std::string::npos);
  EXPECT_NE(with("MASTER_PORT", "70000").find("MASTER_PORT"), std::string::npos);
  EXPECT_NE(detect({{"RANK", "0"}, {"WORLD_SIZE", "2"}}).error.find("MASTER_ADDR"), std::string::npos);
}

TEST(TcpWorldTest, GathersOverLoopback) {
  const int port = 20000 + getpid() % 20000;
  unsetenv("NCCL_COMM_ID");
  const int code = run_processes(3, [port](World& world) {
    Launched launched;
    launched.by = Launched::By::kTorchrun;
    launched.rank = world.rank();
    launched.size = world.size();
    launched.address = "127.0.0.1";
    launched.port = port;
    const std::unique_ptr<World> star = make_tcp_world(launched);
    if (std::string(getenv("NCCL_COMM_ID")) != "127.0.0.1:" + std::to_string(port + 1)) return 60;
    return gather_often(*star);
  });
  EXPECT_EQ(code, 0);
}

TEST(CrewTest, ThreadsOfSeveralProcessesReduce) {
  const int code = run_processes(2, [](World& world) {
    Crew crew(world, 3);
    std::array<int, 3> failures{};
    const auto work = [&](int thread) {
      const int me = world.rank() * 3 + thread;  // 0..5
      int& failed = failures[static_cast<size_t>(thread)];
      for (int round = 0; round < 50; ++round) {
        failed += crew.sum(thread, me + round) != 15 + 6 * round;
        failed += crew.average(thread, me, Average::kMean) != 2.5;
        failed += crew.average(thread, me, Average::kMin) != 0;
        failed += crew.average(thread, me, Average::kMax) != 5;
        failed += crew.average(thread, me + 1, Average::kRank0) != 1;
        failed += crew.largest(thread, {1.0 * me, -1.0 * me}) != std::vector<double>{5, 0};
      }
    };
    std::thread one(work, 1), two(work, 2);
    work(0);
    one.join();
    two.join();
    return failures == std::array<int, 3>{} ? 0 : 70;
  });
  EXPECT_EQ(code, 0);
}

TEST(WatchdogTest, EndsWhatTakesTooLong) {
  testing::internal::CaptureStderr();
  const int code = run_processes(1, [](World&) {
    Watchdog watchdog(1);
    watchdog.watch("a long sleep");
    std::this_thread::sleep_for(std::chrono::seconds(20));
    return 0;
  });
  EXPECT_EQ(code, 4);
  testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace tutti::perf
