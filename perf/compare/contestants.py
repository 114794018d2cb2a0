"""The libraries that are compared: how each is found, started and named. Each run yields one dict for each size."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class Contestant:
    """One column: `run(sizes, timeout)` measures all sizes once."""

    def __init__(self, key, title, version, settings, command, environment=None):
        self.key = key
        self.title = title
        self.version = version
        self.settings = settings  # what was set, in words
        self.command = command  # without the four size arguments
        self.environment = environment or {}

    def processes(self):
        """Arguments and environment of each process to start (a launcher is one process)."""
        return [(self.command, self.environment)]

    def run(self, sizes, timeout):
        arguments = [str(size) for size in sizes]
        started = []
        for command, environment in self.processes():
            started.append(subprocess.Popen(command + arguments, env={**os.environ, **environment}, text=True,
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True))
        output, complaint, failed = "", "", False
        try:
            for process in started:
                out, err = process.communicate(timeout=timeout)
                output += out
                complaint += err
                failed |= process.returncode != 0
        except subprocess.TimeoutExpired:
            failed, complaint = True, f"took longer than {timeout} s"
        finally:
            for process in started:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.communicate()
        results = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        if failed:
            raise RuntimeError(f"{self.title}: {complaint.strip()[-1000:] or 'failed without a word'}")
        return results


class Gloo(Contestant):
    def __init__(self, python, version, ranks):
        super().__init__("gloo", "Gloo", version, "in place, as Gloo reduces; one torch thread a rank; loopback", [])
        self.python = python
        self.ranks = ranks

    def processes(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        common = {"WORLD_SIZE": str(self.ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
                  "GLOO_SOCKET_IFNAME": "lo"}
        command = [self.python, os.path.join(HERE, "all_reduce_gloo.py")]
        return [(command, {**common, "RANK": str(rank)}) for rank in range(self.ranks)]


def output_of(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def find_tutti(build, ranks, memories):
    driver = os.path.join(build, "bin", "compare_tutti")
    if not os.path.exists(driver):
        return [], f"Tutti: {driver} is not built"
    described = output_of(["git", "-C", HERE, "describe", "--always", "--dirty"]) or "unknown version"
    titles = {"malloc": ("tutti", "Tutti"), "nccl": ("tutti_nccl_memory", "Tutti, ncclMemAlloc")}
    variables = sorted(f"{k}={v}" for k, v in os.environ.items()
                       if k.startswith(("TUTTI_", "NCCL_")) and not k.startswith("TUTTI_SECRET"))
    settings = " ".join(variables) or "defaults"
    return [Contestant(*titles[memory], described, settings, [driver, memory, str(ranks)]) for memory in memories], ""


def find_openmpi(build, ranks, cores, binding):
    launcher, driver = shutil.which("mpirun.openmpi"), os.path.join(build, "bin", "compare_openmpi")
    if not launcher or not os.path.exists(driver):
        return [], "Open MPI: mpirun.openmpi and its driver (built where mpicc.openmpi is installed) are needed"
    version = output_of([launcher, "--version"]).split("\n")[0].split()[-1]
    options = ["--oversubscribe", "--bind-to", binding]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-run-as-root")
    if ranks > cores:
        options += ["--mca", "mpi_yield_when_idle", "1"]
    command = [launcher, "-n", str(ranks)] + options + [driver]
    return [Contestant("openmpi", "Open MPI", version, " ".join(options), command)], ""


def find_mpich(build, ranks, cores, binding):
    launcher, driver = shutil.which("mpirun.mpich"), os.path.join(build, "bin", "compare_mpich")
    if not launcher or not os.path.exists(driver):
        return [], "MPICH: mpirun.mpich and its driver (built where mpicc.mpich is installed) are needed"
    versions = [line.split(":", 1)[1].strip() for line in output_of([launcher, "--version"]).splitlines()
                if line.strip().startswith("Version:")]
    options = ["-bind-to", binding]
    environment = {}
    if ranks > cores:
        environment["MPIR_CVAR_POLLS_BEFORE_YIELD"] = "1"
    settings = " ".join(options + [f"{name}={value}" for name, value in environment.items()])
    command = [launcher, "-n", str(ranks)] + options + [driver]
    return [Contestant("mpich", "MPICH", versions[0] if versions else "?", settings, command, environment)], ""


def find_gloo(python, ranks):
    candidates = [python] if python else [sys.executable, os.path.join(HERE, "..", "..", ".venv", "bin", "python")]
    for candidate in candidates:
        version = output_of([candidate, "-c", "import torch; print(torch.__version__)"])
        if version:
            return [Gloo(candidate, "torch " + version, ranks)], ""
    return [], "Gloo: no Python with torch among " + ", ".join(candidates)
