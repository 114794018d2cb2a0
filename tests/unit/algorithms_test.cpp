// Lowering passes, trees, folding, printing and saving of plans, and the topology they are made from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "algorithms/allreduce/fold.h"
#include "algorithms/allreduce/tree.h"
#include "algorithms/json.h"
#include "algorithms/lower.h"
#include "algorithms/print.h"
#include "algorithms/schedule.h"

namespace tutti::algorithms {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Plan plan_of(std::string_view name, int nranks, int rank, uint32_t lanes = 1) {
  const auto topology = topology::Topology::single_node(nranks);
  return lower(*find_generator(Collective::kAllReduce, name), {topology, 8}, Collective::kAllReduce, -1, lanes, rank)
      .value();
}

TEST(Fuse, TurnsReceiveReduceAndSendIntoOneStep) {
  Schedule schedule;
  schedule.combine({0, 1}, {peer(0), input(0)}, {scratch(0)}, false);
  schedule.copy({0, 1}, scratch(0), {peer(2)});
  pass_fuse(schedule);
  ASSERT_EQ(schedule.operations.size(), 1u);
  EXPECT_THAT(schedule.operations[0].destinations, ElementsAre(peer(2)));
}

TEST(Fuse, KeepsScratchThatIsReadLater) {
  Schedule schedule;
  schedule.combine({0, 1}, {peer(0), input(0)}, {scratch(0)}, false);
  schedule.copy({0, 1}, scratch(0), {peer(2)});
  schedule.combine({0, 1}, {scratch(0), peer(2)}, {output(0)}, true);
  pass_fuse(schedule);
  ASSERT_EQ(schedule.operations.size(), 2u);
  EXPECT_THAT(schedule.operations[0].destinations, ElementsAre(scratch(0), peer(2)));
}

TEST(Fuse, LeavesAloneWhatIsNotTheSameData) {
  Schedule schedule;
  schedule.copy({0, 1}, peer(0), {output(0)});
  schedule.copy({1, 1}, output(1), {peer(1)});     // another chunk
  schedule.copy({0, 1}, output(0), {peer(1)});     // not directly after
  schedule.copy({0, 1}, output(0), {peer(1)});     // to the same rank again
  schedule.copy({0, 1}, output(0), {peer(2)}, 1);  // another stream
  pass_fuse(schedule);
  EXPECT_EQ(schedule.operations.size(), 5u);
}

TEST(Depend, OrdersStreamsThatTouchTheSameChunk) {
  Schedule schedule;
  schedule.copy({0, 1}, peer(0), {output(0)}, 0);
  schedule.copy({1, 1}, peer(0), {output(1)}, 0);
  schedule.copy({0, 1}, output(0), {peer(1)}, 1);  // reads what 0 wrote
  schedule.copy({0, 1}, peer(2), {output(0)}, 2);  // overwrites what 2 reads and 0 wrote
  schedule.copy({1, 1}, output(1), {peer(1)}, 0);  // its own stream
  pass_depend(schedule);
  EXPECT_THAT(schedule.operations[2].after, ElementsAre(0));
  EXPECT_THAT(schedule.operations[3].after, ElementsAre(0, 2));
  EXPECT_THAT(schedule.operations[4].after, ElementsAre());
}

TEST(Lanes, CopiesWorkOnTheirOwnPartOfEveryBlock) {
  Schedule schedule;
  schedule.copy({1, 1}, input(3), {scratch(0)});  // chunk 1 of block 1
  schedule.copy({1, 1}, scratch(0), {peer(5)}, 1);
  schedule.operations[1].after = {0};
  Shape shape{.chunks = 2, .scratch_chunks = 1, .streams = 2};
  pass_lanes(schedule, shape, 3);
  EXPECT_EQ(shape.chunks, 6u);
  EXPECT_EQ(shape.streams, 6u);
  ASSERT_EQ(schedule.operations.size(), 6u);
  const Operation& last = schedule.operations[4];
  EXPECT_EQ(last.run.first, 5u);
  EXPECT_THAT(last.sources, ElementsAre(input(11)));
  EXPECT_THAT(last.destinations, ElementsAre(scratch(2)));
  EXPECT_THAT(schedule.operations[5].sources, ElementsAre(scratch(2)));
  EXPECT_THAT(schedule.operations[5].destinations, ElementsAre(peer(5)));
  EXPECT_EQ(schedule.operations[5].stream, 5u);
  EXPECT_THAT(schedule.operations[5].after, ElementsAre(4));
}

TEST(Lower, RingNeedsNoScratchAndTwoStepsAnExchange) {
  const Plan plan = plan_of("ring", 5, 2);
  EXPECT_EQ(plan.header.scratch_chunks, 0u);
  EXPECT_EQ(plan.lanes[0].steps.size(), 9u);
  EXPECT_EQ(to_text(plan.lanes[0], plan.lanes[0].steps[1]), "rank 1 + input 0 -> rank 3");
  EXPECT_EQ(to_text(plan.lanes[0], plan.lanes[0].steps[4]), "rank 1 + input 2 -> output 2, rank 3 (completes)");
}

TEST(Lower, HashTellsPlansApartAndIsEqualOnAllRanks) {
  std::set<uint64_t> hashes;
  for (const Generator& generator : generators(Collective::kAllReduce)) {
    for (const int nranks : {2, 3, 4}) {
      for (const uint32_t lanes : {1u, 2u}) {
        const Plan plan = plan_of(generator.name, nranks, 0, lanes);
        EXPECT_EQ(plan.header, plan_of(generator.name, nranks, nranks - 1, lanes).header);
        hashes.insert(plan.header.hash);
      }
    }
  }
  EXPECT_EQ(hashes.size(), generators(Collective::kAllReduce).size() * 6);
}

TEST(Lower, RefusesWhatIsOutOfRange) {
  const auto topology = topology::Topology::single_node(3);
  const Generator& tree = *find_generator(Collective::kAllReduce, "tree");
  const auto text = [&](uint32_t depth, uint32_t lanes, int rank) {
    return lower(tree, {topology, depth}, Collective::kAllReduce, -1, lanes, rank).status().text();
  };
  EXPECT_THAT(text(8, 1, 3), HasSubstr("rank 3 is outside 0..2"));
  EXPECT_THAT(text(8, 1, -1), HasSubstr("rank -1"));
  EXPECT_THAT(text(1, 1, 0), HasSubstr("queues of 1 slots"));
  EXPECT_THAT(text(8, 17, 0), HasSubstr("17 copies of 4 lanes"));
  EXPECT_THAT(text(8, 0, 0), HasSubstr("0 copies"));
}

TEST(Lower, StepsOfARankDoNotGrowWithTheNumberOfRanksInATree) {
  for (const int nranks : {1000, 4096}) {
    for (int rank = 0; rank < nranks; rank += 111) {
      const Plan plan = plan_of("tree", nranks, rank);
      for (const Lane& lane : plan.lanes) EXPECT_LE(lane.steps.size(), 2u);
    }
  }
}

TEST(Tree, ParentsAndChildrenAgreeAndInnerRanksAreLeavesOfTheOtherTree) {
  for (int n = 1; n <= 130; ++n) {
    int roots = 0;
    for (int p = 0; p < n; ++p) {
      const allreduce::TreeNode node = allreduce::tree_node(n, p);
      if (node.parent < 0) ++roots;
      for (const int child : {node.left, node.right}) {
        if (child >= 0) EXPECT_EQ(allreduce::tree_node(n, child).parent, p) << n << " positions";
      }
      if (p % 2 == 0) EXPECT_TRUE(node.left < 0 && node.right < 0);
      int depth = 0;
      for (int q = p; q >= 0; q = allreduce::tree_node(n, q).parent) ASSERT_LE(++depth, n);
      EXPECT_LE(depth, static_cast<int>(std::bit_width(static_cast<unsigned>(n)))) << n << " positions";
    }
    EXPECT_EQ(roots, 1);
  }
}

TEST(Fold, PlacesAndMembersAreInverse) {
  for (int n = 1; n <= 70; ++n) {
    const allreduce::Fold fold(n);
    int waiting = 0;
    for (int member = 0; member < n; ++member) {
      if (fold.waits(member)) {
        ++waiting;
      } else {
        EXPECT_EQ(fold.member(fold.place(member)), member);
        EXPECT_LT(fold.place(member), fold.core);
      }
    }
    EXPECT_EQ(waiting + fold.core, n);
  }
}

TEST(Print, ShowsAPlanToPeople) {
  const std::string text = to_text(plan_of("tree", 4, 3));
  EXPECT_THAT(text, HasSubstr("AllReduce tree for 4 ranks, rank 3"));
  EXPECT_THAT(text, HasSubstr("slices any"));
  EXPECT_THAT(text, HasSubstr("after lane 0 step 0"));
}

TEST(PlanJson, SurvivesUnchanged) {
  for (const Generator& generator : generators(Collective::kAllReduce)) {
    const Plan plan = plan_of(generator.name, 7, 3, 2);
    const std::string text = to_json(plan);
    const auto back = plan_from_json(text);
    ASSERT_TRUE(back.ok()) << back.status().text();
    EXPECT_EQ(back->header, plan.header);
    EXPECT_EQ(back->rank, plan.rank);
    EXPECT_EQ(back->lanes, plan.lanes);
    EXPECT_EQ(to_json(*back), text);
  }
}

TEST(PlanJson, NamesTheFieldThatIsWrong) {
  const std::string good = to_json(plan_of("ring", 2, 0));
  const auto broken = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const size_t place = text.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    text.replace(place, from.size(), to);
    return plan_from_json(text).status().text();
  };
  EXPECT_THAT(broken("\"nranks\": 2", "\"nranks\": \"two\""), HasSubstr("\"nranks\""));
  EXPECT_THAT(broken("\"nranks\": 2", "\"nranks\": 99999999999"), HasSubstr("\"nranks\""));
  EXPECT_THAT(broken("\"hash\"", "\"trash\""), HasSubstr("\"hash\""));
  EXPECT_THAT(broken("AllReduce", "AllReduced"), HasSubstr("\"collective\""));
  EXPECT_THAT(broken("\"input\"", "\"inputs\""), HasSubstr("\"sources\""));
  EXPECT_THAT(broken("\"format\": 1", "\"format\": 2"), HasSubstr("format 2"));
  EXPECT_THAT(plan_from_json("").status().text(), HasSubstr("not JSON"));
}

TEST(Topology, NamesWhatIsWrong) {
  topology::Topology topology{.node = {0, 0, 2}, .cores = {}, .links = {}};
  EXPECT_THAT(validate(topology).text(), HasSubstr("at least one has no rank"));
  topology.node = {0, 3, 1};
  EXPECT_THAT(validate(topology).text(), HasSubstr("rank 1 is on node 3"));
  topology.node = {1, 0, 1};
  topology.cores = {1};
  EXPECT_THAT(validate(topology).text(), HasSubstr("cores are given for 1 nodes"));
  topology.cores = {1, 1};
  EXPECT_TRUE(validate(topology).ok());
  EXPECT_TRUE(topology.oversubscribed());
  EXPECT_EQ(topology.members(), (std::vector<std::vector<int>>{{0, 2}, {1}}));
  topology.cores = {1, 2};
  EXPECT_FALSE(topology.oversubscribed());
  topology.links = {{0, 2, 1, 1}};
  EXPECT_THAT(validate(topology).text(), HasSubstr("from node 0 to node 2"));
}

}  // namespace
}  // namespace tutti::algorithms
