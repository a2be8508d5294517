"""The book's own models on this machine: what ``tinylm`` predicts, line by line."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from stacklib.models import operations
from stacklib.quantity import explain
from stacklib.roofline import HostRoofline
from stacklib.serving import account
from stacklib.serving.token.shape import ATTENTION, HEAD, NORMS, PRODUCTS
from stacklib.serving.token.work import LAUNCHES
from stacklib.tinylm.config import DATA, NAMES, architecture, read_config
from stacklib.tinylm.decode_step import decode_time, prefill_time

HERE = {"on": "this-machine"}
HOST = HostRoofline.of_this_machine()


@pytest.mark.rows("name", NAMES)
def test_lines_are_those_of_the_decode_step(name):
    config = read_config(DATA / name / "config.json")
    for case, due in (
        ({"context": 128}, decode_time(config, 128, HOST)),
        ({}, decode_time(config, config.max_position_embeddings - 1, HOST)),
        ({"prompt": 512}, prefill_time(config, 512, HOST)),
    ):
        found = account(name, **HERE, **case)
        assert found.missing() == ()
        assert found.total().si == pytest.approx(due.time.si, rel=1e-12)
        assert found[LAUNCHES].time.si == due.calls.si
        three = [found[line] for line in (PRODUCTS, ATTENTION, HEAD)]
        assert sum(x.operations.si for x in three) == due.operations.si
        assert sum(x.bytes.si + x.beside.si for x in three) == due.bytes.si
        plain = account(name, **HERE, batch=1.0, mode="calibrated", **case)
        for told, one in zip(found.lines, plain.lines, strict=True):
            assert (told.time is None) == (one.time is None)
            assert one.time is None or told.time.si == pytest.approx(one.time)
        assert "bare" not in explain(found.total())


def test_lines_hold_what_they_cover():
    found = account("tiny", **HERE, context=128)
    line_of = {(c.part, c.name): x.name for x in found.lines for c in x.covers}
    held: Counter[tuple[str, str]] = Counter()
    for op in operations(
        architecture("tiny"), "decode", context=128, dtype="fp32", kv_dtype="fp32"
    ):
        line = line_of[op.part, op.name]
        held[line, "bytes"] += op.bytes
        held[line, "operations"] += op.flops
    for name in (PRODUCTS, ATTENTION, NORMS, HEAD):
        assert found[name].bytes.si == held[name, "bytes"]
        assert found[name].operations.si == held[name, "operations"]


def test_a_model_of_the_book_is_named_and_runs_on_other_chips_too():
    same = {
        account(model, **HERE, context=128).total().si
        for model in ("tiny", "Tiny", "tinylm-tiny", architecture("tiny"))
    }
    assert len(same) == 1
    chip = account("draft-plain", "h100", context=128)
    assert chip.missing() == () and chip.total().si < min(same)


@pytest.mark.rows(
    "change, words",
    [
        ({"tp": 2}, "tp = 2"),
        ({"ep": 2}, "ep = 2"),
        ({"batch": 4.0}, "batch = 4"),
        ({"batch": np.array([1.0, 2.0])}, "batch = "),
        ({"context": np.array([1.0, 2.0])}, "not a sweep"),
        ({"context": 512}, "512 cached and 1 new tokens: 1 to 512"),
        ({"context": 4096}, "4096 cached"),
        ({"prompt": 513}, "513 new tokens"),
        ({"dtype": "int8"}, "dtype = 'int8': NumPy keeps all in fp32"),
        ({"kv_dtype": "fp8"}, "kv_dtype = 'fp8'"),
        ({"model": "gpt2-124m", "dtype": "fp32"}, "book's own models only"),
        ({"model": "tinny"}, "unknown model"),
        ({"software": "nccl"}, "unknown software"),
    ],
)
def test_what_numpy_does_not_do_here_is_refused(change: dict[str, Any], words: str):
    with pytest.raises((ValueError, LookupError), match=words):
        account(**{"model": "tiny", **HERE, **change})
