// The frame of every perf program: arguments, processes, ranks, threads, report.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <thread>

#include "common/bench.h"
#include "common/format.h"
#include "common/launch/frame.h"
#include "common/machine.h"
#include "common/nccl_calls.h"

namespace tutti::perf {

namespace {

constexpr const char* kColumnsOf = "2.19.6";  // the nccl-tests whose output this is

// The ranks of this process, by thread.
using Threads = std::vector<std::vector<Rank>>;

Threads make_ranks(const World& world, const Args& args) {
  Threads threads(static_cast<size_t>(args.threads));
  int next = world.rank() * args.threads * args.gpus;
  for (std::vector<Rank>& ranks : threads) {
    ranks.resize(static_cast<size_t>(args.gpus));
    for (Rank& rank : ranks) rank.rank = next++;
  }
  return threads;
}

// How many of the processes before this one, and in all, run on this machine.
struct Neighbours {
  int before = 0, all = 0;
};
Neighbours find_neighbours(World& world) {
  Neighbours neighbours;
  const std::string mine = host_identity();
  const std::vector<std::string> hosts = world.all_gather(mine);
  for (int process = 0; process < world.size(); ++process) {
    if (hosts[static_cast<size_t>(process)] != mine) continue;
    ++neighbours.all;
    if (process < world.rank()) ++neighbours.before;
  }
  return neighbours;
}

std::vector<DeviceLine> gather_devices(World& world, const Threads& threads, int first_device) {
  std::vector<std::string> lines;
  for (const std::vector<Rank>& ranks : threads)
    for (const Rank& rank : ranks)
      lines.push_back(encode(DeviceLine{rank.rank, 0, static_cast<int>(getpid()), host_name(), first_device++,
                                        "host memory, " + processor_name()}));
  std::vector<DeviceLine> devices;
  for (const std::string& process : world.all_gather(pack(lines)))
    for (const std::string& line : unpack(process)) devices.push_back(decode_device(line));
  return devices;
}

// All ranks use the size that the poorest machine can hold.
int64_t agree_on_max_bytes(World& world, const Args& args, const Neighbours& neighbours) {
  world.barrier();  // nobody allocates before all have looked
  const int64_t ranks_here = static_cast<int64_t>(neighbours.all) * args.threads * args.gpus;
  int64_t least = args.max_bytes;
  const int64_t mine = buffer_limit(args.max_bytes, available_memory(), ranks_here);
  for (const std::string& text : world.all_gather(std::to_string(mine)))
    least = std::min<int64_t>(least, std::atoll(text.c_str()));
  return least;
}

void init_all(Threads& threads, int total, const ncclUniqueId& id, bool parallel) {
  const auto pointers = [](std::vector<Rank>& ranks, std::vector<Rank*>* list) {
    for (Rank& rank : ranks) list->push_back(&rank);
  };
  if (!parallel) {
    std::vector<Rank*> all;
    for (std::vector<Rank>& ranks : threads) pointers(ranks, &all);
    init_ranks(all, total, id);
    return;
  }
  std::vector<std::thread> workers;
  for (std::vector<Rank>& ranks : threads) {
    workers.emplace_back([&ranks, total, &id, &pointers] {
      std::vector<Rank*> mine;
      pointers(ranks, &mine);
      init_ranks(mine, total, id);
    });
  }
  for (std::thread& worker : workers) worker.join();
}

void prepare_thread(const Run& run, std::vector<Rank>& ranks) {
  size_t element = 1, send = 0, receive = 0;
  for (Type type : run.args.types) {
    element = std::max(element, size_of(type));
    const Counts counts =
        run.collective.counts(static_cast<size_t>(run.max_bytes) / size_of(type), size_of(type), run.total_ranks);
    send = std::max(send, counts.send * size_of(type));
    receive = std::max(receive, counts.receive * size_of(type));
  }
  // In place, both are in the receive buffer; and the moving offset walks through max_bytes of each.
  const size_t whole = std::max({send, receive, static_cast<size_t>(run.max_bytes)});
  for (Rank& rank : ranks) prepare(rank, run.args, whole, whole, static_cast<size_t>(run.args.unalign) * element);
}

void run_threads(const Run& run, Threads& threads) {
  const auto work = [&run, &threads](int thread) {
    std::vector<Rank>& ranks = threads[static_cast<size_t>(thread)];
    prepare_thread(run, ranks);
    Run own = run;
    if (thread != 0) own.report = nullptr;
    Bench(own, thread, ranks).run_all();
    run.crew.barrier(thread);
    release(ranks);
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < run.args.threads; ++thread) others.emplace_back(work, thread);
  work(0);
  for (std::thread& other : others) other.join();
}

void report_memory(World& world, bool prints) {
  const std::vector<std::string> all = world.all_gather(std::to_string(peak_resident_memory()));
  if (!prints) return;
  int64_t most = 0;
  for (const std::string& text : all) most = std::max<int64_t>(most, std::atoll(text.c_str()));
  std::printf("# Host memory usage : %.1f MiB at most in one process\n", static_cast<double>(most) / (1 << 20));
}

int run_in_world(const Collective& collective, const Args& args, const std::vector<std::string>& argv, World& world) {
  Threads threads = make_ranks(world, args);
  const int total = world.size() * args.threads * args.gpus;
  const bool leads = world.rank() == 0;
  const Neighbours neighbours = find_neighbours(world);
  const std::vector<DeviceLine> devices = gather_devices(world, threads, neighbours.before * args.threads * args.gpus);
  const int64_t max_bytes = agree_on_max_bytes(world, args, neighbours);

  Report report(args, stdout);
  if (leads) {
    Versions versions;
    versions.program = print_text("%s+tutti%s", kColumnsOf, TUTTI_PERF_VERSION);
    versions.header = NCCL_VERSION_CODE;
    TUTTI_PERF_NCCL(ncclGetVersion(&versions.library));
    report.header(collective.name, versions, argv, devices, max_bytes < args.max_bytes ? max_bytes : 0);
  }
  Watchdog watchdog(args.timeout_seconds);
  init_all(threads, total, shared_id(world), args.parallel_init);
  Crew crew(world, args.threads);
  run_threads(Run{collective, args, total, max_bytes, crew, watchdog, leads ? &report : nullptr}, threads);
  if (args.report_memory) report_memory(world, leads);
  if (leads) report.footer(collective.name);
  return std::atoi(world.broadcast(std::to_string(report.exit_code())).c_str());
}

// --nodes: the process belongs to the first node that still has room at its rank.
void play_node(const Args& args, int process) {
  int end = 0;
  for (size_t node = 0; node < args.nodes.size(); ++node) {
    end += args.nodes[node];
    if (process >= end) continue;
    setenv("NCCL_HOSTID", ("node" + std::to_string(node)).c_str(), 1);
    return;
  }
}

std::unique_ptr<World> join_world(const Launched& launched) {
  switch (launched.by) {
    case Launched::By::kMpi: return make_mpi_world();
    case Launched::By::kTorchrun:
    case Launched::By::kSlurm: return make_tcp_world(launched);
    case Launched::By::kNobody: break;
  }
  return make_single_world();
}

}  // namespace

int perf_main(const Collective& collective, int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  const ParsedArgs parsed = parse_args({words.begin() + 1, words.end()});
  if (parsed.help) {
    std::fputs(usage(words[0]).c_str(), stdout);
    return kExitSuccess;
  }
  if (!parsed.error.empty()) {
    std::fprintf(stderr, "%s: %s (-h explains all flags)\n", words[0].c_str(), parsed.error.c_str());
    return kExitInternalError;
  }
  const auto body = [&](World& world) {
    play_node(parsed.args, world.rank());
    return run_in_world(collective, parsed.args, words, world);
  };
  if (parsed.args.procs > 0) return run_processes(parsed.args.procs, body);
  const Launched launched = detect_launcher([](const char* name) { return std::getenv(name); });
  if (!launched.error.empty()) {
    std::fprintf(stderr, "%s: %s\n", words[0].c_str(), launched.error.c_str());
    return kExitInternalError;
  }
  return body(*join_world(launched));
}

}  // namespace tutti::perf
