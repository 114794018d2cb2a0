#include "common/exit.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace tutti::perf {

void fail(ExitCode code, const char* format, ...) {
  char host[256] = "?";
  gethostname(host, sizeof host - 1);
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  std::fflush(stdout);
  std::fprintf(stderr, "%s pid %d: %s\n", host, static_cast<int>(getpid()), text);
  std::_Exit(code);
}

}  // namespace tutti::perf
