// Copies and conversions on host memory, for every instruction set.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels_reference.h"

namespace tutti::kernels {
namespace {

using reference::awkward_values;
using reference::Bytes;
using reference::pattern_at;

class KernelsCopy : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    table_ = host_kernels_for(GetParam());
    if (table_ == nullptr) GTEST_SKIP() << GetParam() << " is not compiled in, or this processor does not have it";
  }
  const KernelTable* table_ = nullptr;
};
class KernelsConvert : public KernelsCopy {};

TEST_P(KernelsCopy, AnySizeAlignmentAndNumberOfDestinations) {
  const Bytes source = awkward_values(DataType::kUint8, 40000, 1);
  for (size_t bytes : {0, 1, 7, 63, 64, 65, 4095, 4096, 8191, 8192, 8193, 12289, 30000})
    for (size_t offset : {0, 1, 8, 63})
      for (int destinations : {1, 2, 3})
        for (bool streaming : {false, true}) {
          std::vector<Bytes> out(static_cast<size_t>(destinations), Bytes(bytes + 200, 0xa5));
          std::vector<void*> dst;
          for (size_t i = 0; i < out.size(); ++i) dst.push_back(out[i].data() + offset * (i + 1) % 100);
          const unsigned char* from = source.data() + offset;
          table_->copy(dst.data(), destinations, from, bytes, streaming);
          for (size_t i = 0; i < out.size(); ++i) {
            Bytes want(bytes + 200, 0xa5);
            std::copy(from, from + bytes, want.begin() + static_cast<std::ptrdiff_t>(offset * (i + 1) % 100));
            ASSERT_EQ(out[i], want) << bytes << " bytes, offset " << offset << ", destination " << i;
          }
        }
}

TEST_P(KernelsCopy, OntoItself) {
  Bytes data = awkward_values(DataType::kUint8, 20000, 2);
  const Bytes before = data;
  Bytes other(data.size());
  for (bool streaming : {false, true}) {
    void* dst[] = {data.data(), other.data()};
    table_->copy(dst, 2, data.data(), data.size(), streaming);
    EXPECT_EQ(data, before);
    EXPECT_EQ(other, before);
  }
}

::testing::AssertionResult check_conversion(const KernelTable& table, DataType to, DataType from, const Bytes& source,
                                            size_t count, size_t offset) {
  Bytes in(source.size() + offset);
  std::copy(source.begin(), source.end(), in.begin() + static_cast<std::ptrdiff_t>(offset));
  Bytes out(count * size_of(to) + offset + 64, 0xa5);
  table.convert(out.data() + offset, to, in.data() + offset, from, count);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t pattern = pattern_at(from, source.data(), i);
    const uint64_t want = reference::convert(to, from, pattern);
    const uint64_t got = pattern_at(to, out.data() + offset, i);
    if (got != want)
      return ::testing::AssertionFailure() << table.target << " " << name_of(from) << " " << std::hex << pattern
                                           << " to " << name_of(to) << " is " << got << ", want " << want;
  }
  for (size_t i = 0; i < 64; ++i)
    if (out[out.size() - 1 - i] != 0xa5) return ::testing::AssertionFailure() << "wrote behind the destination";
  return ::testing::AssertionSuccess();
}

TEST_P(KernelsConvert, EveryPairOfTypes) {
  for (DataType from : reference::kAllTypes)
    for (DataType to : reference::kAllTypes) {
      if (!reference::is_floating(from) || !reference::is_floating(to)) continue;
      for (size_t count : {0, 1, 3, 15, 16, 17, 100, 3000})
        ASSERT_TRUE(check_conversion(*table_, to, from, awkward_values(from, count, 5), count, 0));
      ASSERT_TRUE(check_conversion(*table_, to, from, awkward_values(from, 777, 6), 777, 1));
    }
}

// Widens every pattern, and narrows every value of the format and those around it: the vector code's conversions.
TEST_P(KernelsConvert, EveryPatternAndItsNeighbours) {
  for (DataType type : reference::kSmallFloats) {
    const size_t count = reference::patterns(type);
    Bytes small(count * size_of(type));
    Bytes wide(3 * count * sizeof(float));
    for (uint32_t pattern = 0; pattern < count; ++pattern) {
      reference::set_pattern(type, small.data(), pattern, pattern);
      const uint64_t value = reference::convert(DataType::kFloat32, type, pattern);
      const uint64_t next = reference::convert(DataType::kFloat32, type, (pattern + 1) % count);
      const uint64_t middle = (value + next) / 2;  // neighbours of equal sign: halfway in bits is halfway in value
      for (uint64_t i = 0; i < 3; ++i)
        reference::set_pattern(DataType::kFloat32, wide.data(), 3 * pattern + i, middle + i - 1);
    }
    ASSERT_TRUE(check_conversion(*table_, DataType::kFloat32, type, small, count, 0));
    ASSERT_TRUE(check_conversion(*table_, type, DataType::kFloat32, wide, 3 * count, 0));
  }
}

TEST_P(KernelsConvert, NarrowsInPlace) {
  for (DataType to : reference::kSmallFloats) {
    const size_t count = 333;
    const Bytes source = awkward_values(DataType::kFloat32, count, 9);
    Bytes data = source;
    table_->convert(data.data(), to, data.data(), DataType::kFloat32, count);
    for (size_t i = 0; i < count; ++i)
      ASSERT_EQ(pattern_at(to, data.data(), i),
                reference::convert(to, DataType::kFloat32, pattern_at(DataType::kFloat32, source.data(), i)));
  }
}

const auto kTargetName = [](const auto& test) { return std::string(test.param); };
INSTANTIATE_TEST_SUITE_P(Targets, KernelsCopy, ::testing::ValuesIn(reference::kAllTargets), kTargetName);
INSTANTIATE_TEST_SUITE_P(Targets, KernelsConvert, ::testing::ValuesIn(reference::kAllTargets), kTargetName);

}  // namespace
}  // namespace tutti::kernels
