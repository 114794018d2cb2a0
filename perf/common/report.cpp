#include "common/report.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "common/exit.h"
#include "common/format.h"
#include "common/launch/frame.h"

extern char** environ;

namespace tutti::perf {

namespace {

std::string time_text(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[64];
  std::strftime(text, sizeof text, format, &parts);
  return text;
}

constexpr const char* kTimeFormat = "%Y-%m-%d %H:%M:%S";
constexpr int kTimestampWidth = 19;

bool per_iteration(const Args& args) {
  return args.per_iter_timing || args.percentiles;
}

}  // namespace

std::string encode(const DeviceLine& line) {
  return pack({std::to_string(line.rank), std::to_string(line.group), std::to_string(line.pid), line.host,
               std::to_string(line.device), line.info});
}

DeviceLine decode_device(const std::string& text) {
  const std::vector<std::string> parts = unpack(text);
  return {std::atoi(parts[0].c_str()), std::atoi(parts[1].c_str()),
          std::atoi(parts[2].c_str()), parts[3],
          std::atoi(parts[4].c_str()), parts[5]};
}

Report::Report(const Args& args, std::FILE* out) : args_(args), out_(out) {
  if (const char* text = std::getenv("NCCL_TESTS_MIN_BW")) minimum_bandwidth_ = std::atof(text);
}

void Report::header(const std::string& collective, const Versions& versions, const std::vector<std::string>& argv,
                    const std::vector<DeviceLine>& devices, int64_t reduced_to) {
  if (!args_.json_file.empty()) open_json();
  std::fprintf(out_, "# nccl-tests version %s nccl-headers=%d nccl-library=%d\n", versions.program.c_str(),
               versions.header, versions.library);
  std::fprintf(out_, "# Collective test starting: %s\n", collective.c_str());
  const bool factor = args_.step_factor > 1;
  const std::string step =
      factor ? print_text("%g", args_.step_factor) : print_text("%lld", static_cast<long long>(args_.step_bytes));
  std::fprintf(out_,
               "# nThread %d nGpus %d minBytes %lld maxBytes %lld step: %s(%s) warmup iters: %d iters: %d agg iters: "
               "%d validation: %d graph: %d unalign: %lld\n",
               args_.threads, args_.gpus, static_cast<long long>(args_.min_bytes),
               static_cast<long long>(args_.max_bytes), step.c_str(), factor ? "factor" : "bytes", args_.warmup_iters,
               args_.iters, args_.agg_iters, args_.checks, 0, static_cast<long long>(args_.unalign));
  print_notes();
  std::fprintf(out_, "#\n# Using devices\n");
  for (const DeviceLine& line : devices)
    std::fprintf(out_, "#  Rank %2d Group %2d Pid %6d on %10s device %2d [%04x:%02x:%02x] %s\n", line.rank, line.group,
                 line.pid, line.host.c_str(), line.device, 0, 0, 0, line.info.c_str());
  if (reduced_to > 0)
    std::fprintf(out_, "#\n# Reducing maxBytes to %lld due to memory limitation\n", static_cast<long long>(reduced_to));
  std::fprintf(out_, "#\n");
  column_heads();
  if (json_file_ != nullptr) {
    json_.key("args");
    json_.begin_list();
    for (const std::string& word : argv) json_.text(word);
    json_.end_list();
    json_.key("env");
    json_.begin_list();
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const std::string_view text = *variable;
      const bool ours = text.rfind("NCCL_", 0) == 0 || text.rfind("TUTTI_", 0) == 0;
      if (ours && text.rfind("TUTTI_SECRET", 0) != 0) json_.text(text);
    }
    json_.end_list();
    json_.key("nccl_version");
    json_.integer(versions.library);
    json_config(devices);
    json_.key("results");
    json_.begin_list();
  }
  std::fflush(out_);
}

void Report::print_notes() {
  switch (args_.blocking) {
    case 1: std::fprintf(out_, "# Blocking Enabled: wait for completion and barrier after each collective\n"); break;
    case 2: std::fprintf(out_, "# Blocking Enabled: wait for completion after each collective\n"); break;
    case 3:
      std::fprintf(out_, "# Blocking Enabled: wait for completion and barrier after each iteration, not timed\n");
      break;
    default: break;
  }
  if (args_.parallel_init) std::fprintf(out_, "# Parallel Init Enabled: threads call into NcclInitRank concurrently\n");
  for (const std::string& note : args_.notes) std::fprintf(out_, "# %s\n", note.c_str());
}

