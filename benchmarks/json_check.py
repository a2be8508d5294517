"""Checking answers of tools as JSON: how many a second a core does.

    python benchmarks/json_check.py   # -> results/json_check.json

By the automaton that the engine masks tokens with, with its stack, byte by byte in
Python, and by Python's own parser, which is C. Both are given the same texts, of which
some are no JSON, and have to agree on every one.
"""

import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import host_common

from stacklib.roofline.host import measure as host
from stacklib.serving.agentic.offload import CHECKS, SIZES
from stacklib.serving.masks.masks import json_grammar

STEM = "json_check"
ROUNDS, TEXTS = 7, 8  # texts of each size; the last is cut off and so no JSON
LEAST_S = 0.01  # a round goes on as long
WORDS = "path line name match score error value stdout code file".split()


def answer(size: int, draw: random.Random) -> bytes:
    """A tool's answer of so many bytes: matches in files, as an object of objects."""
    found: list[Any] = []
    while True:
        found.append({word: value(draw) for word in draw.sample(WORDS, 3)})
        text = json.dumps({"results": found, "more": ""}).encode()
        if len(text) > size:
            found.pop()
            short = size - len(json.dumps({"results": found, "more": ""}))
            return json.dumps({"results": found, "more": "x" * short}).encode()


def value(draw: random.Random) -> Any:
    """One of the kinds that JSON has."""
    kind = draw.randrange(4)
    if kind == 0:
        return draw.randrange(10_000)
    if kind == 1:
        return round(draw.random(), 4)
    if kind == 2:
        return [draw.random() < 0.5, None]
    return " ".join(draw.choices(WORDS, k=4))


def texts(size: int) -> list[bytes]:
    """Answers of one size, the last of them cut off inside."""
    draw = random.Random(size)
    made = [answer(size, draw) for _ in range(TEXTS)]
    return [*made[:-1], made[-1][: size - 1] + b" "]


def parsed(text: bytes) -> bool:
    """Whether Python's parser takes it."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def checks() -> dict[str, Callable[[bytes], bool]]:
    """Each way to check, by name."""
    grammar = json_grammar()
    return dict(zip(CHECKS, (parsed, grammar.matches), strict=True))


def seconds(check: Callable[[bytes], bool], given: Sequence[bytes]) -> float:
    """CPU seconds of one text, over as many rounds as take ``LEAST_S``."""
    began, done = time.process_time(), 0
    while True:
        for text in given:
            check(text)
        done += len(given)
        took = time.process_time() - began
        if took >= LEAST_S:
            return took / done


def measure(sizes: Sequence[int] = SIZES, rounds: int = ROUNDS) -> dict[str, Any]:
    """All sizes, the ways in turn."""
    watch, rows = host.Watch(), []
    ways = checks()
    for size in sizes:
        given = texts(size)
        valid = {name: [check(text) for text in given] for name, check in ways.items()}
        if len({tuple(each) for each in valid.values()}) != 1:
            raise SystemExit(f"they disagree on texts of {size} bytes: {valid}")
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(rounds):
            for name, check in ways.items():
                times[name].append(seconds(check, given))
        rows += [
            {
                "id": f"{name} {size}",
                "bytes": size,
                "valid": sum(valid[name]),
                "times_s": each,
            }
            for name, each in times.items()
        ]
    return host_common.head(
        STEM,
        None,
        watch,
        rows=rows,
        why_no_prediction="what a core does, to be held against a claim of a card",
    )


def main() -> int:
    """Measure, show and write."""
    result = measure()
    for row in result["rows"]:
        took = sorted(row["times_s"])[len(row["times_s"]) // 2]
        print(f"{row['id']:16} {1e6 * took:9.1f} us, {1 / took:9.0f} a second")
    host_common.save(host_common.HERE, STEM, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
