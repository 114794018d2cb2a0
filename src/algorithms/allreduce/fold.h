// Folding: algorithms that need a power of two let 2 * extra members pair up first. Of each pair the even one hands its
// contribution over and waits for the result; the odd one takes part for both.
#pragma once

#include <bit>

namespace tutti::algorithms::allreduce {

struct Fold {
  int core = 1;   // members that take part: the largest power of two
  int extra = 0;  // pairs

  explicit Fold(int members)
      : core(static_cast<int>(std::bit_floor(static_cast<unsigned>(members)))), extra(members - core) {}

  bool paired(int member) const { return member < 2 * extra; }
  bool waits(int member) const { return paired(member) && member % 2 == 0; }
  // Place in the core of a member that does not wait, and back. Keeps the order of members.
  int place(int member) const { return paired(member) ? member / 2 : member - extra; }
  int member(int place) const { return place < extra ? 2 * place + 1 : place + extra; }
};

}  // namespace tutti::algorithms::allreduce
