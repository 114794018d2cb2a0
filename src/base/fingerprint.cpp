#include "base/fingerprint.h"

#include <fmt/format.h>

namespace tutti {

std::string describe(const Fingerprint& mine, const Fingerprint& other) {
  std::string text = fmt::format("{} #{} of {} {}", name_of(mine.kind), mine.sequence, mine.count, name_of(mine.type));
  const bool reduces = mine.kind == Collective::kAllReduce || mine.kind == Collective::kReduce ||
                       mine.kind == Collective::kReduceScatter;
  if (reduces) text += fmt::format(", {}", name_of(mine.op));
  if (mine.root != -1 || other.root != mine.root) text += fmt::format(", root {}", mine.root);
  if (mine.plan != other.plan) text += fmt::format(", plan {:016x}", mine.plan);
  if (mine.snapshot != other.snapshot) text += fmt::format(", snapshot {}", mine.snapshot);
  return text;
}

}  // namespace tutti
