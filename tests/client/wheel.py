"""Where NVIDIA's own NCCL 2.28.9 is: the header and the library that Tutti is held against.

TUTTI_NCCL_WHEEL names a wheel file, or a folder that holds nvidia/nccl/ or include/nccl.h; "none" means do without. If it is
not set, `wheel.py CACHE` fetches the wheel from PyPI with pip into the folder CACHE, once, and the tests look there.
"""

import os
import pathlib
import subprocess
import sys
import zipfile

REQUIREMENT = "nvidia-nccl-cu13==2.28.9"
SKIPPED = 77  # ctest: SKIP_RETURN_CODE


def skip(why):
    """Ends the program: the test did not run, and says so where people look."""
    print(f"SKIPPED: {why}")
    print(f"SKIPPED: nothing was compared with NVIDIA's NCCL. TUTTI_NCCL_WHEEL=<file or folder> or access to PyPI "
          f"({REQUIREMENT}) lets this test run.")
    sys.exit(SKIPPED)


def find(cache):
    """The folder that holds include/nccl.h and lib/libnccl.so.2; skips the test if there is none."""
    named = os.environ.get("TUTTI_NCCL_WHEEL")
    if named == "none":
        skip("TUTTI_NCCL_WHEEL=none")
    root = pathlib.Path(named) if named else pathlib.Path(cache)
    if named and not root.exists():
        sys.exit(f"TUTTI_NCCL_WHEEL={named}: no such file or folder")
    if root.is_file():
        root = unpack(root, pathlib.Path(cache))
    for folder in (root, root / "nvidia" / "nccl"):
        if (folder / "include" / "nccl.h").exists() and (folder / "lib" / "libnccl.so.2").exists():
            return folder
    if named:
        sys.exit(f"TUTTI_NCCL_WHEEL={named}: neither include/nccl.h with lib/libnccl.so.2 nor nvidia/nccl/ is in it")
    skip(f"NVIDIA's NCCL is not in {cache}")


def unpack(wheel, folder):
    target = folder / wheel.stem
    done = target / ".unpacked"
    if not done.exists():
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target)
        done.touch()
    return target


def fetch(cache):
    """Downloads and unpacks into `cache` unless that has been done."""
    if os.environ.get("TUTTI_NCCL_WHEEL"):
        print(find(cache))
        return
    cache = pathlib.Path(cache)
    if not (cache / "nvidia" / "nccl" / "lib" / "libnccl.so.2").exists():
        cache.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--retries", "1",
                   "--timeout", "20", "--dest", str(cache), REQUIREMENT]
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        wheels = list(cache.glob("nvidia_nccl_cu13-2.28.9-*.whl"))
        if result.returncode != 0 or not wheels:
            skip(f"pip could not fetch the wheel:\n{result.stdout}")
        with zipfile.ZipFile(wheels[0]) as archive:
            archive.extractall(cache)
        wheels[0].unlink()
    print(find(cache))


if __name__ == "__main__":
    fetch(sys.argv[1])
