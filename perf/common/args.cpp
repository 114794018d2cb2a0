#include "common/args.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include "common/format.h"

namespace tutti::perf {

namespace {

constexpr int64_t kIntMax = std::numeric_limits<int>::max();

// What one flag does with its value; returns what it would have accepted, "" when all is well.
using Take = std::function<std::string(Args&, const std::string&)>;

struct Flag {
  char letter;        // 0: long form only
  const char* name;   // without the dashes
  const char* value;  // of the usage text; "" for a flag without value
  const char* help;
  Take take;
};

Take integer(int Args::*member, int64_t low, int64_t high = kIntMax) {
  return [=](Args& args, const std::string& text) -> std::string {
    const std::optional<int64_t> number = parse_integer(text, low, high);
    if (!number)
      return print_text("a whole number from %lld to %lld", static_cast<long long>(low), static_cast<long long>(high));
    args.*member = static_cast<int>(*number);
    return {};
  };
}

Take boolean(bool Args::*member) {
  return [=](Args& args, const std::string& text) -> std::string {
    const std::optional<int64_t> number = parse_integer(text, 0, kIntMax);
    if (!number) return "0 or 1";
    args.*member = *number != 0;
    return {};
  };
}

Take bytes(int64_t Args::*member, int64_t low) {
  return [=](Args& args, const std::string& text) -> std::string {
    const std::optional<int64_t> number = parse_size(text);
    if (!number || *number < low) return "bytes, with K, M or G for multiples of 1024 (e.g. 8, 32K, 1.5M)";
    args.*member = *number;
    return {};
  };
}

// Accepted for compatibility; `neutral` is the value that asks for nothing.
Take without_effect(const char* flag, const char* neutral, const char* why) {
  return [=](Args& args, const std::string& text) -> std::string {
    if (text != neutral) args.notes.push_back(print_text("%s %s has no effect: %s", flag, text.c_str(), why));
    return {};
  };
}

template <class T, class Names>
Take list(std::vector<T> Args::*member, Names names, const char* accepted) {
  return [=](Args& args, const std::string& text) -> std::string {
    auto values = names(text);
    if (!values) return accepted;
    args.*member = *std::move(values);
    return {};
  };
}

template <class E>
Take word(E Args::*member, std::vector<std::pair<std::string, E>> words) {
  return [=](Args& args, const std::string& text) -> std::string {
    std::string accepted;
    for (const auto& [name, value] : words) {
      if (name == text) {
        args.*member = value;
        return {};
      }
      accepted += (accepted.empty() ? "" : " or ") + name;
    }
    return accepted;
  };
}

std::string take_factor(Args& args, const std::string& text) {
  double factor = 0;
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, factor);
  if (failure != std::errc{} || rest != end || !(factor >= 1) || factor > 1e9) return "a factor of at least 1";
  args.step_factor = factor;
  return {};
}

std::string take_average(Args& args, const std::string& text) {
  const std::optional<int64_t> number = parse_integer(text, 0, 3);
  if (!number) return "0 (rank 0), 1 (mean), 2 (minimum) or 3 (maximum)";
  args.average = static_cast<Average>(*number);
  return {};
}

std::string take_root(Args& args, const std::string& text) {
  if (text == "all") {
    args.root = -1;
    return {};
  }
  return integer(&Args::root, -1)(args, text);
}

std::string take_json(Args& args, const std::string& text) {
  if (text.empty()) return "a file name";
  args.json_file = text;
  return {};
}

std::string take_nodes(Args& args, const std::string& text) {
  args.nodes.clear();
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::optional<int64_t> processes = parse_integer(std::string_view(text).substr(at, comma - at), 1, 4096);
    if (!processes) return "numbers of processes separated by commas (e.g. 2,3)";
    args.nodes.push_back(static_cast<int>(*processes));
    at = comma + 1;
  }
  return {};
}