void Report::column_heads() {
  const char* time = args_.report_cputime ? "cputime" : "time";
  std::string extra_names, extra_units, extra_blanks;
  const auto extra = [&](const char* name, const char* unit) {
    extra_names += print_text("  %7s", name);
    extra_units += print_text("  %7s", unit);
    extra_blanks += "         ";
  };
  if (args_.per_iter_timing) {
    for (const char* name : {"i_min", "i_max", "i_p99"}) extra(name, "(us)");
    extra("i_cv%", "");
  }
  if (args_.percentiles) {
    extra("median", "(us)");
    extra("p99", "(us)");
  }
  std::fprintf(out_, "# %10s  %12s  %8s  %6s  %6s           out-of-place           %s            in-place          \n",
               "", "", "", "", "", extra_blanks.c_str());
  const auto heads = [&](const char* a, const char* b, const char* c, const char* d, const char* e, const char* f,
                         const char* g, const char* h, const char* wrong, const std::string& more, const char* stamp) {
    const std::string half = print_text("  %7s  %6s  %6s  %6s", f, g, h, wrong) + more;
    std::fprintf(out_, "# %10s  %12s  %8s  %6s  %6s%s%s", a, b, c, d, e, half.c_str(), half.c_str());
    if (args_.report_timestamps) std::fprintf(out_, "  %*s", kTimestampWidth, stamp);
    std::fprintf(out_, "\n");
  };
  heads("size", "count", "type", "redop", "root", time, "algbw", "busbw", "#wrong", extra_names, "timestamp");
  heads("(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", extra_units, "");
}

void Report::begin_line(const Line& line) {
  std::fprintf(out_, "%12lld  %12lld  %8s  %6s  %6d", static_cast<long long>(line.bytes),
               static_cast<long long>(line.count), line.type.c_str(), line.op.c_str(), line.root);
  std::fflush(out_);
  if (json_file_ == nullptr) return;
  json_.begin_object();
  json_.key("size");
  json_.integer(line.bytes);
  json_.key("count");
  json_.integer(line.count);
  json_.key("type");
  json_.text(line.type);
  json_.key("redop");
  json_.text(line.op);
  json_.key("root");
  json_.text(print_text("%6d", line.root));
}

void Report::half(const Half& half, bool in_place) {
  std::string wrong = "   N/A";
  if (half.wrong >= 0) {
    wrong = print_text("%6g", static_cast<double>(half.wrong));
    wrong_ += half.wrong;
  }
  bandwidth_ += half.bus_bandwidth;
  ++halves_;
  std::fprintf(out_, "  %s  %s  %s  %s", float_text(half.seconds * 1e6, 7).c_str(),
               float_text(half.algorithm_bandwidth, 6).c_str(), float_text(half.bus_bandwidth, 6).c_str(),
               wrong.c_str());
  Stats stats;
  if (per_iteration(args_)) stats = stats_of(half.iterations);
  const auto column = [&](double value) { std::fprintf(out_, "  %s", float_text(value, 7).c_str()); };
  if (args_.per_iter_timing) {
    for (double seconds : {stats.min, stats.max, stats.p99}) column(seconds * 1e6);
    column(stats.variation_percent());
  }
  if (args_.percentiles) {
    column(stats.median * 1e6);
    column(stats.p99 * 1e6);
  }
  if (in_place && args_.report_timestamps) std::fprintf(out_, "  %s", time_text(kTimeFormat).c_str());
  std::fflush(out_);
  if (json_file_ != nullptr) json_half(half, stats, in_place);
}

void Report::json_half(const Half& half, const Stats& stats, bool in_place) {
  const std::string name = in_place ? "in_place" : "out_of_place";
  json_.key(name);
  json_.begin_object();
  json_.key(args_.report_cputime ? "cpu_time" : "time");
  json_.number(half.seconds * 1e6);
  json_.key("alg_bw");
  json_.number(half.algorithm_bandwidth);
  json_.key("bus_bw");
  json_.number(half.bus_bandwidth);
  json_.key("nwrong");
  if (half.wrong >= 0) {
    json_.number(static_cast<double>(half.wrong));
  } else {
    json_.null();
  }
  json_.end_object();
  if (!per_iteration(args_)) return;
  json_.key(name + "_per_iter");
  json_.begin_object();
  json_.key("skipped_iterations");
  json_.integer(args_.per_iter_skip);
  const std::pair<const char*, double> numbers[] = {
      {"min_us", stats.min}, {"max_us", stats.max}, {"avg_us", stats.average},     {"p50_us", stats.median},
      {"p95_us", stats.p95}, {"p99_us", stats.p99}, {"stdev_us", stats.deviation},
  };
  for (const auto& [key, seconds] : numbers) {
    json_.key(key);
    json_.number(seconds * 1e6);
  }
  json_.key("cv_pct");
  json_.number(stats.variation_percent());
  json_.key("times_us");
  json_.begin_list();
  for (double seconds : half.iterations) json_.number(seconds * 1e6);
  json_.end_list();
  json_.end_object();
}

