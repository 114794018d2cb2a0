// all_reduce_perf: ncclAllReduce over a range of sizes, types and operators.
#include "common/collective.h"

namespace {

using namespace tutti::perf;

constexpr Collective kAllReduce = {
    .name = "AllReduce",
    .reduces = true,
    .rooted = false,
    .counts =
        [](size_t elements, size_t, int) {
          return Counts{elements, elements, elements};
        },
    .in_place_send = at_zero,
    .in_place_receive = at_zero,
    .expected =
        [](const Counts& counts, int, int, int) {
          return std::vector<Piece>{{0, counts.receive, kReduced, 0}};
        },
    .run =
        [](const Call& call) {
          return ncclAllReduce(call.send, call.receive, call.count, call.type, call.op, call.comm, call.stream);
        },
    .bandwidth =
        [](const Counts& counts, size_t element_bytes, double seconds, int ranks) {
          const double algorithm = static_cast<double>(counts.parameter * element_bytes) / 1.0e9 / seconds;
          return Bandwidth{algorithm, algorithm * 2.0 * (ranks - 1) / ranks};
        },
};

}  // namespace

int main(int argc, char** argv) {
  return perf_main(kAllReduce, argc, argv);
}
