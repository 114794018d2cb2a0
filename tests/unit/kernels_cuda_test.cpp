// The CUDA reduce kernel, its own source run on the CPU: the same bits as the host's table for every type and
// operation.
#include "support/cudasim.h"

// After cudasim.h, which gives CUDA's words a meaning.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/cuda/reduce.cu"
#include "kernels_reference.h"

namespace tutti::kernels {
namespace {

using reference::awkward_values;
using reference::Bytes;

struct Case {
  DataType type;
  ReduceOp op;
  int sources = 2;
  int destinations = 1;
  size_t count = 0;
  size_t offset = 0;  // bytes past an address that is a multiple of 16
  uint64_t scaled = 0;
  uint32_t divisor = 0;
};

// A buffer whose data begin at any offset from a multiple of 16.
struct Buffer {
  Buffer(size_t bytes, size_t offset_bytes) : offset(offset_bytes), words((bytes + offset_bytes) / 16 + 1) {}
  unsigned char* data() { return reinterpret_cast<unsigned char*>(words.data()) + offset; }
  size_t offset;
  std::vector<uint4> words;
};

void check(const Case& test) {
  const size_t bytes = test.count * size_of(test.type);
  std::vector<Buffer> sources;
  for (int i = 0; i < test.sources; ++i) {
    sources.emplace_back(bytes, test.offset);
    const Bytes values = awkward_values(test.type, test.count, static_cast<uint32_t>(i));
    std::copy(values.begin(), values.end(), sources.back().data());
  }
  std::vector<Buffer> host(static_cast<size_t>(test.destinations), Buffer(bytes, test.offset));
  std::vector<Buffer> device = host;
  std::vector<const void*> src;
  std::vector<void*> host_dst;
  std::vector<void*> device_dst;
  for (Buffer& buffer : sources) src.push_back(buffer.data());
  for (Buffer& buffer : host) host_dst.push_back(buffer.data());
  for (Buffer& buffer : device) device_dst.push_back(buffer.data());

  ReduceCall call;
  call.dst = host_dst.data();
  call.destinations = test.destinations;
  call.src = src.data();
  call.sources = test.sources;
  call.count = test.count;
  call.scaled = test.scaled;
  call.scalar = reference::factor_of(test.type);
  call.divisor = test.divisor;
  host_kernels().reduce[static_cast<int>(test.type)][static_cast<int>(test.op)](call);
  call.dst = device_dst.data();
  ASSERT_TRUE(cuda::launch_reduce(test.type, test.op, call, 2, nullptr));
  for (size_t d = 0; d < host.size(); ++d)
    for (size_t i = 0; i < test.count; ++i)
      ASSERT_EQ(reference::pattern_at(test.type, device[d].data(), i),
                reference::pattern_at(test.type, host[d].data(), i))
          << name_of(test.type) << " " << name_of(test.op) << ", sources " << test.sources << ", count " << test.count
          << ", offset " << test.offset << ": element " << i << " of destination " << d;
}

template <class Body>
void for_all_types_and_ops(Body body) {
  for (DataType type : reference::kAllTypes)
    for (ReduceOp op : reference::kAllOps) body(type, op);
}

TEST(KernelsCuda, SameBitsAsTheHost) {
  for_all_types_and_ops([](DataType type, ReduceOp op) {
    for (int sources : {1, 2, 5}) check({.type = type, .op = op, .sources = sources, .count = 1003});
  });
}

TEST(KernelsCuda, ScalingDivisionAndDestinations) {
  for_all_types_and_ops([](DataType type, ReduceOp op) {
    check({.type = type, .op = op, .sources = 3, .destinations = 3, .count = 99, .scaled = 5, .divisor = 3});
    check({.type = type, .op = op, .sources = 1, .destinations = 2, .count = 99, .divisor = 7});
    check({.type = type, .op = op, .sources = 1, .count = 99, .scaled = 1});
  });
}

TEST(KernelsCuda, AnyAlignmentAndCount) {
  for (DataType type : reference::kAllTypes)
    for (size_t count : {0, 1, 3, 16, 17})
      for (size_t offset : {size_t{0}, size_t{1}, size_of(type)})
        check({.type = type, .op = ReduceOp::kSum, .count = count, .offset = offset});
}

TEST(KernelsCuda, AsManySourcesAsOneLaunchTakes) {
  check({.type = DataType::kBfloat16, .op = ReduceOp::kSum, .sources = cuda::kMostSources, .count = 300});
  ReduceCall call;
  call.sources = cuda::kMostSources + 1;
  EXPECT_FALSE(cuda::launch_reduce(DataType::kInt8, ReduceOp::kSum, call, 1, nullptr));
  call.sources = 1;
  call.destinations = cuda::kMostDestinations + 1;
  EXPECT_FALSE(cuda::launch_reduce(DataType::kInt8, ReduceOp::kSum, call, 1, nullptr));
}

}  // namespace
}  // namespace tutti::kernels
