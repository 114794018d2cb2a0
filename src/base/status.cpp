#include "base/status.h"

#include <cstring>

namespace tutti {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::kOk: return "ok";
    case Code::kUnhandledCudaError: return "unhandled CUDA error";
    case Code::kSystemError: return "system error";
    case Code::kInternalError: return "internal error";
    case Code::kInvalidArgument: return "invalid argument";
    case Code::kInvalidUsage: return "invalid usage";
    case Code::kRemoteError: return "remote error";
    case Code::kInProgress: return "in progress";
    case Code::kTimeout: return "timeout";
  }
  return "unknown code";
}

Status::Status(Code code, std::string text) {
  if (code != Code::kOk) detail_ = std::make_shared<const Detail>(Detail{code, std::move(text)});
}

const std::string& Status::text() const {
  static const std::string empty;
  return detail_ ? detail_->text : empty;
}

Status system_error_text(int errnum, std::string what) {
  char buffer[128];
  // The GNU variant returns the text, which may or may not lie in the buffer.
  const char* reason = strerror_r(errnum, buffer, sizeof buffer);
  return Status(Code::kSystemError, fmt::format("{}: {} (errno {})", what, reason, errnum));
}

}  // namespace tutti