const std::vector<Flag>& flags() {
  static const std::vector<Flag> list_of_flags = {
      {'t', "nthreads", "<threads>", "threads per process (1)", integer(&Args::threads, 1, 4096)},
      {'g', "ngpus", "<ranks>", "ranks per thread (1)", integer(&Args::gpus, 1, 4096)},
      {'b', "minbytes", "<bytes>", "smallest size (32M)", bytes(&Args::min_bytes, 0)},
      {'e', "maxbytes", "<bytes>", "largest size (32M)", bytes(&Args::max_bytes, 0)},
      {'i', "stepbytes", "<bytes>", "step between sizes (1M)", bytes(&Args::step_bytes, 1)},
      {'f', "stepfactor", "<factor>", "factor between sizes, instead of -i", take_factor},
      {'n', "iters", "<count>", "timed iterations (20)", integer(&Args::iters, 1)},
      {'w', "warmup_iters", "<count>", "iterations before the timed ones (1)", integer(&Args::warmup_iters, 0)},
      {'m', "agg_iters", "<count>", "operations in one group per iteration (1)", integer(&Args::agg_iters, 1, 1 << 20)},
      {'N', "run_cycles", "<count>", "runs over all sizes; 0 = for ever (1)", integer(&Args::run_cycles, 0)},
      {'p', "parallel_init", "<0/1>", "each thread initialises its own ranks (0)", boolean(&Args::parallel_init)},
      {'c', "check", "<count>", "verification iterations; 0 = none (1)", integer(&Args::checks, 0)},
      {'o', "op", "<op>", "sum, prod, min, max, avg, mulsum or all (sum)",
       list(&Args::ops, ops_named, "sum, prod, min, max, avg, mulsum or all")},
      {'d', "datatype", "<type>", "int8 ... f8e5m2 or all (float)",
       list(&Args::types, types_named,
            "int8, uint8, int32, uint32, int64, uint64, half, float, double, bfloat16, f8e4m3, f8e5m2 or all")},
      {'r', "root", "<rank/all>", "root of rooted collectives (0)", take_root},
      {'z', "blocking", "<0/1/2/3>",
       "wait after each iteration: 1 and barrier, 2 without, 3 barrier outside the timed part (0)",
       integer(&Args::blocking, 0, 3)},
      {'C', "report_cputime", "<0/1>", "report the time of the calls, not of the operations (0)",
       boolean(&Args::report_cputime)},
      {'S', "report_timestamps", "<0/1>", "a column with the time of day (0)", boolean(&Args::report_timestamps)},
      {'J', "output_file", "<file>", "write the results as JSON", take_json},
      {'a', "average", "<0/1/2/3>", "time over ranks: 0 rank 0, 1 mean, 2 min, 3 max (1)", take_average},
      {'R', "local_register", "<0/1/2>", "1 ncclCommRegister, 2 symmetric window (0)",
       integer(&Args::local_register, 0, 2)},
      {'M', "memory_report", "<0/1>", "report the memory in use (0)", boolean(&Args::report_memory)},
      {'u', "unalign", "<elements>", "index of the first element in the buffers (0)", bytes(&Args::unalign, 0)},
      {'I', "per_iter_timing", "<0/1>", "columns with statistics over single iterations (0)",
       boolean(&Args::per_iter_timing)},
      {'K', "per_iter_skip", "<count>", "iterations that those leave out at the start (0)",
       integer(&Args::per_iter_skip, 0)},
      {'T', "timeout", "<seconds>", "give up an operation that takes longer; 0 = never (0)",
       integer(&Args::timeout_seconds, 0)},
      {'y', "stream_null", "<0/1>", "no effect: see --stream",
       without_effect("-y", "0", "host memory uses the NULL stream unless --stream host is given")},
      {'G', "cudagraph", "<launches>", "no effect on host memory",
       without_effect("-G", "0", "CUDA graphs need device memory")},
      {'x', "cta_policy", "<0/1/2>", "no effect on host memory", without_effect("-x", "0", "CTAs are a GPU's")},
      {'D', "device_implementation", "<n>", "no effect on host memory",
       without_effect("-D", "0", "device-side collectives need a GPU")},
      {'V', "device_cta_count", "<n>", "no effect on host memory", without_effect("-V", "16", "CTAs are a GPU's")},
      {0, "procs", "<n>", "start n local processes, one or more ranks each", integer(&Args::procs, 1, 4096)},
      {0, "nodes", "<n,n,...>", "with --procs: let them play nodes of so many processes (sets NCCL_HOSTID)",
       take_nodes},
      {0, "check-mode", "<exact/real>", "exact: bits; real: error bound, and equal bits on all ranks (exact)",
       word(&Args::check_mode, {{"exact", CheckMode::kExact}, {"real", CheckMode::kReal}})},
      {0, "memory", "<malloc/nccl>", "where buffers come from: malloc or ncclMemAlloc (malloc)",
       word(&Args::memory, {{"malloc", Memory::kMalloc}, {"nccl", Memory::kNccl}})},
      {0, "stream", "<null/host>", "null: calls block; host: a stream of tuttiStreamCreate (null)",
       word(&Args::stream, {{"null", StreamKind::kNull}, {"host", StreamKind::kHost}})},
      {0, "percentiles", "", "columns with median and 99th percentile of single iterations",
       [](Args& args, const std::string&) -> std::string {
         args.percentiles = true;
         return {};
       }},
  };
  return list_of_flags;
}