void Report::end_line() {
  std::fprintf(out_, "\n");
  std::fflush(out_);
  if (json_file_ == nullptr) return;
  json_.key("actual_iterations");
  json_.integer(args_.iters);
  json_.key("experiment_name");
  json_.text("");
  json_.end_object();
}

bool Report::bandwidth_missed() const {
  return minimum_bandwidth_ >= 0 && average_bus_bandwidth() < 0.9 * minimum_bandwidth_;
}

int Report::exit_code() const {
  return wrong_ > 0 || bandwidth_missed() ? kExitWrongResults : kExitSuccess;
}

void Report::footer(const std::string& collective) {
  const char* bandwidth_verdict = minimum_bandwidth_ < 0 ? "" : bandwidth_missed() ? "FAILED" : "OK";
  std::fprintf(out_, "# %-20s : %lld %s\n", "Out of bounds values", static_cast<long long>(wrong_),
               wrong_ > 0 ? "FAILED" : "OK");
  std::fprintf(out_, "# %-20s : %g %s\n", "Avg bus bandwidth", average_bus_bandwidth(), bandwidth_verdict);
  std::fprintf(out_, "#\n# Collective test concluded: %s\n#\n", collective.c_str());
  std::fflush(out_);
  if (json_file_ == nullptr) return;
  json_.end_list();
  json_.key("out_of_bounds");
  json_.begin_object();
  json_.key("count");
  json_.integer(wrong_);
  json_.key("okay");
  json_.flag(wrong_ == 0);
  json_.end_object();
  json_.key("average_bus_bandwidth");
  json_.begin_object();
  json_.key("bandwidth");
  json_.number(average_bus_bandwidth());
  json_.key("okay");
  if (minimum_bandwidth_ < 0) {
    json_.text("unchecked");
  } else {
    json_.flag(!bandwidth_missed());
  }
  json_.end_object();
  json_.key("errors");
  json_.begin_list();
  json_.end_list();
  json_.key("end_time");
  json_.text(time_text(kTimeFormat));
  json_.end_object();
  const bool written = std::fwrite(json_.str().data(), 1, json_.str().size(), json_file_) == json_.str().size();
  if (std::fclose(json_file_) != 0 || !written)
    fail(kExitInternalError, "%s could not be written: %s", args_.json_file.c_str(), std::strerror(errno));
  json_file_ = nullptr;
}

void Report::open_json() {
  std::string name = args_.json_file;
  for (int attempt = 0; (json_file_ = std::fopen(name.c_str(), "wx")) == nullptr; ++attempt) {
    if (errno != EEXIST) {
      std::fprintf(out_, "# skipping json output; %s not accessible: %s\n", name.c_str(), std::strerror(errno));
      return;
    }
    name = args_.json_file + "." + std::to_string(attempt);
  }
  std::fprintf(out_, "# Writing JSON output to %s\n", name.c_str());
  json_.begin_object();
  json_.key("version");
  json_.integer(3);
  json_.key("start_time");
  json_.text(time_text(kTimeFormat));
}

void Report::json_config(const std::vector<DeviceLine>& devices) {
  json_.key("config");
  json_.begin_object();
  const auto number = [&](const char* key, int64_t value) {
    json_.key(key);
    json_.integer(value);
  };
  number("nthreads", args_.threads);
  number("ngpus", args_.gpus);
  number("minimum_bytes", args_.min_bytes);
  number("maximum_bytes", args_.max_bytes);
  if (args_.step_factor > 1) {
    json_.key("step_factor");
    json_.number(args_.step_factor);
  } else {
    number("step_bytes", args_.step_bytes);
  }
  number("warmup_iters", args_.warmup_iters);
  number("iterations", args_.iters);
  number("aggregated_iterations", args_.agg_iters);
  number("validation", args_.checks);
  number("graph", 0);
  number("blocking_collectives", args_.blocking);
  json_.key("per_iter_timing");
  json_.flag(args_.per_iter_timing);
  number("per_iter_skip", args_.per_iter_skip);
  json_.key("parallel_init");
  json_.flag(args_.parallel_init);
  json_.key("memory");
  json_.text(args_.memory == Memory::kNccl ? "nccl" : "malloc");
  json_.key("check_mode");
  json_.text(args_.check_mode == CheckMode::kReal ? "real" : "exact");
  json_.key("devices");
  json_.begin_list();
  for (const DeviceLine& line : devices) {
    json_.begin_object();
    number("rank", line.rank);
    number("group", line.group);
    number("pid", line.pid);
    json_.key("hostname");
    json_.text(line.host);
    number("device", line.device);
    json_.key("device_hex");
    json_.text("0000:00:00");
    json_.key("device_info");
    json_.text(line.info);
    json_.end_object();
  }
  json_.end_list();
  json_.end_object();
}

}  // namespace tutti::perf
