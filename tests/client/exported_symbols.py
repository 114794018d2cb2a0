"""What libtutti shows to the linker: every symbol of NCCL 2.28.9 with the same strength, nothing beyond nccl*, pnccl* and
tutti*, and no library needed at run time beyond those that Tutti promises."""

import argparse
import pathlib
import re
import subprocess
import sys

ALLOWED_NEEDED = re.compile(r"^(libc|libm|libstdc\+\+|libgcc_s|libsodium|libhwloc|ld-linux[-\w]*|libpthread|libdl|librt)\.so")
ALLOWED_SYMBOL = re.compile(r"^p?nccl|^tutti")
LIST = pathlib.Path(__file__).with_name("nccl_2_28_9_symbols.txt")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exported(library):
    """{symbol: kind}, kind as nm writes it: T strong, W weak."""
    lines = run("nm", "-D", "--defined-only", library).splitlines()
    return {name.split("@")[0]: kind for kind, name in (line.split()[-2:] for line in lines)}


def needed(library):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", library))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", help="libtutti.so, or NVIDIA's with --theirs")
    parser.add_argument("--theirs", metavar="CACHE", help="check the list of symbols itself against NVIDIA's library")
    arguments = parser.parse_args()
    expected = {name: kind for kind, name in (line.split() for line in LIST.read_text().splitlines())}
    faults = []

    if arguments.theirs:
        import wheel
        found = exported(str(wheel.find(arguments.theirs) / "lib" / "libnccl.so.2"))
        faults += [f"{LIST.name}: {name} is not as in NVIDIA's library" for name in found.keys() ^ expected.keys()]

    ours = exported(arguments.library)
    for name, kind in sorted(expected.items()):
        if name not in ours:
            faults.append(f"{name} is missing")
        elif ours[name] != kind:
            faults.append(f"{name} is '{ours[name]}', in NCCL it is '{kind}'")
    faults += [f"{name} leaves the library" for name in sorted(ours) if not ALLOWED_SYMBOL.match(name)]
    faults += [f"{name} is needed at run time" for name in needed(arguments.library) if not ALLOWED_NEEDED.match(name)]

    print("\n".join(faults) if faults else f"{len(expected)} symbols of NCCL and "
          f"{sum(name.startswith('tutti') for name in ours)} of Tutti; needed: {', '.join(needed(arguments.library))}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