const Flag* find_flag(const std::string& name) {
  for (const Flag& flag : flags())
    if (name == flag.name || (name.size() == 1 && name[0] == flag.letter)) return &flag;
  return nullptr;
}

// Splits "--name=value", "-nvalue" and their two-word forms.
struct Word {
  std::string name;
  std::optional<std::string> value;
};

std::optional<Word> split(const std::string& text) {
  if (text.size() < 2 || text[0] != '-') return std::nullopt;
  if (text[1] != '-') return Word{text.substr(1, 1), text.size() > 2 ? std::optional(text.substr(2)) : std::nullopt};
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return Word{text.substr(2), std::nullopt};
  return Word{text.substr(2, equals - 2), text.substr(equals + 1)};
}

std::string contradictions(const Args& args) {
  if (args.min_bytes > args.max_bytes)
    return print_text("-b %lld is larger than -e %lld", static_cast<long long>(args.min_bytes),
                      static_cast<long long>(args.max_bytes));
  if (args.per_iter_skip >= args.iters)
    return print_text("-K %d leaves none of the %d iterations", args.per_iter_skip, args.iters);
  const int on_nodes = std::accumulate(args.nodes.begin(), args.nodes.end(), 0);
  if (!args.nodes.empty() && on_nodes != args.procs)
    return print_text("--nodes adds up to %d processes, --procs says %d", on_nodes, args.procs);
  if (args.local_register == 2 && args.memory == Memory::kMalloc) return "-R 2 (symmetric window) needs --memory nccl";
  return {};
}

}  // namespace

ParsedArgs parse_args(const std::vector<std::string>& words) {
  ParsedArgs parsed;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::optional<Word> word = split(words[i]);
    if (!word) {
      parsed.error = "\"" + words[i] + "\" is not a flag";
      return parsed;
    }
    if (word->name == "h" || word->name == "help") {
      parsed.help = true;
      return parsed;
    }
    const Flag* flag = find_flag(word->name);
    if (flag == nullptr) {
      parsed.error = "unknown flag " + words[i];
      return parsed;
    }
    std::string value = word->value.value_or("");
    if (*flag->value != '\0' && !word->value) {
      if (i + 1 == words.size()) {
        parsed.error = words[i] + " needs a value: " + flag->value;
        return parsed;
      }
      value = words[++i];
    }
    const std::string accepted = flag->take(parsed.args, value);
    if (!accepted.empty()) {
      parsed.error =
          words[i - (word->value || *flag->value == '\0' ? 0 : 1)] + ": \"" + value + "\" is not " + accepted;
      return parsed;
    }
  }
  parsed.error = contradictions(parsed.args);
  return parsed;
}

std::string usage(const std::string& program) {
  std::string text = "USAGE: " + program + " [flags]\n";
  for (const Flag& flag : flags()) {
    std::string names = flag.letter != 0 ? print_text("-%c,--%s %s", flag.letter, flag.name, flag.value)
                                         : print_text("   --%s %s", flag.name, flag.value);
    text += print_text("  %-34s %s\n", names.c_str(), flag.help);
  }
  text += print_text("  %-34s %s\n", "-h,--help", "this text");
  return text;
}

}  // namespace tutti::perf
