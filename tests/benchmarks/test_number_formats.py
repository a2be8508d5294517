"""Speeds beside peers, and texts beside llama.cpp: what the stored results hold."""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest
import record

from stacklib.quantizers.gguf_file import TYPES
from stacklib.tinylm import load
from stacklib.tinylm.gguf_model import as_llama_cpp, continued
from stacklib.tinylm.quantized import quantized

RESULTS = Path(record.__file__).parent / "results"


def stored(name: str) -> dict:
    return json.loads((RESULTS / f"{name}.json").read_text())


@pytest.mark.rows(
    ("name", "missed"),
    [("quantize", set()), ("q4_k", set())],
)
def test_ratios_are_those_of_the_medians_and_misses_are_named(name, missed):
    for row in stored(name)["rows"]:
        ratio = np.median(row["peer_times_s"]) / np.median(row["times_s"])
        assert row["ratio"] == pytest.approx(ratio, abs=6e-4)
        assert row["equal"].startswith(("0 of", "RMSE"))
        assert (row["ratio"] < row["bar"]) == (row["id"] in missed), row["id"]


def test_the_grid_names_the_best_peer_of_every_cell():
    *cells, total = stored("codec_grid")["rows"]
    for row in cells:
        pairs = np.divide(row["peer_times_s"], row["times_s"])
        assert row["ratio"] == pytest.approx(np.median(pairs), abs=6e-4)
        assert 9 <= len(pairs) <= 99
        assert row["bar"] == (0.5 if row["numbers"] == 1 << 10 else 1)
    large = [row["ratio"] for row in cells if row["numbers"] >= 1 << 16]
    assert (total["least"], total["cells"]) == (min(large), len(large))
    assert total["median"] == pytest.approx(np.median(large))
    assert total["under"] == sum(row["ratio"] < row["bar"] for row in cells)
    # who has our bits is the peer, where anybody has them; the others are told apart
    wrong = [row for row in cells if "wrong" in row]
    assert wrong and all(row["differ"] == 0 < row["wrong"]["differ"] for row in wrong)
    sizes = {row["numbers"] for row in cells}
    assert sizes == {1 << 10, 1 << 16, 1 << 20, 1 << 24} and len(cells) == 4 * 80


def test_every_number_of_fp32_has_the_code_of_the_libraries():
    """All were encoded once; the formats are those that have an oracle."""
    rows, bench = (
        stored("every_number")["rows"],
        importlib.import_module("every_number"),
    )
    pairs = {(row["format"], row["peer"]) for row in rows}
    theirs = {(name, "ml_dtypes") for name in bench.BY_ML_DTYPES if name != "fp16"}
    assert pairs == theirs | {
        ("fp16", "NumPy"),
        *((n, "torch") for n in bench.BY_TORCH),
    }
    assert all(row["numbers"] == 1 << 32 and row["differ"] == 0 for row in rows)


def test_our_decoder_repeats_what_was_recorded_beside_llama_cpp():
    table = {row["id"]: row for row in stored("gguf_texts")["rows"]}
    assert set(table) == set(TYPES)
    bench, tiny = importlib.import_module("gguf_texts"), load()
    reads = bench.prompts()
    assert len(reads) == bench.PROMPTS == 20
    for name in ("q4_0", "q4_k"):
        row = table[name]
        parted = {each["prompt"]: each["step"] for each in row["apart"]}
        ours, _ = continued(quantized(tiny, name), reads[0], 12)
        same = min(parted.get(0, bench.TOKENS), 12)
        assert ours[:same] == row["first"][:same]
    for row in table.values():
        assert row["equal"] == row["prompts"] - len(row["apart"])
        for each in row["apart"]:  # both hold the other's token for nearly as likely
            gaps = each["ours"][3] + each["theirs"][3]
            assert 0 <= gaps <= 2 * row["farthest_logit"] + 1e-4
    exact = as_llama_cpp(quantized(tiny, "q8_0")).logits(reads[0])
    assert np.abs(exact - tiny.logits(reads[0])).max() < 1
