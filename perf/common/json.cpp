#include "common/json.h"

#include <cmath>

#include "common/format.h"

namespace tutti::perf {

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_items_.empty()) return;
  if (has_items_.back()) out_ += ',';
  has_items_.back() = true;
}

void JsonWriter::begin(char bracket) {
  separate();
  out_ += bracket;
  has_items_.push_back(false);
}

void JsonWriter::end(char bracket) {
  out_ += bracket;
  has_items_.pop_back();
}

void JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  out_ += ':';
  after_key_ = true;
}

void JsonWriter::text(std::string_view value) {
  separate();
  quote(value);
}

void JsonWriter::integer(int64_t value) {
  separate();
  out_ += std::to_string(value);
}

void JsonWriter::number(double value) {
  separate();
  if (!std::isfinite(value)) {
    quote(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
  } else {
    out_ += print_text("%.6f", value);
  }
}

void JsonWriter::null() {
  separate();
  out_ += "null";
}

void JsonWriter::quote(std::string_view value) {
  out_ += '"';
  for (const char c : value) {
    switch (c) {
      case '"': out_ += "\\\""; break;
      case '\\': out_ += "\\\\"; break;
      case '\n': out_ += "\\n"; break;
      case '\t': out_ += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out_ += print_text("\\u%04x", static_cast<unsigned>(c));
        } else {
          out_ += c;
        }
    }
  }
  out_ += '"';
}

}  // namespace tutti::perf
