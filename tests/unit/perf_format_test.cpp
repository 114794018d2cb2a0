#include "common/format.h"

#include <gtest/gtest.h>

#include "common/json.h"
#include "common/machine.h"
#include "common/stats.h"

namespace tutti::perf {
namespace {

TEST(FormatTest, FloatsFitTheirWidth) {
  EXPECT_EQ(float_text(0.5, 7), "   0.50");
  EXPECT_EQ(float_text(9.994, 7), "   9.99");
  EXPECT_EQ(float_text(1234.5, 7), "1234.50");
  EXPECT_EQ(float_text(12345.6, 7), "12345.6");
  EXPECT_EQ(float_text(123456.7, 7), " 123457");
  EXPECT_EQ(float_text(1234567.0, 7), "1234567");
  EXPECT_EQ(float_text(12345678.0, 7), "1.2e+07");
  EXPECT_EQ(float_text(123.456, 6), "123.46");
  EXPECT_EQ(float_text(1234.5, 6), "1234.5");
  EXPECT_EQ(float_text(12345.0, 6), " 12345");
  EXPECT_EQ(float_text(12345678.0, 6), " 1e+07");
  EXPECT_EQ(float_text(0, 6), "  0.00");
}

TEST(FormatTest, Sizes) {
  EXPECT_EQ(parse_size("8"), 8);
  EXPECT_EQ(parse_size("32K"), 32768);
  EXPECT_EQ(parse_size("32k"), 32768);
  EXPECT_EQ(parse_size("1.5M"), 3 << 19);
  EXPECT_EQ(parse_size("4G"), int64_t{4} << 30);
  EXPECT_EQ(parse_size("2GB"), int64_t{2} << 30);
  EXPECT_EQ(parse_size("0"), 0);
  for (const char* bad : {"", "K", "-1", "1X", "1KK", "1 K", "1e3", "99999999T", "nan", "inf"})
    EXPECT_FALSE(parse_size(bad).has_value()) << bad;
}

TEST(FormatTest, Integers) {
  EXPECT_EQ(parse_integer("-3", -5, 5), -3);
  EXPECT_EQ(parse_integer("5", -5, 5), 5);
  for (const char* bad : {"6", "", "1.0", "1x", " 1", "99999999999999999999"})
    EXPECT_FALSE(parse_integer(bad, -5, 5).has_value()) << bad;
}

TEST(StatsTest, OfKnownValues) {
  std::vector<double> hundred;
  for (int i = 100; i >= 1; --i) hundred.push_back(i);
  const Stats stats = stats_of(hundred);
  EXPECT_EQ(stats.min, 1);
  EXPECT_EQ(stats.max, 100);
  EXPECT_EQ(stats.median, 51);
  EXPECT_EQ(stats.p95, 95);
  EXPECT_EQ(stats.p99, 99);
  EXPECT_DOUBLE_EQ(stats.average, 50.5);
  EXPECT_NEAR(stats.deviation, 28.866, 1e-3);
  EXPECT_NEAR(stats.variation_percent(), 57.16, 1e-2);
}

TEST(StatsTest, OfFewValues) {
  EXPECT_EQ(stats_of({}).max, 0);
  EXPECT_EQ(stats_of({}).variation_percent(), 0);
  const Stats one = stats_of({3});
  EXPECT_EQ(one.median, 3);
  EXPECT_EQ(one.p99, 3);
  EXPECT_EQ(one.deviation, 0);
  EXPECT_EQ(stats_of({2, 1}).median, 2);
}

TEST(JsonTest, NestingCommasAndEscapes) {
  JsonWriter json;
  json.begin_object();
  json.key("a");
  json.integer(1);
  json.key("list");
  json.begin_list();
  json.text("x\"y\\z\n\x01");
  json.number(1.5);
  json.null();
  json.begin_object();
  json.end_object();
  json.end_list();
  json.key("yes");
  json.flag(true);
  json.key("odd");
  json.number(0.0 / 0.0);
  json.end_object();
  EXPECT_EQ(json.str(),
            "{\"a\":1,\"list\":[\"x\\\"y\\\\z\\n\\u0001\",1.500000,null,{}],\"yes\":\"true\",\"odd\":\"nan\"}");
}

TEST(MachineTest, BuffersFitIntoMemory) {
  constexpr int64_t kGiB = int64_t{1} << 30;
  EXPECT_EQ(buffer_limit(32 << 20, 16 * kGiB, 2), 32 << 20);
  // 4 GiB twice for each of two ranks go into 24 GB, not into 16 GiB.
  EXPECT_EQ(buffer_limit(4 * kGiB, 24000000000, 2), 4 * kGiB);
  const int64_t limit = buffer_limit(4 * kGiB, 16 * kGiB, 2);
  EXPECT_LT(limit, 4 * kGiB);
  EXPECT_LE(2 * (2 * limit + (64 << 20)), 16 * kGiB);
  EXPECT_GT(limit, 3 * kGiB);
  EXPECT_EQ(buffer_limit(100, 0, 1), 1);
  EXPECT_GT(available_memory(), 0);
  EXPECT_GT(peak_resident_memory(), 0);
  EXPECT_FALSE(host_name().empty());
}

}  // namespace
}  // namespace tutti::perf
