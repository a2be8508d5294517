"""The clock against a published sweep: streams of more and more threads a unit.

RRZE gpu-benches (repository te42kyfo/gpu-benches, gpu-stream: main.cu, and the results
of five cards): two blocks a unit of so many threads each, one double a thread; GB/s.
"""

import csv
from functools import cache
from pathlib import Path
from statistics import median

from stacklib import hardware
from stacklib.gpu.issue.machine import machine_of
from stacklib.gpu.issue.replay import replay
from stacklib.gpu.issue.streams import Recorder

ROWS = Path(__file__).parent / "gpu_stream.csv"
LOADS = {"init": 0, "read": 1, "scale": 1, "triad": 2}
MOVED = {"init": 1, "read": 1, "scale": 2, "triad": 3}
BLOCKS, FIRST, LAST = 16, 6, 14  # begins of blocks between which it is steady


@cache
def blocks_of(kernel, warps):
    """The kernel's blocks: a thread's index, its loads, arithmetic, a store."""
    tape = Recorder()
    row = tape.ask(passes=2, memory=8)
    for block in range(BLOCKS):
        for _ in range(warps):
            tape.warp(block)
            index = tape.add("int", [tape.add("move")])
            tape.add("branch", [tape.add("int", [index])])
            place = tape.add("int", [index])
            count = LOADS[kernel]
            got = [tape.add("load_global", [place], request=row) for _ in range(count)]
            found = [tape.add("fp64", got)] if got else [place]
            if kernel == "read":
                tape.add("branch", found)
            else:
                tape.add("store_global", found, request=row)
            tape.add("exit")
    return tape.streams()


def rate(device, kernel, threads):
    """GB/s of all units together, once it is steady."""
    chip = hardware.get(device)
    machine = machine_of(chip, stores=kernel != "read")
    done = replay(blocks_of(kernel, threads // 32), machine, resident=2)
    block = float(done.begin[LAST] - done.begin[FIRST]) / (LAST - FIRST)
    moved = threads * 8 * MOVED[kernel] * chip.compute_units.si
    return moved * machine.clock / block / 1e9


def test_streams_of_few_and_many_threads_run_as_published():
    gaps = {kernel: [] for kernel in LOADS}
    with ROWS.open(encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            for kernel, found in gaps.items():
                ours = rate(row["device"], kernel, int(row["threads"]))
                ratio = ours / float(row[kernel])
                found.append(max(ratio, 1 / ratio))
    every = sorted(x for found in gaps.values() for x in found)
    for kernel, found in gaps.items():
        print(f"{kernel}: median factor {median(found):.2f}, worst {max(found):.2f}")
    assert len(every) > 120
    assert median(every) < 1.06 and every[int(0.9 * len(every))] < 1.15
    assert max(gaps["read"]) < 1.30 and every[-1] < 1.35
