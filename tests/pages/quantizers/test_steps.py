"""One token a case: its time is the same on every page of chapter 7, and a sum."""

import json
from statistics import median

import pytest
from _tools import leaves, said

from stacklib.pages import figures_of
from stacklib.pages.quantizers import (
    decode,
    formats,
    kv,
    quality,
    steps,
    training,
    weights,
)
from stacklib.pages.quantizers.files import runs
from stacklib.pages.quantizers.quality import ladders
from stacklib.quantity.files import PACKAGE
from stacklib.quantity.told import told

# what pages say of one case: format of the matrices, and bits of a weight
CASES = {
    "bf16": (16, "formats.wide quality.reading widths.wide worth.bf16"),
    "fp8_128x128": (8 + 32 / 128**2, "formats.narrow"),
    "int8_channel": (8, "integers.narrow"),
    "mxfp4": (4.25, "blocks.read"),
    "nvfp4": (4.5, "blocks.nv_read worth.nvfp4"),
    "int4_g128": (4.125, "gptq.read widths.step worth.int4"),
}
LAYER = 2 * 8192 * 8192 + 2 * 8192 * 1024 + 3 * 8192 * 28672
HEAD, TOKEN = 128256 * 8192, 2 * 2 * 8 * 128 * 80  # numbers; bytes of a token's cache


@pytest.fixture(scope="module")
def numbers():
    return said.numbers()


@pytest.mark.parametrize("dtype", CASES)
def test_a_case_has_one_time_wherever_it_is_said(dtype, numbers):
    """Layers in the format, head and cache in bf16, over eight bandwidths."""
    bits, names = CASES[dtype]
    read = 80 * LAYER * bits / 8 + 2 * HEAD + 4097 * TOKEN
    for name in names.split():
        found = numbers[name].quantity.si
        assert found == pytest.approx(steps.step(dtype).time.si, rel=1e-5), name
        assert found == pytest.approx(read / 8 / 3.35e12, rel=5e-4), name


def _store(name):
    path = PACKAGE / "tinylm/data/low_precision" / f"{name}.json"
    return json.loads(path.read_text("utf-8"))


def _scheme(name, field, method="round"):
    (row,) = (
        row
        for row in _store("schemes")["rows"]
        if (row["scheme"], row["method"]) == (name, method)
    )
    return row[field]


def _seeds(name, run, read):
    seeds = (_store(name)["runs"][run] if run else _store(name))["seeds"]
    return sum(map(read, seeds)) / len(seeds)


# What a page shows, and the same read from its file by hand.
MEASURED = {
    "loss": (lambda: quality.of("q4_k"), lambda: _scheme("q4_k", "loss")[0]),
    "end": (
        lambda: quality.of("q2_k", "probe", end="high"),
        lambda: _scheme("q2_k", "probe")[2],
    ),
    "bits": (lambda: weights.bits("q2_k"), lambda: _scheme("q2_k", "bits")),
    "gptq": (
        lambda: weights.loss("q2_k", "gptq"),
        lambda: _scheme("q2_k", "loss", "gptq")[0],
    ),
    "cache": (
        lambda: kv.loss(2, "both by token", "low"),
        lambda: next(
            row["loss"][1]
            for row in _store("kv")["rows"]
            if (row["key_bits"], row["value_bits"]) == (2, 2)
            and (row["key_axis"], row["value_axis"]) == ("token", "token")
        ),
    ),
    "behind": (
        lambda: training.behind("fp16"),
        lambda: (
            _seeds("fp8", "fp16", lambda seed: seed["held_out"][-1])
            - _seeds("fp8", "bf16", lambda seed: seed["held_out"][-1])
        ),
    ),
    "zeroed": (
        lambda: training.lost("fp16"),
        lambda: _seeds("fp8", "fp16", lambda seed: seed["backward"]["zeroed"]),
    ),
    "trained": (
        lambda: training.trained("int2"),
        lambda: _seeds("qat", "int2", lambda seed: seed["bits_per_byte"][-1]),
    ),
    "rounded": (
        lambda: training.control("int4"),
        lambda: _seeds("qat", "control", lambda seed: seed["then"]["int4"]),
    ),
    "adapted": (
        lambda: training.adapted("after"),
        lambda: _seeds("qlora", "", lambda seed: seed["bits_per_byte"]["after"][0]),
    ),
    "gap": (
        runs.gap,
        lambda: median(
            one["ours"][3]
            for row in figures_of.rows("gguf_texts")
            for one in row["apart"]
        ),
    ),
    "codes": (
        lambda: formats.encoded()[0]["codes that differ"],
        lambda: figures_of.rows("every_number")[0]["differ"],
    ),
    "perplexity": (
        lambda: ladders.rise("G-0063", "llama.cpp, Llama-3-70B"),
        lambda: figures_of.row("G-0063").value / figures_of.row("G-0069").value - 1,
    ),
    "product": (
        lambda: decode.published("int4_wo", 1).to("ms"),
        lambda: decode.row("int4_wo", 1).value,
    ),
}


@pytest.mark.parametrize("name", MEASURED)
def test_what_was_measured_says_so_and_where(name):
    """A stored loss is measured: its file, row and field are the leaf's key."""
    shown, by_hand = (make() for make in MEASURED[name])
    assert told(shown) == "measured"
    for leaf in shown.leaves():
        if leaf.kind == "measured":
            assert leaves.current(leaf.key) == pytest.approx(leaf.si, rel=1e-9)
    assert shown.value == pytest.approx(by_hand, rel=1e-9)
