// Which launcher started this process, by the variables that it leaves.
#include <cstdlib>
#include <string>

#include "common/format.h"
#include "common/world.h"

namespace tutti::perf {

namespace {

using Get = std::function<const char*(const char*)>;

// "node[03-07,9],x1" -> "node03": the first host of a Slurm list.
std::string first_host(const std::string& list) {
  const size_t bracket = list.find('[');
  const size_t comma = list.find(',');
  if (bracket == std::string::npos || comma < bracket) return list.substr(0, comma);
  const size_t end = list.find_first_of(",-]", bracket);
  return list.substr(0, bracket) + list.substr(bracket + 1, end == std::string::npos ? end : end - bracket - 1);
}

class Reader {
 public:
  Reader(const Get& get, Launched* launched) : get_(get), launched_(launched) {}

  // The value of a variable that must be a number from low to high; `otherwise` when it is unset.
  int number(const char* name, int64_t low, int64_t high, int otherwise) {
    const char* text = get_(name);
    if (text == nullptr) return otherwise;
    const std::optional<int64_t> value = parse_integer(text, low, high);
    if (!value) {
      launched_->error = print_text("%s=\"%s\" is not a whole number from %lld to %lld", name, text,
                                    static_cast<long long>(low), static_cast<long long>(high));
      return otherwise;
    }
    return static_cast<int>(*value);
  }

  void rank_and_size(const char* rank, const char* size) {
    launched_->size = number(size, 1, 1 << 20, 1);
    launched_->rank = number(rank, 0, 1 << 20, 0);
    if (launched_->error.empty() && launched_->rank >= launched_->size)
      launched_->error = print_text("%s=%d is not below %s=%d", rank, launched_->rank, size, launched_->size);
  }

 private:
  const Get& get_;
  Launched* launched_;
};

}  // namespace

Launched detect_launcher(const Get& get) {
  Launched launched;
  Reader reader(get, &launched);
  const auto text = [&](const char* name) { return std::string(get(name) == nullptr ? "" : get(name)); };
  if (get("OMPI_COMM_WORLD_SIZE") != nullptr) {
    launched.by = Launched::By::kMpi;
    reader.rank_and_size("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
  } else if (get("PMI_SIZE") != nullptr && get("PMI_RANK") != nullptr) {
    launched.by = Launched::By::kMpi;
    reader.rank_and_size("PMI_RANK", "PMI_SIZE");
  } else if (get("WORLD_SIZE") != nullptr && get("RANK") != nullptr) {
    launched.by = Launched::By::kTorchrun;
    reader.rank_and_size("RANK", "WORLD_SIZE");
    launched.address = text("MASTER_ADDR");
    launched.port = reader.number("MASTER_PORT", 1, 65533, 0);
    if (launched.error.empty() && (launched.address.empty() || launched.port == 0))
      launched.error = "RANK and WORLD_SIZE are set, but not MASTER_ADDR and MASTER_PORT";
  } else if (get("SLURM_PROCID") != nullptr && get("SLURM_STEP_ID") != nullptr) {
    launched.by = Launched::By::kSlurm;
    reader.rank_and_size("SLURM_PROCID",
                         get("SLURM_STEP_NUM_TASKS") != nullptr ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS");
    launched.address = get("MASTER_ADDR") != nullptr ? text("MASTER_ADDR") : first_host(text("SLURM_STEP_NODELIST"));
    // One pair of ports for each job, so that two on one machine do not meet.
    const int job = reader.number("SLURM_JOB_ID", 0, int64_t{1} << 31, 0);
    launched.port = reader.number("MASTER_PORT", 1, 65533, 20000 + job % 10000 * 3);
    if (launched.error.empty() && launched.size > 1 && launched.address.empty())
      launched.error = "neither MASTER_ADDR nor SLURM_STEP_NODELIST says where rank 0 is";
  }
  return launched;
}

}  // namespace tutti::perf
