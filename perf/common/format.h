// Numbers as nccl-tests writes and reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti::perf {

// `value` in `width` characters, right aligned, with as many of 2, 1 or 0 decimals as fit, then with an exponent.
std::string float_text(double value, int width);

// "8", "32K", "1.5M", "4G" (binary multiples; lower case and a trailing B too) -> bytes. Empty for anything else.
std::optional<int64_t> parse_size(std::string_view text);

// The whole of `text` as an integer within [low, high].
std::optional<int64_t> parse_integer(std::string_view text, int64_t low, int64_t high);

// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string print_text(const char* format, ...);

}  // namespace tutti::perf
