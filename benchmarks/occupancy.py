"""Occupancy against CUDA's own calculator, case by case.

    python benchmarks/occupancy.py                 # -> results/occupancy.json
    python benchmarks/occupancy.py --include DIR   # where cuda_occupancy.h is

The peer is NVIDIA's header ``cuda_occupancy.h``, which comes with the CUDA toolkit and
is not ours to ship; ``occupancy.cpp`` is compiled against it. What a unit has, it is
told from the hardware database (threads, shared memory), not from the table that
``stacklib.gpu.occupancy`` uses; its rules, block limits and granularities are its own.
A disagreement is a case with another number of blocks, or with a limiter that the
calculator does not name.
"""

import argparse
import itertools
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import record

from stacklib import hardware
from stacklib.gpu.issue.occupancy import Occupancy, occupancy
from stacklib.hardware.this_machine import read_machine

STEM = "occupancy"
PLACES = ("/usr/local/cuda/include", "/usr/include", "/opt/cuda/include")
VECTORS = record.HERE.parent / "tests" / "gpu" / "issue" / "occupancy_cuda.json"
SEED, RANDOM = 20261122, 10_000  # random cases a capability

DEVICES = {
    "7.0": "v100_sxm2_32gb",
    "7.5": "t4",
    "8.0": "a100_sxm_80gb",
    "8.6": "rtx_3090",
    "8.7": "jetson_agx_orin_64",
    "8.9": "rtx_4090",
    "9.0": "h100_sxm",
    "10.0": "b200_sxm",
    "10.3": "b300_sxm",
    "11.0": "jetson_agx_thor",
    "12.0": "rtx_5090",
    "12.1": "dgx_spark_gb10",
}
THREADS = (1, 32, 33, 64, 96, 128, 160, 192, 256, 257, 320, 384, 512, 513, 640, 768,
           992, 1024)  # fmt: skip
REGISTERS = (1, 8, 16, 24, 25, 32, 33, 40, 41, 48, 56, 64, 65, 72, 80, 96, 104, 112,
             128, 129, 160, 168, 200, 255)  # fmt: skip
SHARED = (0, 1, 100, 127, 128, 129, 255, 257, 1023, 1025, 2048, 3072, 4097, 7777, 8192,
          12289, 16384, 20000, 24576, 32768, 33000, 40000, 49152, 49153, 57344, 65536,
          65537, 73728, 98304, 99999, 101376, 101377, 115000, 131072, 166912, 166913,
          200001, 232448, 232449)  # fmt: skip
BITS = {"warps": 1, "registers": 2, "shared memory": 4, "blocks": 8}
Case = tuple[int, int, int]
Answer = tuple[int, int]


def cases(capability: str) -> list[Case]:
    """Threads, registers and shared bytes: the grid, and random ones."""
    draw = random.Random(f"{SEED} {capability}")
    most = int(hardware.get(DEVICES[capability]).shared_per_unit.to("B").value)
    drawn = [
        (draw.randint(1, 1024), draw.randint(1, 255), draw.randint(0, most))
        for _ in range(RANDOM)
    ]
    return [*itertools.product(THREADS, REGISTERS, SHARED), *drawn]


def find_header(folder: str | None) -> Path:
    """The folder that holds the calculator."""
    for place in [folder] if folder else PLACES:
        if (Path(place) / "cuda_occupancy.h").is_file():
            return Path(place)
    where = folder or ", ".join(PLACES)
    raise SystemExit(f"no cuda_occupancy.h in {where}: say where with --include DIR")


def compile_driver(include: Path, folder: Path) -> Path:
    """Our driver, compiled against the calculator."""
    program = folder / "occupancy"
    source = record.HERE / "occupancy.cpp"
    command = ["g++", "-O2", "-I", include, source, "-o", program]
    subprocess.run(command, check=True)
    return program


def ask(program: Path, capability: str, wanted: list[Case]) -> list[Answer]:
    """The calculator's blocks and limiting bits, a case each."""
    device = hardware.get(DEVICES[capability])
    major, minor = capability.split(".")
    unit = int(device.shared_per_unit.to("B").value)
    reserve = 1024 if int(major) >= 8 else 0  # by the driver, CUDA programming guide
    head = [
        major,
        minor,
        int(device.max_threads_per_unit.value),
        unit,
        unit - reserve,
        reserve,
        len(wanted),
    ]
    lines = [" ".join(map(str, row)) for row in (head, *wanted)]
    done = subprocess.run(
        [program], input="\n".join(lines), text=True, check=True, capture_output=True
    )
    answers = [line.split() for line in done.stdout.splitlines()]
    return [(int(blocks), int(bits)) for blocks, bits in answers]


