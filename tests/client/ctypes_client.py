"""A foreign NCCL client: it knows libnccl.so.2 and nothing of Tutti, and binds it with ctypes as the Python wrappers of
inference engines do. Several processes, the unique id through a file, host arrays, stream 0; every result is checked.

    ctypes_client.py LIBRARY --ranks 4      starts 4 processes of itself and waits for them
"""

import argparse
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import time

try:
    import numpy
except ImportError:
    numpy = None

ncclResult_t = ctypes.c_int
ncclComm_t = ctypes.c_void_p
ncclDataType_t = ctypes.c_int
ncclRedOp_t = ctypes.c_int
cudaStream_t = ctypes.c_void_p
buffer_type = ctypes.c_void_p


class ncclUniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_byte * 128)]


FUNCTIONS = {
    "ncclGetErrorString": (ctypes.c_char_p, [ncclResult_t]),
    "ncclGetVersion": (ncclResult_t, [ctypes.POINTER(ctypes.c_int)]),
    "ncclGetUniqueId": (ncclResult_t, [ctypes.POINTER(ncclUniqueId)]),
    "ncclCommInitRank": (ncclResult_t, [ctypes.POINTER(ncclComm_t), ctypes.c_int, ncclUniqueId, ctypes.c_int]),
    "ncclAllReduce": (ncclResult_t, [buffer_type, buffer_type, ctypes.c_size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t,
                                     cudaStream_t]),
    "ncclReduce": (ncclResult_t, [buffer_type, buffer_type, ctypes.c_size_t, ncclDataType_t, ncclRedOp_t, ctypes.c_int,
                                  ncclComm_t, cudaStream_t]),
    "ncclAllGather": (ncclResult_t, [buffer_type, buffer_type, ctypes.c_size_t, ncclDataType_t, ncclComm_t,
                                     cudaStream_t]),
    "ncclReduceScatter": (ncclResult_t, [buffer_type, buffer_type, ctypes.c_size_t, ncclDataType_t, ncclRedOp_t,
                                         ncclComm_t, cudaStream_t]),
    "ncclSend": (ncclResult_t, [buffer_type, ctypes.c_size_t, ncclDataType_t, ctypes.c_int, ncclComm_t, cudaStream_t]),
    "ncclRecv": (ncclResult_t, [buffer_type, ctypes.c_size_t, ncclDataType_t, ctypes.c_int, ncclComm_t, cudaStream_t]),
    "ncclBroadcast": (ncclResult_t, [buffer_type, buffer_type, ctypes.c_size_t, ncclDataType_t, ctypes.c_int, ncclComm_t,
                                     cudaStream_t]),
    "ncclCommDestroy": (ncclResult_t, [ncclComm_t]),
    "ncclGroupStart": (ncclResult_t, []),
    "ncclGroupEnd": (ncclResult_t, []),
    "ncclCommWindowRegister": (ncclResult_t, [ncclComm_t, buffer_type, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p),
                                              ctypes.c_int]),
    "ncclCommWindowDeregister": (ncclResult_t, [ncclComm_t, ctypes.c_void_p]),
}

# name: (value of ncclDataType_t, numpy's name, ctypes' type)
TYPES = {
    "int8": (0, "int8", ctypes.c_int8),
    "uint8": (1, "uint8", ctypes.c_uint8),
    "int32": (2, "int32", ctypes.c_int32),
    "uint32": (3, "uint32", ctypes.c_uint32),
    "int64": (4, "int64", ctypes.c_int64),
    "uint64": (5, "uint64", ctypes.c_uint64),
    "float16": (6, "float16", None),
    "float32": (7, "float32", ctypes.c_float),
    "float64": (8, "float64", ctypes.c_double),
}
OPS = {"sum": 0, "prod": 1, "max": 2, "min": 3}
COUNTS = (1, 3, 1000, 65537)


class Library:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(self.library, name)
            function.restype = result
            function.argtypes = arguments

    def __getattr__(self, name):
        function = getattr(self.library, name)
        if FUNCTIONS[name][0] is not ncclResult_t:
            return function

        def checked(*arguments):
            result = function(*arguments)
            if result != 0:
                text = self.library.ncclGetErrorString(result).decode()
                raise RuntimeError(f"{name}: NCCL error {result}: {text}")
        return checked


