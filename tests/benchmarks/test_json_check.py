"""Checking JSON on a core: what is read, that both agree, and the stored rows."""

import importlib
import json
import random
from pathlib import Path

import record

from stacklib.serving.agentic.offload import CHECKS, FILE, SIZES


def test_answers_have_their_size_and_the_last_is_no_json():
    bench = importlib.import_module("json_check")
    for size in (64, 256):
        texts = bench.texts(size)
        assert {len(text) for text in texts} == {size}
        ways = [[check(text) for text in texts] for check in bench.checks().values()]
        assert ways[0] == ways[1] == [True] * (len(texts) - 1) + [False]
    assert bench.answer(200, random.Random(1)) == bench.answer(200, random.Random(1))


def test_every_size_is_stored_each_way():
    stored = json.loads((Path(record.__file__).parents[1] / FILE).read_text())
    rows = {row["id"]: row for row in stored["rows"]}
    assert set(rows) == {f"{check} {size}" for check in CHECKS for size in SIZES}
    assert all(row["valid"] == 7 and min(row["times_s"]) > 0 for row in rows.values())
