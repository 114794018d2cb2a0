"""Asks NVIDIA's library and Tutti's the same questions, each in a process of its own, and compares the answers; then runs a
program that was compiled against NVIDIA's header on libtutti."""

import argparse
import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

import wheel

HERE = pathlib.Path(__file__).parent
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("NCCL_", "TUTTI_"))}
# Without GPU the ranks meet over loopback; one interface that every machine has keeps the answers alike.
CLEAN["NCCL_SOCKET_IFNAME"] = "lo"


def compile_c(compiler, source, program, include, cuda_include, *more):
    command = [compiler, "-std=gnu11", "-Wall", "-Werror", f"-I{include}", f"-I{cuda_include}", "-o", str(program),
               str(HERE / source), *more]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\nfailed:\n{result.stdout}{result.stderr}")


def answers(program, *arguments):
    result = subprocess.run([program, *arguments], env=CLEAN, capture_output=True, text=True, timeout=60)
    lines = result.stdout.splitlines()
    if result.returncode != 0:
        lines.append(f"ended with {result.returncode}: {result.stderr.strip()}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", required=True, help="where wheel.py put NVIDIA's NCCL")
    parser.add_argument("--library", required=True, type=pathlib.Path, help="libtutti.so")
    parser.add_argument("--cuda-include", required=True)
    parser.add_argument("--cc", default="cc")
    arguments = parser.parse_args()
    nccl = wheel.find(arguments.cache).resolve()
    include = nccl / "include"
    tutti = arguments.library.resolve()

    good = True
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "answers")
        compile_c(arguments.cc, "answers.c", program, include, arguments.cuda_include, "-ldl")
        for scenario, what in (line.split() for line in answers(program)):
            theirs = answers(program, str(nccl / "lib" / "libnccl.so.2"), scenario)
            ours = answers(program, str(tutti), scenario)
            same = theirs == ours and len(theirs) > 0
            print(f"{'equal' if same else 'DIFFERENT'}: {scenario} ({len(theirs)} answers, {what})")
            if not same:
                print("\n".join(difflib.unified_diff(theirs, ours, "NVIDIA's", "Tutti's", lineterm="", n=0)))
            good = good and same

        client = os.path.join(folder, "client")
        compile_c(arguments.cc, "compiled_client.c", client, include, arguments.cuda_include, str(tutti),
                  f"-Wl,-rpath,{tutti.parent}")
        said = answers(client)
        print(f"compiled against NVIDIA's header, run on {tutti.name}: {' '.join(said)}")
        good = good and said == ["ok"]
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
