// Bench's verification: inputs, one operation, and what came out.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "common/bench.h"
#include "common/format.h"
#include "common/verify/exact.h"
#include "common/verify/numbers.h"
#include "common/verify/real.h"

namespace tutti::perf {

namespace {

constexpr char kUnwritten = static_cast<char>(0xa5);

void fill_inputs(CheckMode mode, const CheckSpec& spec, int rank, uint64_t position, void* out, size_t count) {
  if (mode == CheckMode::kReal) {
    fill_real(spec, rank, position, out, count);
  } else {
    fill_exact(spec, rank, position, out, count);
  }
}

// A piece that is a copy of one rank's input: made block by block and compared as bytes.
Wrong check_copied(CheckMode mode, const CheckSpec& spec, const Piece& piece, const char* data) {
  constexpr size_t kBlock = 1 << 16;  // elements
  const size_t element = size_of(spec.type);
  std::vector<char> block(std::min(kBlock, piece.count) * element);
  Wrong wrong;
  for (size_t done = 0; done < piece.count; done += kBlock) {
    const size_t count = std::min(kBlock, piece.count - done);
    fill_inputs(mode, spec, piece.from, piece.position + done, block.data(), count);
    const char* got = data + done * element;
    if (std::memcmp(got, block.data(), count * element) == 0) continue;
    for (size_t i = 0; i < count; ++i) {
      uint64_t bits[2] = {0, 0};
      std::memcpy(&bits[0], got + i * element, element);
      std::memcpy(&bits[1], block.data() + i * element, element);
      if (bits[0] != bits[1]) wrong.add(done + i, bits[0], bits[1]);
    }
  }
  return wrong;
}

Wrong check_piece(CheckMode mode, const CheckSpec& spec, const Piece& piece, const char* data) {
  if (piece.from != kReduced) return check_copied(mode, spec, piece, data);
  return mode == CheckMode::kReal ? check_real_reduced(spec, piece.position, data, piece.count)
                                  : check_exact_reduced(spec, piece.position, data, piece.count);
}

int64_t damaged(const char* guard) {
  return std::count_if(guard, guard + Buffer::kGuard, [](char byte) { return byte != kUnwritten; });
}

}  // namespace

void Bench::fill(const Job& job, const Counts& counts, Place place, int64_t iteration) {
  const size_t element = size_of(job.type);
  const CheckSpec spec{job.type, job.op, run_.total_ranks, seed_};
  for (const Rank& rank : ranks_) {
    char* receive = receive_of(job, counts, place, iteration, rank);
    const size_t bytes = std::max(counts.receive, place == Place::kIn ? counts.send : 0) * element;
    char* start = rank.receive->data() + shift(job, counts, iteration);
    std::memset(start - Buffer::kGuard, kUnwritten, Buffer::kGuard);
    std::memset(start + bytes, kUnwritten, Buffer::kGuard);
    std::memset(receive, kUnwritten, counts.receive * element);
    fill_inputs(run_.args.check_mode, spec, rank.rank, 0, send_of(job, counts, place, iteration, rank), counts.send);
  }
}

int64_t Bench::verify(const Job& job, const Counts& counts, Place place, int64_t iteration) {
  ++seed_;
  fill(job, counts, place, iteration);
  start(job, counts, place, iteration);
  finish();
  int64_t wrong = 0;
  for (const Rank& rank : ranks_) wrong += verify_rank(job, counts, place, iteration, rank);
  if (run_.args.check_mode == CheckMode::kReal && run_.collective.reduces)
    wrong += compare_bits(job, counts, place, iteration);
  return wrong;
}

int64_t Bench::verify_rank(const Job& job, const Counts& counts, Place place, int64_t iteration, const Rank& rank) {
  const CheckSpec spec{job.type, job.op, run_.total_ranks, seed_};
  const size_t element = size_of(job.type);
  const char* receive = receive_of(job, counts, place, iteration, rank);
  const char* place_name = place == Place::kIn ? "in place" : "out of place";
  int64_t total = 0;
  for (const Piece& piece : run_.collective.expected(counts, rank.rank, run_.total_ranks, job.root)) {
    const Wrong wrong = check_piece(run_.args.check_mode, spec, piece, receive + piece.at * element);
    total += wrong.count;
    if (wrong.count > 0 && ++complaints_ <= 5)
      std::fprintf(
          stderr, "rank %d: %s %s %s, %zu elements, %s: %lld wrong, first element %zu: 0x%llx, expected 0x%llx\n",
          rank.rank, run_.collective.name, std::string(name_of(job.type)).c_str(), std::string(name_of(job.op)).c_str(),
          piece.count, place_name, static_cast<long long>(wrong.count), piece.at + wrong.first,
          static_cast<unsigned long long>(wrong.got), static_cast<unsigned long long>(wrong.expected));
  }
  const size_t bytes = std::max(counts.receive, place == Place::kIn ? counts.send : 0) * element;
  const char* start = rank.receive->data() + shift(job, counts, iteration);
  const int64_t outside = damaged(start - Buffer::kGuard) + damaged(start + bytes);
  if (outside > 0 && ++complaints_ <= 5)
    std::fprintf(stderr, "rank %d: %s, %s: %lld bytes next to the receive buffer were overwritten\n", rank.rank,
                 run_.collective.name, place_name, static_cast<long long>(outside));
  return total + outside;
}

// Real inputs round, so nothing but this shows whether all ranks hold the same. Where pieces of different ranks are
// of different inputs (ReduceScatter) there is nothing to compare: position and length are part of what is matched.
int64_t Bench::compare_bits(const Job& job, const Counts& counts, Place place, int64_t iteration) {
  const size_t element = size_of(job.type);
  std::vector<std::string> lines;
  for (const Rank& rank : ranks_) {
    for (const Piece& piece : run_.collective.expected(counts, rank.rank, run_.total_ranks, job.root)) {
      if (piece.from != kReduced) continue;
      const char* data = receive_of(job, counts, place, iteration, rank) + piece.at * element;
      lines.push_back(print_text("%zu+%zu %016llx %d\n", piece.position, piece.count,
                                 static_cast<unsigned long long>(hash_bits(data, piece.count * element)), rank.rank));
    }
  }
  std::string mine;
  for (const std::string& line : lines) mine += line;
  const std::vector<std::string>& all = run_.crew.gather(thread_, mine);
  if (lines.empty()) return 0;
  // Each rank compares its own pieces with the first rank that has the same one.
  int64_t different = 0;
  for (const std::string& line : lines) {
    const std::string piece = line.substr(0, line.find(' ') + 1);
    for (const std::string& text : all) {
      const size_t at = text.rfind(piece, 0) == 0 ? 0 : text.find("\n" + piece);
      if (at == std::string::npos) continue;
      const std::string theirs = text.substr(at == 0 ? 0 : at + 1, piece.size() + 16);
      if (theirs == line.substr(0, piece.size() + 16)) break;
      ++different;
      if (++complaints_ <= 5)
        std::fprintf(stderr, "the bits differ between ranks: %s against %s", line.c_str(), text.c_str());
      break;
    }
  }
  return different;
}

}  // namespace tutti::perf
