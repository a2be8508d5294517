"""The prefix tree against SGLang's recorded rates; its hits against mini-sglang's.

    git clone https://github.com/GeeeekExplorer/nano-vllm
    git clone https://github.com/sgl-project/mini-sglang
    pip install xxhash torch
    python benchmarks/prefix_tree.py NANO_VLLM MINI_SGLANG   # -> results/

2,000 sequences of 512 tokens in 20 groups that share 384: each is matched, then
inserted, with pages of 1 and of 16. SGLang 0.5 is not run: what was recorded for it
elsewhere is brought to this machine by nano-vllm's rate, recorded beside it there and
measured here in turn with the tree. mini-sglang's tree is run for its hits, on a fuzzed
trace; its compiled comparison is replaced by torch's, so its speed is not shown.
"""

import argparse
import random
import sys
import types
from array import array
from itertools import takewhile
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from typing import Any

import block_manager
import host_common
import record

from stacklib.paged_kv import PrefixTree
from stacklib.roofline.host import measure as host

STEM = "prefix_tree"
SEQUENCES, GROUPS, LENGTH, SHARED = 2000, 20, 512, 384
PAGES, ROUNDS = (1, 16), 9
# Calls a second on the machine of 2026-11-21, SGLang 0.5.23, page 1 and 16.
RECORDED = {
    "match, page 1": 121e3,
    "insert, page 1": 59.9e3,
    "match, page 16": 99e3,
    "insert, page 16": 60.4e3,
}
RADIX = "minisgl/kvcache/radix_cache.py"


def sequences() -> list["array[int]"]:
    """Tokens as both trees are given them: arrays."""
    draw = random.Random(0)
    heads = [[draw.randrange(150_000) for _ in range(SHARED)] for _ in range(GROUPS)]
    own = LENGTH - SHARED
    return [
        array("q", [*heads[n % GROUPS], *(draw.randrange(150_000) for _ in range(own))])
        for n in range(SEQUENCES)
    ]


def ours(page: int, texts: list["array[int]"]) -> tuple[dict[str, list[int]], int]:
    """Nanoseconds of every call, and tokens found."""
    tree, found, clock = PrefixTree(page), 0, perf_counter_ns
    spent: dict[str, list[int]] = {"match": [], "insert": []}
    for number, text in enumerate(texts):
        blocks = list(range(number * LENGTH // page, (number + 1) * LENGTH // page))
        began = clock()
        found += tree.match(text).tokens
        between = clock()
        tree.insert(text, blocks)
        spent["match"].append(between - began)
        spent["insert"].append(clock() - between)
    return spent, found


def speeds(parts: tuple[Any, Any]) -> list[dict[str, Any]]:
    """Seconds of a call, the mean of each round, with the peer's between rounds."""
    texts, requests = sequences(), block_manager.work(0)
    rows: dict[str, list[float]] = {what: [] for what in RECORDED}
    nano, hits = [], {}
    for _ in range(ROUNDS):
        for page in PAGES:
            spent, hits[page] = ours(page, texts)
            for what, took in spent.items():
                rows[f"{what}, page {page}"].append(sum(took) / len(took) / 1e9)
        nano.append(block_manager.peer(requests, *parts)[0])
    found = [
        {"id": what, "by": "stacklib", "times_s": took, "found": hits[page]}
        for what, took in rows.items()
        for page in PAGES
        if what.endswith(f" {page}")
    ]
    alone = {"id": "nano-vllm, unshared", "by": "nano-vllm", "times_s": nano}
    return [*found, alone | {"requests": len(requests)}]


def ratios(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Our rate over SGLang's recorded one, brought here."""
    nano = rows[-1]["requests"] / median(rows[-1]["times_s"])
    here = nano / block_manager.RECORDED["nano-vllm, unshared"]
    return {
        row["id"]: 1 / median(row["times_s"]) / (RECORDED[row["id"]] * here)
        for row in rows[:-1]
    }


def import_peer(folder: Path, page: int) -> Any:
    """mini-sglang's tree, its compiled comparison replaced by torch's."""
    import torch

    def compared(x: Any, y: Any) -> int:
        n = min(len(x), len(y))
        return len(list(takewhile(bool, (x[:n] == y[:n]).tolist())))

    def module(name: str, **names: Any) -> None:
        sys.modules[name] = made = types.ModuleType(name)
        made.__dict__.update(names)
        made.__path__ = [str(folder / "python" / name.replace(".", "/"))]

    context = types.SimpleNamespace(page_size=page)
    module("minisgl")
    module("minisgl.kvcache")
    module("minisgl.core", get_global_ctx=lambda: context)
    module("minisgl.utils", align_down=lambda n, by: n // by * by)
    module("minisgl.kernel", fast_compare_key=compared)
    sys.modules.pop("minisgl.kvcache.radix_cache", None)
    from minisgl.kvcache.radix_cache import RadixPrefixCache

    return RadixPrefixCache(torch.device("cpu"))


def fuzzed(folder: Path, page: int, operations: int = 20_000) -> dict[str, int]:
    """Random beginnings matched and inserted by both; each must find what both find."""
    import torch

    peer, tree, draw = import_peer(folder, page), PrefixTree(page), random.Random(page)
    found = {"operations": operations, "asked": 0, "hit": 0}
    known: list[list[int]] = [[]]
    for _ in range(operations):
        old = draw.choice(known)
        text = old[: draw.randrange(len(old) + 1)]
        text = text + [draw.randrange(3) for _ in range(draw.randrange(60))]
        ids = torch.tensor(text, dtype=torch.int32)
        if draw.random() < 0.5:
            mine, theirs = tree.match(text).tokens, peer.match_prefix(ids)
            theirs = theirs.cuda_handle.cached_len
        else:
            mine = tree.insert(text)
            theirs = peer.insert_prefix(ids, ids).cached_len
            known = [*known[-200:], text]
        if mine != theirs:
            raise SystemExit(f"page {page}: {mine} tokens, the peer {theirs}: {text}")
        found["asked"] += len(text)
        found["hit"] += mine
    return found


def measure(nano: Path, mini: Path) -> dict[str, Any]:
    """Speeds, hits, and what came of the bars."""
    watch = host.Watch()
    rows = speeds(block_manager.import_peer(nano))
    found = ratios(rows)
    for which, ratio in found.items():
        print(f"{ratio:6.2f} times SGLang's recorded speed, brought here: {which}")
    equal = {f"page {page}": fuzzed(mini, page) for page in PAGES}
    print(f"equal hits: {equal}")
    return host_common.head(
        STEM,
        None,
        watch,
        driver="none",
        rows=rows,
        ratios=found,
        recorded=RECORDED,
        equal_hits=equal,
        peer={"file": RADIX, "sha256": record.sha256(mini / "python" / RADIX)},
        why_no_prediction="a comparison of speed with a named peer in one run",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nano_vllm", type=Path, help="a checkout of nano-vllm")
    parser.add_argument("mini_sglang", type=Path, help="a checkout of mini-sglang")
    given = parser.parse_args()
    result = measure(given.nano_vllm, given.mini_sglang)
    host_common.save(host_common.HERE, STEM, result)
