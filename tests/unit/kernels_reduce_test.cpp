// Reductions on host memory: every type, operation and instruction set against the reference, element by element and
// bit by bit. Since the reference knows nothing of position, that also shows that counts, offsets and vector widths do
// not matter.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "kernels_reference.h"

namespace tutti::kernels {
namespace {

using reference::awkward_values;
using reference::Bytes;
using reference::Call;
using reference::pattern_at;

// Buffers that begin `offset` bytes after an aligned address, with guard bytes around.
class Buffer {
 public:
  Buffer(size_t bytes, size_t offset) : offset_(kGuard + offset), bytes_(bytes), store_(bytes + offset + 2 * kGuard) {
    std::fill(store_.begin(), store_.end(), kMark);
  }
  unsigned char* data() { return aligned() + offset_; }
  void fill(const Bytes& from) {
    if (bytes_ != 0) std::memcpy(data(), from.data(), bytes_);
  }
  bool guards_intact() {
    const unsigned char* begin = store_.data();
    const unsigned char* end = begin + store_.size();
    for (const unsigned char* at = begin; at != end; ++at)
      if ((at < data() || at >= data() + bytes_) && *at != kMark) return false;
    return true;
  }

 private:
  static constexpr size_t kGuard = 128;
  static constexpr unsigned char kMark = 0xa5;
  // store_ has kGuard bytes to spare on each side; the alignment takes at most 63 of the ones in front.
  unsigned char* aligned() {
    const uintptr_t address = reinterpret_cast<uintptr_t>(store_.data());
    return store_.data() + (64 - address % 64) % 64;
  }
  size_t offset_;
  size_t bytes_;
  Bytes store_;
};

struct Case {
  Call call;
  int sources = 2;
  int destinations = 1;
  size_t count = 0;
  size_t offset = 0;  // bytes; source i begins at (i + 1) * offset, destination j at j * offset
  int in_place = -1;  // destination 0 is this source
  bool streaming = false;
};

::testing::AssertionResult run(const KernelTable& table, const Case& test) {
  const DataType type = test.call.type;
  const size_t bytes = test.count * size_of(type);
  std::vector<Bytes> inputs;
  std::vector<Buffer> sources;
  std::vector<Buffer> outputs;
  for (int i = 0; i < test.sources; ++i) {
    inputs.push_back(awkward_values(type, test.count, static_cast<uint32_t>(i)));
    sources.emplace_back(bytes, test.offset * (i + 1));
    sources.back().fill(inputs.back());
  }
  for (int i = 0; i < test.destinations; ++i) outputs.emplace_back(bytes, test.offset * i);
  std::vector<const void*> src;
  std::vector<void*> dst;
  for (Buffer& source : sources) src.push_back(source.data());
  for (Buffer& output : outputs) dst.push_back(output.data());
  if (test.in_place >= 0) dst[0] = sources[static_cast<size_t>(test.in_place)].data();

  ReduceCall call;
  call.dst = dst.data();
  call.destinations = test.destinations;
  call.src = src.data();
  call.sources = test.sources;
  call.count = test.count;
  call.scaled = test.call.scaled;
  call.scalar = reference::factor_of(type);
  call.divisor = test.call.divisor;
  call.streaming = test.streaming;
  table.reduce[static_cast<int>(type)][static_cast<int>(test.call.op)](call);

  Call expected = test.call;
  expected.factor = pattern_at(type, call.scalar.bytes, 0);
  std::vector<uint64_t> operands(inputs.size());
  for (size_t i = 0; i < test.count; ++i) {
    for (size_t s = 0; s < inputs.size(); ++s) operands[s] = pattern_at(type, inputs[s].data(), i);
    const uint64_t want = reference::reduce(expected, operands);
    for (size_t d = 0; d < dst.size(); ++d) {
      const uint64_t got = pattern_at(type, static_cast<unsigned char*>(dst[d]), i);
      if (got != want) {
        return ::testing::AssertionFailure()
               << table.target << " " << reference::describe(test.call) << ", sources " << test.sources << ", count "
               << test.count << ", offset " << test.offset << ", in place " << test.in_place << ": element " << i
               << " of destination " << d << " is " << std::hex << got << ", want " << want << ", operands "
               << operands[0] << " " << operands.back();
      }
    }
  }
  for (Buffer& buffer : sources)
    if (!buffer.guards_intact()) return ::testing::AssertionFailure() << "wrote around a source";
  for (Buffer& buffer : outputs)
    if (!buffer.guards_intact()) return ::testing::AssertionFailure() << "wrote around a destination";
  return ::testing::AssertionSuccess();
}

class KernelsReduce : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    table_ = host_kernels_for(GetParam());
    if (table_ == nullptr) GTEST_SKIP() << GetParam() << " is not compiled in, or this processor does not have it";
  }
  const KernelTable* table_ = nullptr;
};

template <class Body>
void for_all_types_and_ops(Body body) {
  for (DataType type : reference::kAllTypes)
    for (ReduceOp op : reference::kAllOps) body(type, op);
}

TEST_P(KernelsReduce, EveryCountUpToThreeVectors) {
  for_all_types_and_ops([&](DataType type, ReduceOp op) {
    const size_t most = 200 / size_of(type) + 3;
    for (size_t count = 0; count <= most; ++count)
      for (int sources : {1, 2, 3})
        ASSERT_TRUE(run(*table_, {.call = {type, op}, .sources = sources, .count = count, .offset = size_of(type)}));
  });
}

