// The exact partition of a call into chunks, loops and slices: the arithmetic that sender, receiver, executor,
// simulator and tests share. Pure integers; see plan.h for the words.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "algorithms/plan.h"

namespace tutti::algorithms {

// A run of elements within a block.
struct Range {
  size_t begin = 0;
  size_t size = 0;
};

struct Slicing {
  size_t count = 0;  // elements of a block
  size_t element_bytes = 1;
  size_t chunk = 1;          // elements of a full chunk (the last ones may be short or empty)
  size_t piece = 1;          // elements of a chunk that one loop works on
  size_t loops = 0;          // 0 when count is 0
  size_t slot_elements = 1;  // elements that fit into a slot

  // Elements that one slice of a step of `chunks` chunks takes from each of them.
  // (Most steps have one chunk: small calls are spared the divisions.)
  size_t slice_of(uint32_t chunks) const {
    return chunks == 1 ? slot_elements : std::max<size_t>(1, slot_elements / chunks);
  }
  size_t slices_of(uint32_t chunks) const {
    const size_t slice = slice_of(chunks);
    return piece <= slice ? 1 : (piece + slice - 1) / slice;
  }

  // Elements of chunk `index` (within its block) that slice `slice` of a step of `chunks` chunks moves in loop `loop`.
  Range range(uint32_t index, uint32_t chunks, size_t loop, size_t slice) const {
    const size_t chunk_begin = std::min(count, index * chunk);
    const size_t chunk_end = std::min(count, chunk_begin + chunk);
    const size_t step = slice_of(chunks);
    const size_t piece_begin = loop * piece;
    const size_t begin = std::min(chunk_end, chunk_begin + piece_begin + std::min(piece, slice * step));
    const size_t end = std::min(chunk_end, chunk_begin + piece_begin + std::min(piece, (slice + 1) * step));
    return {begin, end - begin};
  }
};

// Chunks start on a cache line boundary of the buffer where count allows it. `slices`: how many slices a step of
// header.max_chunks chunks should have, at most; lowered to header.max_slices.
inline Slicing make_slicing(const PlanHeader& header, size_t count, size_t element_bytes, size_t slot_bytes,
                            uint32_t slices) {
  Slicing s;
  s.count = count;
  s.element_bytes = element_bytes;
  s.slot_elements = std::max<size_t>(1, slot_bytes / element_bytes);
  const size_t line = std::max<size_t>(1, 64 / element_bytes);
  const size_t even = (count + header.chunks - 1) / header.chunks;
  s.chunk = std::max<size_t>(1, even < line ? even : (even + line - 1) / line * line);
  const uint32_t most = header.max_slices == 0 ? slices : std::min(slices, header.max_slices);
  s.piece = std::min(s.chunk, s.slice_of(header.max_chunks) * std::max<uint32_t>(1, most));
  s.loops = count == 0 ? 0 : (s.chunk + s.piece - 1) / s.piece;
  return s;
}

}  // namespace tutti::algorithms
