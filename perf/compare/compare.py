#!/usr/bin/env python3
"""AllReduce of Tutti, Open MPI, MPICH and Gloo on this machine, alternately in one run.

Every round runs each library once over all sizes, in an order that rotates from round to round. Reported are medians
over the rounds, and the ratio of Tutti to the best of the others in the same round with its spread. See ../README.md.
"""
import argparse
import datetime
import json
import os
import platform
import sys

import contestants
import svg
import table


def bytes_of(text):
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    unit = text[-1:].upper()
    return int(float(text[:-1]) * units[unit]) if unit in units else int(text)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build-dir", default="build", help="where the drivers are (bin/compare_*)")
    parser.add_argument("--ranks", "-n", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--min", type=bytes_of, default=8, help="smallest size, e.g. 8 (bytes, K, M, G)")
    parser.add_argument("--max", type=bytes_of, default=256 << 20)
    parser.add_argument("--factor", type=float, default=2.0, help="between sizes")
    parser.add_argument("--seconds", type=float, default=0.15, help="timed per size, library and round")
    parser.add_argument("--memory", choices=["malloc", "nccl", "both"], default="both",
                        help="Tutti's buffers: malloc as everybody's, ncclMemAlloc in a column of its own, or both")
    parser.add_argument("--libraries", default="tutti,openmpi,mpich", help="comma list")
    parser.add_argument("--with-gloo", nargs="?", const="", metavar="PYTHON",
                        help="also Gloo, through the torch of this Python (default: this one, then .venv)")
    parser.add_argument("--bind-to", choices=["none", "core"], default="none",
                        help="what both MPIs are told; Tutti and Gloo bind nothing")
    parser.add_argument("--output", default=None, help="write OUTPUT.json and OUTPUT.svg (default: build dir)")
    return parser.parse_args()


def find(arguments):
    cores = len(os.sched_getaffinity(0))
    wanted = [name for name in arguments.libraries.split(",") if name]
    memories = ["malloc", "nccl"] if arguments.memory == "both" else [arguments.memory]
    found, missing = [], []
    for name in wanted + (["gloo"] if arguments.with_gloo is not None and "gloo" not in wanted else []):
        if name == "tutti":
            some, problem = contestants.find_tutti(arguments.build_dir, arguments.ranks, memories)
        elif name == "openmpi":
            some, problem = contestants.find_openmpi(arguments.build_dir, arguments.ranks, cores, arguments.bind_to)
        elif name == "mpich":
            some, problem = contestants.find_mpich(arguments.build_dir, arguments.ranks, cores, arguments.bind_to)
        elif name == "gloo":
            some, problem = contestants.find_gloo(arguments.with_gloo, arguments.ranks)
        else:
            sys.exit(f'--libraries: "{name}" is not tutti, openmpi, mpich or gloo')
        found += some
        missing += [problem] if problem else []
    return found, missing


def machine():
    cpu = "unknown processor"
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
        for line in lines:
            if line.startswith("model name"):
                cpu = line.split(":", 1)[1].strip()
                break
    return {"processor": cpu, "cores": len(os.sched_getaffinity(0)),
            "memory_GiB": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / (1 << 30), 1),
            "system": f"{platform.system()} {platform.release()}", "load_at_start": round(os.getloadavg()[0], 2)}


def measure(found, arguments):
    """The rounds, as table.summarize takes them, all raw lines, and what went wrong."""
    sizes = (arguments.min, arguments.max, arguments.factor, arguments.seconds)
    rounds, raw, problems = [], [], []
    for number in range(arguments.rounds):
        one = {}
        shift = number % len(found)
        for contestant in found[shift:] + found[:shift]:
            print(f"# round {number + 1} of {arguments.rounds}: {contestant.title}", file=sys.stderr, flush=True)
            try:
                results = contestant.run(sizes, timeout=300)
            except RuntimeError as problem:
                problems.append(f"round {number + 1}: {problem}")
                continue
            one[contestant.key] = {result["bytes"]: result["median_us"] for result in results}
            raw += [{"round": number + 1, "contestant": contestant.key, **result} for result in results]
        rounds.append(one)
    return rounds, raw, problems


def main():
    arguments = parse_arguments()
    found, missing = find(arguments)
    for problem in missing:
        print(f"# left out: {problem}", file=sys.stderr)
    if not found:
        sys.exit("nothing to compare")
    facts = machine()
    print(f"# AllReduce, float sum, {arguments.ranks} processes, medians of {arguments.rounds} rounds, "
          f"{arguments.seconds} s a size")
    print(f"# {facts['processor']}, {facts['cores']} cores, {facts['memory_GiB']} GiB, {facts['system']}, "
          f"load {facts['load_at_start']}")
    for contestant in found:
        print(f"# {contestant.title} {contestant.version}: {contestant.settings}")
    rounds, raw, problems = measure(found, arguments)
    titles = {contestant.key: contestant.title for contestant in found}
    rivals = [key for key in titles if not key.startswith("tutti")]
    rows = table.summarize(rounds, list(titles), rivals)
    print(table.render(rows, titles, arguments.ranks))
    for problem in problems:
        print(f"# FAILED {problem}")
    output = arguments.output or os.path.join(arguments.build_dir, f"compare_{arguments.ranks}")
    document = {"when": datetime.datetime.now().isoformat(timespec="seconds"), "machine": facts,
                "collective": "AllReduce", "type": "float", "op": "sum", "ranks": arguments.ranks,
                "rounds": arguments.rounds, "seconds_per_size": arguments.seconds,
                "contestants": [{"key": c.key, "title": c.title, "version": c.version, "settings": c.settings}
                                for c in found],
                "summary": rows, "raw": raw, "left_out": missing, "failed": problems}
    with open(output + ".json", "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
    heading = f"AllReduce, {arguments.ranks} processes, {facts['processor']}, {facts['cores']} cores"
    with open(output + ".svg", "w", encoding="utf-8") as file:
        file.write(svg.chart(rows, titles, heading))
    print(f"# written: {output}.json {output}.svg")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
