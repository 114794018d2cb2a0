// Writes JSON as it goes along. Keys and values in order; nesting is the caller's: what is begun must be ended.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::perf {

class JsonWriter {
 public:
  void begin_object() { begin('{'); }
  void end_object() { end('}'); }
  void begin_list() { begin('['); }
  void end_list() { end(']'); }
  void key(std::string_view name);

  void text(std::string_view value);
  void integer(int64_t value);
  void number(double value);  // not finite: as text, JSON has no word for it
  void null();
  void flag(bool value) { text(value ? "true" : "false"); }  // as nccl-tests writes booleans

  const std::string& str() const { return out_; }

 private:
  void begin(char bracket);
  void end(char bracket);
  void separate();
  void quote(std::string_view value);

  std::string out_;
  std::vector<bool> has_items_;  // of each open bracket
  bool after_key_ = false;
};

}  // namespace tutti::perf
