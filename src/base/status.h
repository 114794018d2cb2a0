// Status and Result: how every floor of Tutti reports errors.
//
// No exception crosses a floor. The first function that knows the cause writes the text, once, with the numbers and the
// names in it; callers hand the Status on unchanged. Codes are NCCL's (nccl.h, ncclResult_t), so that the C API only
// casts.
//
// A Status that is OK is one null pointer: making, moving and testing it costs nothing on the fast path.
// Thread safety: distinct objects may be used from distinct threads; the text behind a Status is immutable and shared.
#pragma once

#include <fmt/format.h>

#include <cassert>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tutti {

// The values of ncclResult_t (NCCL 2.30; 2.28 ends at kInProgress and prints "unknown result code" for kTimeout).
enum class Code : int {
  kOk = 0,
  kUnhandledCudaError = 1,
  kSystemError = 2,      // the operating system refused something
  kInternalError = 3,    // a defect of Tutti
  kInvalidArgument = 4,  // one argument of this call is wrong by itself
  kInvalidUsage = 5,     // the call is wrong in its context (order of calls, ranks that disagree, unknown setting)
  kRemoteError = 6,      // another rank died, aborted or became unreachable
  kInProgress = 7,
  kTimeout = 8,
};

// "kInvalidArgument" -> "invalid argument" and so on; for logs, not the strings of ncclGetErrorString.
std::string_view code_name(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // OK
  Status(Code code, std::string text);

  bool ok() const { return detail_ == nullptr; }
  explicit operator bool() const { return ok(); }
  Code code() const { return detail_ ? detail_->code : Code::kOk; }
  // Empty when OK. Valid as long as any copy of this Status lives.
  const std::string& text() const;

 private:
  struct Detail {
    Code code;
    std::string text;
  };
  std::shared_ptr<const Detail> detail_;
};

// Formats with fmt: error(Code::kInvalidArgument, "root {} is outside 0..{}", root, nranks - 1).
template <class... Args>
Status error(Code code, fmt::format_string<Args...> format, Args&&... args) {
  return Status(code, fmt::format(format, std::forward<Args>(args)...));
}

// The same for a failed system call: appends ": <strerror(errnum)> (errno <errnum>)". Code::kSystemError.
Status system_error_text(int errnum, std::string what);
template <class... Args>
Status system_error(int errnum, fmt::format_string<Args...> format, Args&&... args) {
  return system_error_text(errnum, fmt::format(format, std::forward<Args>(args)...));
}

// A value or the Status that explains its absence. T need not be default constructible.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}                                  // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) { assert(!status_.ok()); }  // NOLINT(google-explicit-constructor)

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const { return status_; }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return *std::move(value_); }
  T& operator*() & { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  const T& operator*() const& { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace tutti

#define TUTTI_RETURN_IF_ERROR(expression)         \
  do {                                            \
    ::tutti::Status tutti_status_ = (expression); \
    if (!tutti_status_.ok()) [[unlikely]]         \
      return tutti_status_;                       \
  } while (false)

#define TUTTI_CONCAT_INNER_(a, b) a##b
#define TUTTI_CONCAT_(a, b) TUTTI_CONCAT_INNER_(a, b)
// TUTTI_ASSIGN_OR_RETURN(auto socket, Socket::connect(address));
#define TUTTI_ASSIGN_OR_RETURN(declaration, expression) \
  TUTTI_ASSIGN_OR_RETURN_(TUTTI_CONCAT_(tutti_result_, __LINE__), declaration, expression)
#define TUTTI_ASSIGN_OR_RETURN_(result, declaration, expression) \
  auto result = (expression);                                    \
  if (!result.ok()) [[unlikely]]                                 \
    return result.status();                                      \
  declaration = std::move(result).value()