class Array:
    """A host array, of numpy's if it is there."""

    def __init__(self, type_name, values):
        _, dtype, ctype = TYPES[type_name]
        if numpy is not None:
            self.data = numpy.array(values, dtype=dtype)
            self.address = self.data.ctypes.data
        else:
            self.data = (ctype * len(values))(*values)
            self.address = ctypes.addressof(self.data)

    def values(self):
        return self.data.tolist() if numpy is not None else list(self.data)


def value(rank, i):
    """Small and not zero: every sum and product of up to 8 ranks is exact in every type."""
    return 1 + (i + rank) % 2


def expected(op, ranks, i):
    values = [value(rank, i) for rank in range(ranks)]
    if op == "prod":
        product = 1
        for factor in values:
            product *= factor
        return product
    return {"sum": sum, "max": max, "min": min}[op](values)


def all_reduce(nccl, comm, ranks, rank, type_name, op, count, in_place):
    send = Array(type_name, [value(rank, i) for i in range(count)])
    receive = send if in_place else Array(type_name, [0] * count)
    nccl.ncclAllReduce(send.address, receive.address, count, TYPES[type_name][0], OPS[op], comm, 0)
    right = ([expected(op, ranks, i) for i in range(2)] * count)[:count]  # value() has period 2
    values = receive.values()
    if values != right:
        first = next(i for i in range(count) if values[i] != right[i])
        raise AssertionError(f"rank {rank}: AllReduce {type_name} {op} of {count}{' in place' if in_place else ''}: "
                             f"element {first} is {values[first]}, not {right[first]}")


def id_through_file(nccl, path, rank):
    unique_id = ncclUniqueId()
    if rank == 0:
        nccl.ncclGetUniqueId(ctypes.byref(unique_id))
        temporary = path.with_suffix(".new")
        temporary.write_bytes(bytes(unique_id.internal))
        temporary.rename(path)
    else:
        deadline = time.monotonic() + 60
        while not path.exists():
            if time.monotonic() > deadline:
                raise TimeoutError(f"rank {rank}: no id in {path}")
            time.sleep(0.01)
        ctypes.memmove(ctypes.byref(unique_id), path.read_bytes(), 128)
    return unique_id


def run_rank(arguments):
    ranks, rank = arguments.ranks, arguments.rank
    nccl = Library(arguments.library)
    version = ctypes.c_int()
    nccl.ncclGetVersion(ctypes.byref(version))
    assert version.value >= 22809, version.value
    unique_id = id_through_file(nccl, arguments.id_file, rank)
    comm = ncclComm_t()
    nccl.ncclCommInitRank(ctypes.byref(comm), ranks, unique_id, rank)
    done = 0
    for type_name in TYPES:
        if TYPES[type_name][2] is None and numpy is None:
            continue
        for op in OPS:
            for count in COUNTS:
                for in_place in (False, True):
                    all_reduce(nccl, comm, ranks, rank, type_name, op, count, in_place)
                    done += 1
    nccl.ncclAllReduce(None, None, 0, 7, 0, comm, 0)
    nccl.ncclGroupStart()
    several = [Array("float32", [rank + k] * 10) for k in range(5)]
    for array in several:
        nccl.ncclAllReduce(array.address, array.address, 10, 7, 0, comm, 0)
    nccl.ncclGroupEnd()
    for k, array in enumerate(several):
        assert array.values() == [sum(r + k for r in range(ranks))] * 10, (k, array.values())
    nccl.ncclCommDestroy(comm)
    print(f"rank {rank}: {done + 6} operations right, {'numpy' if numpy is not None else 'ctypes'} arrays", flush=True)


def run_all(arguments):
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, arguments.library, "--ranks", str(arguments.ranks), "--id-file",
                   os.path.join(folder, "id")]
        processes = [subprocess.Popen([*command, "--rank", str(rank)]) for rank in range(arguments.ranks)]
        results = [process.wait() for process in processes]
    sys.exit(0 if not any(results) else f"exit codes of the ranks: {results}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--id-file", type=pathlib.Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.rank is None:
        run_all(arguments)
    else:
        run_rank(arguments)


if __name__ == "__main__":
    main()