TEST_P(KernelsReduce, UnalignedByBytes) {
  for_all_types_and_ops([&](DataType type, ReduceOp op) {
    for (size_t offset : {1, 3, 7, 13}) {
      ASSERT_TRUE(run(*table_, {.call = {type, op}, .sources = 2, .count = 77, .offset = offset}));
      ASSERT_TRUE(run(*table_, {.call = {type, op}, .sources = 4, .count = 301, .offset = offset}));
    }
  });
}

TEST_P(KernelsReduce, InPlaceOverAnySource) {
  for_all_types_and_ops([&](DataType type, ReduceOp op) {
    for (size_t count : {1, 5, 63, 64, 65, 1001})
      for (int in_place : {0, 1})
        for (int sources : {2, 3})
          for (bool streaming : {false, true})
            ASSERT_TRUE(run(*table_, {.call = {type, op},
                                      .sources = sources,
                                      .destinations = 2,
                                      .count = count,
                                      .in_place = in_place,
                                      .streaming = streaming}));
  });
}

TEST_P(KernelsReduce, OneToSixtyFiveSources) {
  for_all_types_and_ops([&](DataType type, ReduceOp op) {
    for (int sources = 1; sources <= 65; sources += sources < 9 ? 1 : 7)
      ASSERT_TRUE(run(*table_, {.call = {type, op}, .sources = sources, .count = 39}));
    ASSERT_TRUE(run(*table_, {.call = {type, op}, .sources = 65, .count = 150}));
  });
}

TEST_P(KernelsReduce, SeveralDestinations) {
  for_all_types_and_ops([&](DataType type, ReduceOp op) {
    for (int destinations : {2, 3, 5})
      for (int sources : {1, 2, 3})
        ASSERT_TRUE(
            run(*table_,
                {.call = {type, op}, .sources = sources, .destinations = destinations, .count = 131, .offset = 5}));
  });
}

TEST_P(KernelsReduce, ScalingAndDivision) {
  for_all_types_and_ops([&](DataType type, ReduceOp op) {
    for (uint64_t scaled : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{5}, ~uint64_t{0}})
      for (uint32_t divisor : {0u, 1u, 3u, 1000u, 0xffffffffu})
        for (int sources : {1, 2, 3})
          for (size_t count : {1, 2, 37, 150})
            ASSERT_TRUE(run(*table_, {.call = {.type = type, .op = op, .scaled = scaled, .divisor = divisor},
                                      .sources = sources,
                                      .destinations = 2,
                                      .count = count,
                                      .in_place = sources - 1}));
  });
}

TEST_P(KernelsReduce, ScalesTheSixtyFourthSource) {
  for (DataType type : reference::kAllTypes)
    ASSERT_TRUE(run(
        *table_,
        {.call = {.type = type, .op = ReduceOp::kPreMulSum, .scaled = uint64_t{1} << 63}, .sources = 64, .count = 70}));
}

TEST_P(KernelsReduce, StreamingStores) {
  for_all_types_and_ops([&](DataType type, ReduceOp op) {
    for (size_t offset : {size_t{0}, size_of(type), size_t{1}})
      for (int sources : {1, 2, 3})
        ASSERT_TRUE(run(*table_, {.call = {.type = type, .op = op, .divisor = op == ReduceOp::kAvg ? 3u : 0u},
                                  .sources = sources,
                                  .destinations = sources == 3 ? 2 : 1,
                                  .count = 9000 / size_of(type) + 3,
                                  .offset = offset,
                                  .streaming = true}));
  });
}

INSTANTIATE_TEST_SUITE_P(Targets, KernelsReduce, ::testing::ValuesIn(reference::kAllTargets),
                         [](const auto& test) { return std::string(test.param); });

// The destination of one element may be anywhere, also where one source lies: dst[1] in place, not dst[0].
TEST(KernelsReduceOnce, SecondDestinationInPlace) {
  const KernelTable& table = host_kernels();
  for (uint32_t divisor : {0u, 2u}) {
    std::vector<int32_t> a(100);
    std::vector<int32_t> b(100, 7);
    std::vector<int32_t> out(100);
    std::iota(a.begin(), a.end(), -50);
    const std::vector<int32_t> before = a;
    void* dst[] = {out.data(), a.data()};
    const void* src[] = {a.data(), b.data()};
    ReduceCall call;
    call.dst = dst;
    call.destinations = 2;
    call.src = src;
    call.sources = 2;
    call.count = a.size();
    call.divisor = divisor;
    table.reduce[static_cast<int>(DataType::kInt32)][static_cast<int>(ReduceOp::kSum)](call);
    for (size_t i = 0; i < a.size(); ++i) {
      const int32_t want = divisor == 0 ? before[i] + 7 : (before[i] + 7) / 2;
      ASSERT_EQ(a[i], want);
      ASSERT_EQ(out[i], want);
    }
  }
}

TEST(KernelsReduceOnce, BestTableIsFirstAndScalarIsAlwaysThere) {
  EXPECT_NE(host_kernels_for("SCALAR"), nullptr);
  EXPECT_EQ(host_kernels_for("no such target"), nullptr);
  for (const char* target : reference::kAllTargets) {
    const KernelTable* table = host_kernels_for(target);
    if (table == nullptr) continue;
    EXPECT_STREQ(host_kernels().target, target);
    break;
  }
}

}  // namespace
}  // namespace tutti::kernels
