"""The block allocator against nano-vllm's block manager, one core, in one run.

    git clone https://github.com/GeeeekExplorer/nano-vllm    # at bb823b3
    pip install xxhash                              # the peer's, not ours
    python benchmarks/block_manager.py NANO_VLLM    # -> results/block_manager.json

Requests of 512 tokens and 256 appends, one call each, in 100,000 blocks of 16; in the
second case all begin with the same 384. nano-vllm is called as its scheduler calls it,
but hashes only where a block is full, which is its fastest. Both find by hash and
compare contents, and must find the same.

vLLM is not run. What was recorded for it elsewhere is brought to this machine by
nano-vllm's rate, recorded beside it there and measured here.
"""

import argparse
import random
import sys
import types
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import host_common
import record

from stacklib.paged_kv import BlockAllocator
from stacklib.roofline.host import measure as host

STEM = "block_manager"
REQUESTS, PROMPT, APPENDS, BLOCKS, SIZE = 500, 512, 256, 100_000, 16
# Tokens that prompts share, different ones of them, and blocks of the pool. In the last
# case the pool is full, so that what is found depends on what left first.
CASES = {
    "unshared": (0, 1, BLOCKS),
    "384 shared": (384, 1, BLOCKS),
    "full pool": (384, 10, 400),
}
ROUNDS = {"unshared": 15, "384 shared": 3, "full pool": 15}  # the peer takes seconds
# Requests a second on the machine of 2026-11-21: vLLM 0.33 with sha256, nano-vllm.
RECORDED = {"vLLM, 384 shared": 812.0, "nano-vllm, unshared": 5517.0}
MANAGER = "nanovllm/engine/block_manager.py"
Work = list[tuple[list[int], list[int]]]


def work(shared: int, different: int = 1) -> Work:
    """Prompts, and the tokens appended to each."""
    draw = random.Random(0)
    heads = [[draw.randrange(150_000) for _ in range(shared)] for _ in range(different)]
    rest = PROMPT - shared
    return [
        (
            draw.choice(heads) + [draw.randrange(150_000) for _ in range(rest)],
            [draw.randrange(150_000) for _ in range(APPENDS)],
        )
        for _ in range(REQUESTS)
    ]


def ours(requests: Work, blocks: int = BLOCKS) -> tuple[float, int]:
    """Seconds, and tokens found."""
    pool = BlockAllocator(blocks, SIZE)
    append = pool.append
    began = perf_counter()
    for prompt, answer in requests:
        sequence = pool.allocate(prompt)
        assert sequence
        for token in answer:
            append(sequence, token)
        pool.free(sequence)
    return perf_counter() - began, pool.stats().hit


def import_peer(folder: Path) -> tuple[Any, Any]:
    """nano-vllm's manager and sequence, without its package's ``__init__``."""
    for name in ("nanovllm", "nanovllm.engine"):
        package = types.ModuleType(name)
        package.__path__ = [str(folder / name.replace(".", "/"))]
        sys.modules[name] = package
    from nanovllm.engine.block_manager import BlockManager
    from nanovllm.engine.sequence import Sequence

    Sequence.block_size = SIZE
    return BlockManager, Sequence


def peer(
    requests: Work, manager: Any, sequence: Any, blocks: int = BLOCKS
) -> tuple[float, int]:
    """The same by nano-vllm."""
    pool, found = manager(blocks, SIZE), 0
    began = perf_counter()
    for prompt, answer in requests:
        one = sequence(prompt)
        pool.allocate(one, pool.can_allocate(one))
        found += one.num_cached_tokens
        one.num_scheduled_tokens = one.num_tokens - one.num_cached_tokens
        pool.hash_blocks(one)
        for token in answer:
            one.append_token(token)
            if pool.can_append(one):
                pool.may_append(one)
            if len(one) % SIZE == 0:
                one.num_cached_tokens, one.num_scheduled_tokens = len(one) - SIZE, SIZE
                pool.hash_blocks(one)
        pool.deallocate(one)
    return perf_counter() - began, found


def case(which: str, parts: tuple[Any, Any]) -> list[dict[str, Any]]:
    """Both on the same requests, in turn, so that other work meets both."""
    *prompts, blocks = CASES[which]
    requests = work(*prompts)
    calls = {
        "stacklib": lambda: ours(requests, blocks),
        "nano-vllm": lambda: peer(requests, *parts, blocks),
    }
    times: dict[str, list[float]] = {who: [] for who in calls}
    found = {}
    for _ in range(ROUNDS[which]):
        for who, call in calls.items():
            took, found[who] = call()
            times[who].append(took)
    if found["stacklib"] != found["nano-vllm"]:
        raise SystemExit(f"{which}: they find different tokens: {found}")
    return [
        {
            "id": f"{which}, {who}",
            "case": which,
            "by": who,
            "requests": REQUESTS,
            "hit_rate": found[who] / (REQUESTS * PROMPT),
            "times_s": took,
        }
        for who, took in times.items()
    ]


def ratios(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Our rate over each peer's, vLLM's as recorded and brought here."""
    rate = {r["id"]: r["requests"] / median(r["times_s"]) for r in rows}
    here = rate["unshared, nano-vllm"] / RECORDED["nano-vllm, unshared"]
    vllm = RECORDED["vLLM, 384 shared"] * here
    found = {
        f"{case}, nano-vllm": rate[f"{case}, stacklib"] / rate[f"{case}, nano-vllm"]
        for case in CASES
    }
    ours = rate["384 shared, stacklib"]
    return {**found, "384 shared, vLLM (not re-run)": ours / vllm}


def measure(folder: Path) -> dict[str, Any]:
    """Both cases, and what came of the bars."""
    watch = host.Watch()
    parts = import_peer(folder)
    rows = [row for which in CASES for row in case(which, parts)]
    found = ratios(rows)
    for which, ratio in found.items():
        print(f"{ratio:7.2f} times the speed: {which}")
    return host_common.head(
        STEM,
        None,
        watch,
        driver="none",
        rows=rows,
        ratios=found,
        recorded=RECORDED,
        peer={"file": MANAGER, "sha256": record.sha256(folder / MANAGER)},
        why_no_prediction="a comparison of speed with a named peer in one run",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nano_vllm", type=Path, help="a checkout of nano-vllm")
    result = measure(parser.parse_args().nano_vllm)
    host_common.save(host_common.HERE, STEM, result)