def ours(capability: str, case: Case) -> Occupancy:
    """What this project says."""
    threads, registers, shared = case
    return occupancy(
        threads=threads,
        registers=registers,
        shared_bytes=shared,
        device=DEVICES[capability],
    )


def differ(found: Occupancy, answer: Answer) -> bool:
    """Whether blocks differ, or the limiter is none that the calculator names."""
    blocks, bits = answer
    return found.blocks != blocks or not BITS[found.limiter] & bits


def compare(
    capability: str, wanted: list[Case], answers: Iterable[Answer]
) -> dict[str, Any]:
    """A row of the result: cases, by limiter, and those that differ."""
    limiters: Counter[str] = Counter()
    off = []
    for case, answer in zip(wanted, answers, strict=True):
        found = ours(capability, case)
        limiters["does not fit" if not found.blocks else found.limiter] += 1
        if differ(found, answer):
            off.append(
                {"case": case, "ours": [found.blocks, found.limiter], "cuda": answer}
            )
    return {
        "id": capability,
        "device": DEVICES[capability],
        "cases": len(wanted),
        "random": RANDOM,
        "by_limiter": dict(sorted(limiters.items())),
        "disagreements": len(off),
        "first": off[:20],
    }


def sample(capability: str, wanted: list[Case], answers: list[Answer]) -> list[Any]:
    """A few cases of each limiter, for those without the calculator."""
    kept: dict[tuple[int, bool], list[Any]] = {}
    order = random.Random(SEED).sample(range(len(wanted)), len(wanted))
    for i in order:
        blocks, bits = answers[i]
        row = kept.setdefault((bits, not blocks), [])
        if len(row) < 3:
            row.append([*wanted[i], blocks, bits])
    return sorted(itertools.chain.from_iterable(kept.values()))


def compiler() -> str:
    """The compiler's own line about itself."""
    said = subprocess.run(
        ["g++", "--version"], capture_output=True, text=True, check=True
    )
    return said.stdout.splitlines()[0]


def toolkit(include: Path) -> str:
    """Version of the CUDA toolkit whose header it is."""
    found = include / "cuda.h"
    text = found.read_text(encoding="utf-8", errors="replace") if found.exists() else ""
    number = re.search(r"#define\s+CUDA_VERSION\s+(\d+)", text)
    return f"{int(number[1]) // 1000}.{int(number[1]) % 1000 // 10}" if number else "?"


def measure(include: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The result, and the sample for the tests."""
    rows, vectors = [], {}
    with tempfile.TemporaryDirectory() as folder:
        program = compile_driver(include, Path(folder))
        for capability in DEVICES:
            wanted = cases(capability)
            answers = ask(program, capability, wanted)
            started = time.perf_counter()
            row = compare(capability, wanted, answers)
            rows.append(row | {"times_s": [time.perf_counter() - started]})
            vectors[capability] = sample(capability, wanted, answers)
            print(
                f"{capability:>5}: {len(wanted)} cases, "
                f"{rows[-1]['disagreements']} disagree"
            )
    machine = read_machine()
    result = {
        "kind": STEM,
        "device": machine.text(),
        "driver": "none",
        "clocks": "not controlled: times are only those of the whole comparison",
        "versions": {
            "cuda toolkit": toolkit(include),
            "compiler": compiler(),
            "python": sys.version.split()[0],
        },
        "date": record.today(),
        "machine": machine.as_dict(),
        "prediction": None,
        "why_no_prediction": "held equal to a named peer, case by case",
        "seed": SEED,
        "rows": rows,
    }
    return result, vectors


def main() -> int:
    """Compare everywhere and write the result; 1 where a case disagrees."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--include", help="folder of cuda_occupancy.h")
    result, vectors = measure(find_header(parser.parse_args().include))
    path = record.result_path(record.HERE / "results", STEM, record.today())
    record.write(path, result)
    lines = [f'"{key}": {json.dumps(rows)}' for key, rows in vectors.items()]
    VECTORS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"wrote {path}")
    return int(any(row["disagreements"] for row in result["rows"]))


if __name__ == "__main__":
    raise SystemExit(main())
