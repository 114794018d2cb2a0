// Deliberately wrong plans, one of each kind: each is rejected, with a message that names rank, lane and step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "algorithms/check.h"
#include "make.h"

namespace tutti::algorithms {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct HandMade {
  int nranks = 2;
  uint32_t chunks = 1;
  uint32_t scratch = 2;
  uint32_t lanes = 1;
  uint32_t max_chunks = 1;
  uint32_t depth = 2;
  bool in_place = true;
};

// Numbers the operations as they are: nothing is fused, and no dependence is added.
std::vector<Plan> by_hand(const HandMade& form, const std::function<void(int rank, Schedule& schedule)>& write) {
  PlanHeader header;
  header.name = "by hand";
  header.nranks = form.nranks;
  header.chunks = form.chunks;
  header.scratch_chunks = form.scratch;
  header.lanes = form.lanes;
  header.max_chunks = form.max_chunks;
  header.queue_depth = form.depth;
  header.in_place = form.in_place;
  std::vector<Plan> plans;
  for (int rank = 0; rank < form.nranks; ++rank) {
    Schedule schedule;
    schedule.rank = rank;
    write(rank, schedule);
    plans.push_back(pass_number(schedule, header).value());
  }
  return plans;
}

constexpr Run kChunk0{0, 1};

// Two ranks, done right, from which the wrong ones are made.
void exchange(int rank, Schedule& schedule) {
  const Operand other = peer(1 - rank);
  schedule.copy(kChunk0, input(0), {other});
  schedule.combine(kChunk0, rank == 0 ? std::vector{input(0), other} : std::vector{other, input(0)}, {output(0)}, true);
}

std::string rejection(const std::vector<Plan>& plans) {
  const Status status = check(plans);
  EXPECT_FALSE(status.ok());
  return status.text();
}

TEST(WrongPlan, TheExchangeItselfIsRight) {
  const Status status = check(by_hand({}, exchange));
  EXPECT_TRUE(status.ok()) << status.text();
}

TEST(WrongPlan, LostContribution) {
  const auto plans = by_hand({.nranks = 3}, [](int rank, Schedule& schedule) {
    schedule.copy(kChunk0, input(0), {peer((rank + 1) % 3), peer((rank + 2) % 3)});
    if (rank == 1) {
      schedule.copy(kChunk0, peer(2), {scratch(0)});
      schedule.combine(kChunk0, {peer(0), input(0)}, {output(0)}, true);
    } else {
      const Operand mine = input(0);
      schedule.combine(kChunk0, {rank == 0 ? mine : peer(0), peer(1), rank == 2 ? mine : peer(2)}, {output(0)}, true);
    }
  });
  EXPECT_THAT(rejection(plans), AllOf(HasSubstr("rank 1 lane 0 step 2"), HasSubstr("chunk 0"),
                                      HasSubstr("without the contribution of rank 2, which is lost")));
}

TEST(WrongPlan, DoubledContribution) {
  const auto plans = by_hand({}, [](int rank, Schedule& schedule) {
    if (rank == 0) return exchange(rank, schedule);
    schedule.copy(kChunk0, input(0), {peer(0)});
    schedule.copy(kChunk0, peer(0), {scratch(0)});
    schedule.combine(kChunk0, {scratch(0), input(0), scratch(0)}, {output(0)}, true);
  });
  EXPECT_THAT(rejection(plans),
              AllOf(HasSubstr("rank 1 lane 0 step 2"), HasSubstr("contribution of rank 0 to chunk 0 a second time")));
}

TEST(WrongPlan, StaleContributionInPlace) {
  const auto late = [](int rank, Schedule& schedule) {
    if (rank == 1) return exchange(rank, schedule);
    schedule.combine(kChunk0, {input(0), peer(1)}, {output(0)}, true);
    schedule.copy(kChunk0, input(0), {peer(1)});
  };
  EXPECT_THAT(rejection(by_hand({}, late)),
              AllOf(HasSubstr("rank 0 lane 0 step 1"), HasSubstr("reads input 0 in place"),
                    HasSubstr("lane 0 step 0 has already overwritten it")));
  EXPECT_TRUE(check(by_hand({.in_place = false}, late)).ok());
}

TEST(WrongPlan, StaleContributionOfScratch) {
  const auto plans = by_hand({}, [](int rank, Schedule& schedule) {
    if (rank == 0) return exchange(rank, schedule);
    schedule.copy(kChunk0, input(0), {peer(0)});
    schedule.combine(kChunk0, {scratch(0), input(0)}, {output(0)}, true);
    schedule.copy(kChunk0, peer(0), {scratch(0)});
  });
  EXPECT_THAT(rejection(plans), AllOf(HasSubstr("rank 1 lane 0 step 1"), HasSubstr("stale contribution"),
                                      HasSubstr("reads scratch 0 before")));
}

TEST(WrongPlan, OrdersThatDifferBetweenRanks) {
  const auto plans = by_hand({}, [](int rank, Schedule& schedule) {
    schedule.copy(kChunk0, input(0), {peer(1 - rank)});
    schedule.combine(kChunk0, {input(0), peer(1 - rank)}, {output(0)}, true);
  });
  EXPECT_THAT(rejection(plans),
              AllOf(HasSubstr("rank 1 lane 0 step 1"), HasSubstr("leaves (r1 + r0) in output chunk 0"),
                    HasSubstr("rank 0 lane 0 step 1"), HasSubstr("(r0 + r1)")));
}

TEST(WrongPlan, RoundingPointsThatDifferBetweenRanks) {
  const auto plans = by_hand({.nranks = 3}, [](int rank, Schedule& schedule) {
    schedule.copy(kChunk0, input(0), {peer((rank + 1) % 3), peer((rank + 2) % 3)});
    if (rank == 2) {
      schedule.combine(kChunk0, {peer(0), peer(1)}, {scratch(0)}, false);
      schedule.combine(kChunk0, {scratch(0), input(0)}, {output(0)}, true);
    } else {
      schedule.combine(kChunk0, {rank == 0 ? input(0) : peer(0), rank == 1 ? input(0) : peer(1), peer(2)}, {output(0)},
                       true);
    }
  });
  EXPECT_THAT(rejection(plans),
              AllOf(HasSubstr("rank 2 lane 0 step 2"), HasSubstr("((r0 + r1) + r2)"), HasSubstr("(r0 + r1 + r2)")));
}

TEST(WrongPlan, CircularWait) {
  const auto plans = by_hand({}, [](int rank, Schedule& schedule) {
    schedule.copy(kChunk0, peer(1 - rank), {scratch(0)});
    schedule.copy(kChunk0, input(0), {peer(1 - rank)});
    schedule.combine(kChunk0, rank == 0 ? std::vector{input(0), scratch(0)} : std::vector{scratch(0), input(0)},
                     {output(0)}, true);
  });
  const std::string text = rejection(plans);
  EXPECT_THAT(text, AllOf(HasSubstr("circular wait"), HasSubstr("rank 0 lane 0 step 0"),
                          HasSubstr("waits for a message from rank 1"), HasSubstr("rank 1 lane 0 step 0"),
                          HasSubstr("waits for a message from rank 0")));
  EXPECT_THAT(text, testing::Not(HasSubstr("unbounded")));
}

TEST(WrongPlan, WaitThatOnlyAppearsWithBoundedQueues) {
  const auto many = [](int rank, Schedule& schedule) {
    for (uint32_t c = 0; c < 3; ++c) schedule.copy({c, 1}, input(c), {peer(1 - rank)});
    for (uint32_t c = 0; c < 3; ++c) {
      const Operand other = peer(1 - rank);
      schedule.combine({c, 1}, rank == 0 ? std::vector{input(c), other} : std::vector{other, input(c)}, {output(c)},
                       true);
    }
  };
  EXPECT_TRUE(check(by_hand({.chunks = 3, .depth = 3}, many)).ok());
  EXPECT_THAT(rejection(by_hand({.chunks = 3, .depth = 2}, many)),
              AllOf(HasSubstr("circular wait with 1 slice(s) a step and queues of 2 slot(s)"),
                    HasSubstr("unbounded queues would not have"), HasSubstr("rank 0 lane 0 step 2"),
                    HasSubstr("waits for a free slot in its queue to rank 1")));
}

TEST(WrongPlan, WaitThatOnlyAppearsWithMoreSlices) {
  for (const uint32_t depth : {2u, 4u}) {
    auto plans = make_plans("one_shot", 3, depth);
    ASSERT_TRUE(check(plans).ok());
    for (Plan& plan : plans) plan.header.max_slices = depth + 3;
    EXPECT_THAT(rejection(plans), AllOf(HasSubstr(fmt::format("circular wait with {} slice(s)", depth + 1)),
                                        HasSubstr(fmt::format("{} slice(s) do not have", depth)),
                                        HasSubstr("rank 0 lane 0 step 0"), HasSubstr("slice")));
    for (Plan& plan : plans) plan.header.max_slices = 0;  // any number
    EXPECT_THAT(rejection(plans), HasSubstr("circular wait"));
  }
}

TEST(WrongPlan, WaitForItself) {
  auto plans = by_hand({}, exchange);
  plans[1].lanes[0].dependences.push_back({0, 1});
  plans[1].lanes[0].steps[0].dependences = 1;
  plans[1].lanes[0].steps[1].depended_on = true;
  EXPECT_THAT(rejection(plans), AllOf(HasSubstr("circular wait"), HasSubstr("rank 1 lane 0 step 0"),
                                      HasSubstr("waits for its own lane 0 step 1")));
}

TEST(WrongPlan, RaceBetweenLanes) {
  auto plans = make_plans("tree", 4, 8);
  ASSERT_TRUE(check(plans).ok());
  int removed = 0;
  for (Plan& plan : plans) {
    for (Lane& lane : plan.lanes) {
      for (Step& step : lane.steps) {
        removed += step.dependences;
        step.dependences = 0;
      }
    }
  }
  ASSERT_GT(removed, 0);
  EXPECT_THAT(rejection(plans), AllOf(HasSubstr("rank 2 lane 2 step 0"), HasSubstr("writes output 1"),
                                      HasSubstr("lane 3 step 0"), HasSubstr("nothing orders the two")));
}

TEST(WrongPlan, RaceThatOnlyExistsInPlace) {
  const auto beside = [](int rank, Schedule& schedule) {
    exchange(rank, schedule);
    if (rank == 0) schedule.copy(kChunk0, input(0), {scratch(0)}, 1);
  };
  EXPECT_TRUE(check(by_hand({.lanes = 2, .in_place = false}, beside)).ok());
  EXPECT_THAT(rejection(by_hand({.lanes = 2}, beside)),
              AllOf(HasSubstr("rank 0 lane 0 step 1"), HasSubstr("in place"), HasSubstr("lane 1 step 0")));
}

// Two ranks that exchange their inputs and write the sum over them may not lend them: neither knows when the other has
// read.
TEST(WrongPlan, LentMemoryThatIsOverwritten) {
  auto plans = by_hand({}, exchange);
  for (Plan& plan : plans) plan.header.lending = Lending::kOutOfPlace;
  EXPECT_TRUE(check(plans).ok());
  for (Plan& plan : plans) plan.header.lending = Lending::kAlways;
  EXPECT_THAT(rejection(plans), AllOf(HasSubstr("rank 0 lane 0 step 1"), HasSubstr("may write input 0 while"),
                                      HasSubstr("rank 1 lane 0 step 1"), HasSubstr("rank 0 lane 0 step 0")));
}

TEST(WrongPlan, ScratchThatTheNextLoopOverwrites) {
  // Lane 1 waits for lane 0 to fill the scratch, but lane 0 does not wait for lane 1 before it fills it again.
  auto plans = by_hand({.lanes = 2}, [](int rank, Schedule& schedule) {
    schedule.copy(kChunk0, input(0), {peer(1 - rank)});
    schedule.copy(kChunk0, peer(1 - rank), {scratch(0)});
    const auto both = rank == 0 ? std::vector{input(0), scratch(0)} : std::vector{scratch(0), input(0)};
    schedule.combine(kChunk0, both, {output(0)}, true, 1);
    schedule.operations.back().after = {1};
  });
  EXPECT_THAT(rejection(plans), AllOf(HasSubstr("rank 0 lane 1 step 0"), HasSubstr("reads scratch 0"),
                                      HasSubstr("lane 0 step 1"), HasSubstr("of the next loop")));
  for (Plan& plan : plans) plan.header.scratch_per_loop = false;
  const Status status = check(plans);
  EXPECT_TRUE(status.ok()) << status.text();
}

TEST(WrongPlan, OutputWrittenTooEarly) {
  const auto plans = by_hand({.in_place = false}, [](int rank, Schedule& schedule) {
    if (rank == 0) schedule.copy(kChunk0, input(0), {output(0)});
    exchange(rank, schedule);
  });
  EXPECT_THAT(rejection(plans), AllOf(HasSubstr("rank 0 lane 0 step 0"), HasSubstr("output chunk 0 too early"),
                                      HasSubstr("contribution of rank 1")));
}

TEST(WrongPlan, OutputThatNobodyWrites) {
  const auto plans = by_hand({.chunks = 2}, exchange);
  EXPECT_THAT(rejection(plans), HasSubstr("rank 0 never gets output chunk 1"));
}

TEST(WrongPlan, MismatchedChunkCounts) {
  const auto plans = by_hand({.chunks = 2, .max_chunks = 2}, [](int rank, Schedule& schedule) {
    if (rank == 0) {
      schedule.copy({0, 2}, input(0), {peer(1)});
    } else {
      schedule.copy({0, 1}, peer(0), {scratch(0)});
    }
  });
  EXPECT_THAT(rejection(plans), AllOf(HasSubstr("rank 0 lane 0 step 0"), HasSubstr("sends 2 chunk(s) from chunk 0"),
                                      HasSubstr("rank 1 lane 0 step 0"), HasSubstr("1 chunk(s) from chunk 0")));
}

TEST(WrongPlan, MessageWithoutReceiveAndReceiveWithoutMessage) {
  const auto more = [](int sender) {
    return [sender](int rank, Schedule& schedule) {
      exchange(rank, schedule);
      if (rank == 0 && sender == 0) schedule.copy(kChunk0, output(0), {peer(1)});
      if (rank == 0 && sender == 1) schedule.copy(kChunk0, peer(1), {output(0)});
    };
  };
  EXPECT_THAT(rejection(by_hand({}, more(0))), AllOf(HasSubstr("rank 0 lane 0 step 2"), HasSubstr("sends message 1")));
  EXPECT_THAT(rejection(by_hand({}, more(1))),
              AllOf(HasSubstr("rank 0 lane 0 step 2"), HasSubstr("waits for message 1")));
}

TEST(WrongPlan, DividedNeverOrTwice) {
  auto plans = by_hand({}, exchange);
  plans[1].lanes[0].steps[1].completes = false;
  EXPECT_THAT(rejection(plans), AllOf(HasSubstr("rank 1 lane 0 step 1"), HasSubstr("no step has completed")));

  plans = by_hand({}, [](int rank, Schedule& schedule) {
    exchange(rank, schedule);
    if (rank == 1) schedule.combine(kChunk0, {output(0)}, {output(0)}, true);
  });
  EXPECT_THAT(rejection(plans), AllOf(HasSubstr("rank 1 lane 0 step 2"), HasSubstr("already a finished result")));
}

TEST(WrongPlan, MalformedOperands) {
  const auto broken = [](auto change) {
    auto plans = by_hand({}, exchange);
    change(plans[1].lanes[0]);
    return rejection(plans);
  };
  EXPECT_THAT(broken([](Lane& lane) { lane.operands[0].index = 1; }),
              AllOf(HasSubstr("rank 1 lane 0 step 0"), HasSubstr("ends at chunk 1")));
  EXPECT_THAT(broken([](Lane& lane) { lane.operands[1] = peer(1); }),
              AllOf(HasSubstr("rank 1 lane 0 step 0"), HasSubstr("no other rank")));
  EXPECT_THAT(broken([](Lane& lane) { lane.operands.back() = input(0); }),
              AllOf(HasSubstr("rank 1 lane 0 step 1"), HasSubstr("writes to the input")));
  EXPECT_THAT(broken([](Lane& lane) { lane.operands.back() = scratch(2); }), HasSubstr("scratch ends at chunk 2"));
  EXPECT_THAT(broken([](Lane& lane) { lane.steps[1].sources = 9; }), HasSubstr("outside the lane's"));
  EXPECT_THAT(broken([](Lane& lane) { lane.steps[1].chunks = 2; }), HasSubstr("works on chunks 0..1"));
  EXPECT_THAT(broken([](Lane& lane) { lane.operands[3] = lane.operands[2]; }), HasSubstr("stands twice"));
}

TEST(WrongPlan, PlansThatDoNotBelongTogether) {
  auto plans = by_hand({}, exchange);
  plans[1].header.hash = 1;
  EXPECT_THAT(rejection(plans), HasSubstr("rank 1 has another header"));
  plans = by_hand({}, exchange);
  plans.pop_back();
  EXPECT_THAT(rejection(plans), HasSubstr("1 plans for 2 ranks"));
  plans = by_hand({}, exchange);
  plans[1].rank = 0;
  EXPECT_THAT(rejection(plans), HasSubstr("plan 1 is rank 0's"));
  EXPECT_THAT(rejection({}), HasSubstr("no plans"));
}

}  // namespace
}  // namespace tutti::algorithms
