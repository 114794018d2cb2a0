// Selection: the table as text, NCCL_ALGO, and what is chosen when nobody says anything.
#include "algorithms/select.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithms/json.h"
#include "algorithms/schedule.h"

namespace tutti::algorithms {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Result<Table> parse(std::string_view text) {
  return parse_table("TUTTI_ALLREDUCE", Collective::kAllReduce, text);
}

std::string name_at(const Table& table, size_t bytes) {
  const Row* row = table.find(bytes);
  return row == nullptr ? "none" : row->generator;
}

TEST(Table, ReadsPrintsAndFinds) {
  constexpr std::string_view kText = "one_shot:0-8K;tree:8K-256K;ring(lanes=2):256K-max";
  const Table table = parse(kText).value();
  EXPECT_EQ(to_text(table), kText);
  EXPECT_EQ(name_at(table, 0), "one_shot");
  EXPECT_EQ(name_at(table, 8192), "one_shot");
  EXPECT_EQ(name_at(table, 8193), "tree");
  EXPECT_EQ(name_at(table, 262145), "ring");
  EXPECT_EQ(name_at(table, std::numeric_limits<size_t>::max()), "ring");
  EXPECT_EQ(table.rows[2].lanes, 2u);
  EXPECT_EQ(name_at(parse(" Ring ").value(), 7), "ring");
  EXPECT_EQ(name_at(parse("ring:10-20;").value(), 9), "none");
  EXPECT_EQ(to_text(parse("tree:1000-1m;ring:3g-MAX").value()), "tree:1000-1M;ring:3G-max");
}

TEST(Table, NamesWhatIsWrong) {
  const auto text = [](std::string_view bad) {
    const auto table = parse(bad);
    EXPECT_FALSE(table.ok()) << bad;
    EXPECT_EQ(table.status().code(), Code::kInvalidUsage);
    return table.status().text();
  };
  EXPECT_THAT(text("rinng:0-8K"), AllOf(HasSubstr("TUTTI_ALLREDUCE"), HasSubstr("\"rinng\""), HasSubstr("two_shot")));
  EXPECT_THAT(text("ring:8K"), AllOf(HasSubstr("\"ring:8K\""), HasSubstr("from-to")));
  EXPECT_THAT(text("ring:8K-4K"), AllOf(HasSubstr("8192"), HasSubstr("4096")));
  EXPECT_THAT(text("ring:0-8X"), HasSubstr("0-8X"));
  EXPECT_THAT(text("ring:-1-8"), HasSubstr("-1-8"));
  EXPECT_THAT(text("ring:0-99999999999999999999"), HasSubstr("from-to"));
  EXPECT_THAT(text("ring:0-18446744073709551615K"), HasSubstr("from-to"));
  EXPECT_THAT(text("ring(lanes=0)"), HasSubstr("lanes=1..64"));
  EXPECT_THAT(text("ring(lanes=2"), HasSubstr("ring(lanes=2"));
  EXPECT_THAT(text("ring:0-1:2"), HasSubstr("ring:0-1:2"));
  EXPECT_THAT(text(""), HasSubstr("names no algorithm"));
  EXPECT_THAT(text(";;"), HasSubstr("names no algorithm"));
}

TEST(NcclAlgo, UnderstandsNcclsForms) {
  const auto filter = [](std::string_view text) { return parse_nccl_algo(Collective::kAllReduce, text).value(); };
  EXPECT_THAT(filter("Ring").only, ElementsAre("ring"));
  EXPECT_THAT(filter("RING,tree").only, ElementsAre("ring", "tree"));
  EXPECT_THAT(filter("^tree").without, ElementsAre("tree"));
  EXPECT_THAT(filter("ring;allreduce:tree").only, ElementsAre("tree"));
  EXPECT_THAT(filter("allreduce:^ring,nvls;broadcast:ring").without, ElementsAre("ring"));
  EXPECT_THAT(filter("broadcast:ring").only, ElementsAre());
  EXPECT_THAT(filter("nvls,ring").note, HasSubstr("nvls ignored"));
  const auto rejected = [](std::string_view text) {
    return parse_nccl_algo(Collective::kAllReduce, text).status().text();
  };
  EXPECT_THAT(rejected("rung"), AllOf(HasSubstr("NCCL_ALGO"), HasSubstr("\"rung\""), HasSubstr("ring, tree")));
  EXPECT_THAT(rejected("gather:ring"), HasSubstr("unknown function \"gather\""));
  EXPECT_THAT(rejected("ring;tree"), HasSubstr("names no function"));
}

Snapshot snapshot_of(int nranks) {
  Snapshot snapshot;
  snapshot.topology = topology::Topology::single_node(nranks);
  return snapshot;
}

Choice choose(const Snapshot& snapshot, size_t bytes) {
  Request request;
  request.count = bytes;
  request.type = DataType::kUint8;
  const auto choice = select(request, snapshot);
  EXPECT_TRUE(choice.ok()) << choice.status().text();
  return choice.value();
}

TEST(Select, HasADefaultForEverySizeAndShape) {
  for (const int nranks : {1, 2, 3, 8, 9, 33}) {
    for (int per_node = 1; per_node <= nranks; ++per_node) {
      Snapshot snapshot = snapshot_of(nranks);
      for (int rank = 0; rank < nranks; ++rank) snapshot.topology.node[static_cast<size_t>(rank)] = rank / per_node;
      for (size_t bytes : {size_t{0}, size_t{8}, size_t{40000}, size_t{1} << 30, std::numeric_limits<size_t>::max()}) {
        const Choice choice = choose(snapshot, bytes);
        EXPECT_THAT(choice.why, HasSubstr("default"));
        EXPECT_GE(choice.slices, 1u);
        const auto plan = make_plan(choice, {}, snapshot, nranks - 1);
        ASSERT_TRUE(plan.ok()) << plan.status().text();
        EXPECT_LE(plan->header.lanes, snapshot.max_lanes);
      }
    }
  }
  EXPECT_EQ(choose(snapshot_of(2), 32768).generator, "one_shot");
  EXPECT_EQ(choose(snapshot_of(2), 32769).generator, "two_shot");
}

TEST(Select, FollowsOverrides) {
  Snapshot snapshot = snapshot_of(4);
  snapshot.overrides = parse_overrides("ring(lanes=4):1K-2K;tree:0-1K", "ring").value();
  EXPECT_EQ(choose(snapshot, 2048).generator, "ring");
  EXPECT_EQ(choose(snapshot, 2048).lanes, 4u);
  EXPECT_EQ(choose(snapshot, 8).generator, "tree");
  EXPECT_THAT(choose(snapshot, 8).why, HasSubstr("TUTTI_ALLREDUCE says tree:0-1K"));
  // Outside the table NCCL_ALGO decides.
  EXPECT_EQ(choose(snapshot, 4096).generator, "ring");
  EXPECT_THAT(choose(snapshot, 4096).why, HasSubstr("NCCL_ALGO allows only ring"));

  snapshot.max_lanes = 3;
  EXPECT_EQ(choose(snapshot, 2048).lanes, 3u);
  EXPECT_THAT(choose(snapshot, 2048).why, HasSubstr("3 lanes instead of 4"));
  const auto tree = select({}, snapshot);
  EXPECT_THAT(tree.status().text(), AllOf(HasSubstr("tree needs 4 lanes"), HasSubstr("3")));
  EXPECT_FALSE(parse_overrides("nonsense", std::nullopt).ok());
  EXPECT_FALSE(parse_overrides(std::nullopt, "nonsense").ok());
}

TEST(Select, ExcludesWhatNcclAlgoExcludes) {
  Snapshot snapshot = snapshot_of(16);
  ASSERT_EQ(choose(snapshot, 1 << 26).generator, "ring");
  snapshot.overrides = parse_overrides(std::nullopt, "^ring").value();
  EXPECT_EQ(choose(snapshot, 1 << 26).generator, "tree");
  snapshot.overrides = parse_overrides(std::nullopt, "^ring,tree").value();
  EXPECT_EQ(choose(snapshot, 1 << 26).generator, "two_shot");
  snapshot.overrides = parse_overrides(std::nullopt, "nvls").value();
  EXPECT_EQ(choose(snapshot, 1 << 26).generator, "ring");
  EXPECT_THAT(choose(snapshot, 1 << 26).why, HasSubstr("nvls ignored"));
}

TEST(Select, KeepsBitsEqualInPreMulSums) {
  Snapshot snapshot = snapshot_of(2);
  const auto chosen = [&](DataType type, ReduceOp op) {
    return select({.count = 4, .type = type, .op = op}, snapshot).value();
  };
  EXPECT_EQ(chosen(DataType::kBfloat16, ReduceOp::kSum).generator, "one_shot");
  EXPECT_EQ(chosen(DataType::kFloat32, ReduceOp::kPreMulSum).generator, "one_shot");
  EXPECT_EQ(chosen(DataType::kBfloat16, ReduceOp::kPreMulSum).generator, "halving_doubling");
  EXPECT_THAT(chosen(DataType::kBfloat16, ReduceOp::kPreMulSum).why, HasSubstr("round differently"));
  snapshot = snapshot_of(65);
  snapshot.overrides = parse_overrides("two_shot", std::nullopt).value();
  EXPECT_EQ(chosen(DataType::kFloat32, ReduceOp::kSum).generator, "two_shot");
  EXPECT_EQ(chosen(DataType::kFloat32, ReduceOp::kPreMulSum).generator, "halving_doubling");
}

TEST(Select, RefusesWhatCannotBePlanned) {
  Snapshot snapshot = snapshot_of(4);
  EXPECT_THAT(select({.collective = Collective::kBroadcast}, snapshot).status().text(), HasSubstr("Broadcast"));
  snapshot.queue_depth = 1;
  EXPECT_THAT(select({}, snapshot).status().text(), HasSubstr("at least 2"));
  snapshot.queue_depth = 8;
  snapshot.slot_bytes = 100;
  EXPECT_THAT(select({}, snapshot).status().text(), HasSubstr("100 bytes"));
  EXPECT_THAT(select({}, Snapshot{}).status().text(), HasSubstr("no ranks"));
  snapshot = snapshot_of(33);
  snapshot.slot_bytes = 64;
  snapshot.overrides = parse_overrides("halving_doubling", std::nullopt).value();
  EXPECT_THAT(select({}, snapshot).status().text(), AllOf(HasSubstr("32 chunks"), HasSubstr("holds 16 elements")));
  EXPECT_FALSE(make_plan(Choice{"nothing", 1, 1, ""}, {}, snapshot, 0).ok());
  EXPECT_FALSE(make_plan(Choice{"ring", 1, 1, ""}, {}, snapshot, 33).ok());
  EXPECT_FALSE(make_plan(Choice{"ring", 65, 1, ""}, {}, snapshot, 0).ok());
}

TEST(Snapshot, SurvivesJson) {
  Snapshot snapshot = snapshot_of(5);
  snapshot.number = 7;
  snapshot.topology.node = {0, 0, 1, 1, 1};
  snapshot.topology.cores = {2, 4};
  snapshot.topology.links = {{0, 1, 2.5, 0.1}};
  snapshot.cost.across.gbs = 1.0 / 3;
  snapshot.overrides = parse_overrides("ring(lanes=2):0-3K", "^tree,nvls").value();
  const std::string text = to_json(snapshot);
  const auto back = snapshot_from_json(text);
  ASSERT_TRUE(back.ok()) << back.status().text();
  EXPECT_EQ(*back, snapshot);
  EXPECT_EQ(to_json(*back), text);
  EXPECT_THAT(snapshot_from_json("{").status().text(), HasSubstr("not JSON"));
  EXPECT_THAT(snapshot_from_json("[]").status().text(), HasSubstr("format"));
  EXPECT_THAT(snapshot_from_json(R"({"format":1,"number":-1})").status().text(), HasSubstr("\"number\""));
}

}  // namespace
}  // namespace tutti::algorithms
