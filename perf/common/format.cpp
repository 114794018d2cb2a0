#include "common/format.h"

#include <charconv>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace tutti::perf {

std::string float_text(double value, int width) {
  int digits = 0;  // before the decimal point; a value below 1 has none, as nccl-tests counts
  for (double power = 1; digits < 19 && value >= power; power *= 10) ++digits;
  if (digits < width - 2) return print_text("%*.2f", width, value);
  if (digits < width - 1) return print_text("%*.1f", width, value);
  if (digits < width + 1) return print_text("%*.0f", width, value);
  return print_text(width >= 7 ? "%*.1e" : "%*.0e", width, value);
}

std::optional<int64_t> parse_size(std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (failure != std::errc{} || !(number >= 0)) return std::nullopt;
  std::string_view unit(rest, static_cast<size_t>(end - rest));
  double factor = 1;
  if (!unit.empty()) {
    switch (unit.front()) {
      case 'k':
      case 'K': factor = 1024.0; break;
      case 'm':
      case 'M': factor = 1024.0 * 1024; break;
      case 'g':
      case 'G': factor = 1024.0 * 1024 * 1024; break;
      case 't':
      case 'T': factor = 1024.0 * 1024 * 1024 * 1024; break;
      default: return std::nullopt;
    }
    unit.remove_prefix(1);
    if (!unit.empty() && unit != "B" && unit != "b") return std::nullopt;
  }
  const double bytes = number * factor;
  if (bytes > 9.0e18) return std::nullopt;
  return static_cast<int64_t>(bytes);
}

std::optional<int64_t> parse_integer(std::string_view text, int64_t low, int64_t high) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc{} || rest != end || number < low || number > high) return std::nullopt;
  return number;
}

std::string print_text(const char* format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string text(static_cast<size_t>(length < 0 ? 0 : length), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

}  // namespace tutti::perf
