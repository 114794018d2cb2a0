// mpirun: the module of the MPI that started this process, loaded from beside the program.
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "bootstrap/mpi/module.h"
#include "common/exit.h"
#include "common/world.h"

namespace tutti::perf {

namespace {

// TUTTI_MPI_MODULE, or beside this program in a build or an installation.
std::vector<std::string> candidates(const std::string& name) {
  if (const char* path = std::getenv("TUTTI_MPI_MODULE")) return {path};
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  return {(folder / ".." / "lib" / name).string(), (folder / ".." / "lib" / "tutti" / name).string(),
          (folder / name).string(), name};
}

const tutti_mpi_module& load(const std::string& name) {
  std::string tried;
  for (const std::string& path : candidates(name)) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (handle == nullptr) {
      tried += "\n  " + std::string(dlerror());
      continue;
    }
    void* symbol = dlsym(handle, TUTTI_MPI_MODULE_SYMBOL);
    if (symbol == nullptr) fail(kExitInternalError, "%s is not a module of this kind: %s", path.c_str(), dlerror());
    const tutti_mpi_module* module = reinterpret_cast<tutti_mpi_module_function>(symbol)();
    if (module->version != TUTTI_MPI_MODULE_VERSION)
      fail(kExitInternalError, "%s has version %d of the interface, not %d", path.c_str(), module->version,
           TUTTI_MPI_MODULE_VERSION);
    return *module;
  }
  fail(kExitInternalError,
       "started by mpirun, but %s cannot be loaded (it is built where that MPI's mpicc is installed; TUTTI_MPI_MODULE "
       "names another place; --procs N needs no MPI):%s",
       name.c_str(), tried.c_str());
}

class MpiWorld : public World {
 public:
  explicit MpiWorld(const tutti_mpi_module& module) : module_(module) {
    check(module_.start(), "MPI_Init");
    rank_ = module_.rank();
    size_ = module_.size();
  }
  ~MpiWorld() override { check(module_.finish(), "MPI_Finalize"); }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  // Lengths first, then everybody's text at the length of the longest.
  std::vector<std::string> all_gather(const std::string& mine) override {
    const uint64_t length = mine.size();
    std::vector<uint64_t> lengths(static_cast<size_t>(size_));
    check(module_.all_gather(&length, lengths.data(), sizeof length), "MPI_Iallgather");
    const size_t longest = *std::max_element(lengths.begin(), lengths.end());
    std::vector<std::string> texts(static_cast<size_t>(size_));
    if (longest == 0) return texts;
    std::string padded = mine;
    padded.resize(longest);
    std::string all(longest * static_cast<size_t>(size_), '\0');
    check(module_.all_gather(padded.data(), all.data(), longest), "MPI_Iallgather");
    for (size_t process = 0; process < texts.size(); ++process)
      texts[process] = all.substr(process * longest, lengths[process]);
    return texts;
  }

 private:
  void check(int code, const char* what) const {
    if (code != 0) fail(kExitInternalError, "rank %d: %s of %s: error %d", rank_, what, module_.name, code);
  }

  const tutti_mpi_module& module_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace

std::unique_ptr<World> make_mpi_world() {
  const bool openmpi = std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr;
  return std::make_unique<MpiWorld>(load(openmpi ? "tutti_mpi_openmpi.so" : "tutti_mpi_mpich.so"));
}

}  // namespace tutti::perf
