#include "common/crew.h"

#include <algorithm>
#include <cstring>

#include "common/launch/frame.h"

namespace tutti::perf {

namespace {

template <class T>
std::string bytes_of(const T* values, size_t count) {
  return std::string(reinterpret_cast<const char*>(values), count * sizeof(T));
}

template <class T>
std::vector<T> values_of(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace

Crew::Crew(World& world, int threads) : world_(world), threads_(threads), mine_(static_cast<size_t>(threads)) {}

const std::vector<std::string>& Crew::gather(int thread, std::string mine) {
  mine_[static_cast<size_t>(thread)] = std::move(mine);
  threads_.arrive_and_wait();  // all have written; nobody still reads the last result
  if (thread == 0) {
    std::vector<std::string> all;
    for (const std::string& process : world_.all_gather(pack(mine_)))
      for (std::string& text : unpack(process)) all.push_back(std::move(text));
    all_ = std::move(all);
  }
  threads_.arrive_and_wait();
  return all_;
}

double Crew::average(int thread, double mine, Average how) {
  const std::vector<std::string>& all = gather(thread, bytes_of(&mine, 1));
  std::vector<double> values;
  for (const std::string& text : all) values.push_back(values_of<double>(text)[0]);
  switch (how) {
    case Average::kRank0: return values[0];
    case Average::kMin: return *std::min_element(values.begin(), values.end());
    case Average::kMax: return *std::max_element(values.begin(), values.end());
    case Average::kMean: break;
  }
  double total = 0;
  for (double value : values) total += value;
  return total / static_cast<double>(values.size());
}

int64_t Crew::sum(int thread, int64_t mine) {
  int64_t total = 0;
  for (const std::string& text : gather(thread, bytes_of(&mine, 1))) total += values_of<int64_t>(text)[0];
  return total;
}

std::vector<double> Crew::largest(int thread, const std::vector<double>& mine) {
  std::vector<double> result(mine.size(), 0.0);
  for (const std::string& text : gather(thread, bytes_of(mine.data(), mine.size()))) {
    const std::vector<double> theirs = values_of<double>(text);
    for (size_t i = 0; i < std::min(result.size(), theirs.size()); ++i) result[i] = std::max(result[i], theirs[i]);
  }
  return result;
}

}  // namespace tutti::perf
