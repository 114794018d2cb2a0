#!/usr/bin/env python3
"""Reads every #include line under src/ and says which ones go up or sideways in the house.

Usage: include_direction.py ROOT. Exit code 1 when a rule is broken; each breach is one line "file:line: rule".
"""
import pathlib
import re
import sys

# Which folders of src/ a folder may include from, besides itself.
FLOORS = {
    "base": set(),
    "topology": {"base"},
    "kernels": {"base"},
    "transport": {"base"},
    "bootstrap": {"base"},
    "algorithms": {"base", "topology"},
    "runtime": {"base", "topology", "kernels", "transport", "bootstrap", "algorithms"},
    "api": {"base", "runtime"},
}
# Only runtime/assemble.cpp names concrete transports and bootstraps.
CONCRETE = re.compile(r"^(transport|bootstrap)/(in_process|shm|tcp|fault|rdma|cuda_ipc|mpi)/")
# Where the headers of outside libraries may appear.
OUTSIDE = {
    "hwy/": ["src/kernels/"],
    "sodium.h": ["src/base/", "src/bootstrap/", "src/transport/"],
    "hwloc.h": ["src/topology/"],
    "mpi.h": ["src/bootstrap/mpi/", "perf/compare/"],
    "infiniband/": ["src/transport/rdma/"],
    "nlohmann/": ["src/algorithms/"],
    "cuda": ["src/kernels/", "src/base/", "include/"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def breaches(root):
    for path in sorted(root.glob("src/**/*")) + sorted(root.glob("perf/**/*")) + sorted(root.glob("include/**/*")):
        if path.suffix not in {".h", ".cpp", ".cu", ".cuh", ".c"}:
            continue
        name = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                yield from check(name, number, match.group(1), match.group(2))


def check(name, number, kind, target):
    place = f"{name}:{number}: includes {target}"
    parts = name.split("/")
    if kind == "<":
        for prefix, allowed in OUTSIDE.items():
            if target.startswith(prefix) and not any(name.startswith(folder) for folder in allowed):
                yield f"{place}; that library belongs to {', '.join(allowed)}"
        return
    top = target.split("/")[0]
    if parts[0] == "src" and len(parts) > 2:
        folder = parts[1]
        if folder not in FLOORS:
            yield f"{name}:{number}: src/{folder} is not a folder of the design"
        elif top in FLOORS and top != folder and top not in FLOORS[folder]:
            yield f"{place}; {folder} may include {', '.join(sorted(FLOORS[folder])) or 'nothing else'}"
        if CONCRETE.match(target) and folder == "runtime" and parts[-1] != "assemble.cpp":
            yield f"{place}; only runtime/assemble.cpp names concrete classes"
    elif parts[0] == "perf" and top in FLOORS and target != "bootstrap/mpi/module.h":
        yield f"{place}; perf knows the public headers only"


def main():
    root = pathlib.Path(sys.argv[1])
    found = list(breaches(root))
    for breach in found:
        print(breach)
    print(f"{len(found)} breaches of the include direction")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
