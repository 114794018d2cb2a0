"""torch.distributed's Gloo on the same policy as policy.c (Gloo reduces in place; so does this driver).

usage: all_reduce_gloo.py first-bytes last-bytes factor seconds-per-size
RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT as torchrun sets them; compare.py starts one process for each rank.
"""
import json
import os
import sys
import time

import torch
import torch.distributed as dist

BLOCK_SECONDS = 5e-6
MOST_BLOCKS = 20000
FEWEST_OPERATIONS = 3


def inputs(rank, count):
    return ((torch.arange(count, dtype=torch.int64) * 7 + rank * 3) % 13).to(torch.float32)


def largest(value):
    tensor = torch.tensor([value], dtype=torch.float64)
    dist.all_reduce(tensor, op=dist.ReduceOp.MAX)
    return tensor.item()


def seconds_of(tensor, operations):
    start = time.perf_counter()
    for _ in range(operations):
        dist.all_reduce(tensor)
    return time.perf_counter() - start


def measure(bytes_, budget):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    count = bytes_ // 4
    tensor = inputs(rank, count)
    dist.all_reduce(tensor)
    expected = sum(inputs(peer, count) for peer in range(ranks))
    wrong = largest(float((tensor != expected).sum().item()))
    tensor.zero_()  # it is summed into itself from now on
    sample, seconds = 1, 0.0
    while True:
        seconds = largest(seconds_of(tensor, sample))
        if seconds >= budget / 20 or sample >= 100000:
            break
        sample *= 4
    each = seconds / sample
    block = int(BLOCK_SECONDS / each) + 1
    number = max(FEWEST_OPERATIONS, min(MOST_BLOCKS, int(budget / (each * block))))
    dist.barrier()
    blocks = sorted(seconds_of(tensor, block) for _ in range(number))
    median = largest(blocks[number // 2] / block)
    mean = largest(sum(blocks) / (number * block))
    if rank == 0:
        print(json.dumps({"library": "gloo", "ranks": ranks, "bytes": bytes_, "operations": number * block,
                          "median_us": median * 1e6, "mean_us": mean * 1e6, "wrong": wrong}), flush=True)
    return wrong > 0


def main():
    first, last, factor, budget = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    failed = False
    size = float(first)
    while size <= last:
        failed |= measure(int(size) // 4 * 4, budget)
        size *= factor
    dist.destroy_process_group()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
