"""What every scheme, method and cache of few bits costs the book's own model.

    python benchmarks/quantized_model.py schemes   # -> low_precision/schemes.json
    python benchmarks/quantized_model.py kv        # -> low_precision/kv.json

Held-out text, minimal pairs and cloze as `stacklib.tinylm.evaluate` has them, one
scheme after the other on one thread; twenty minutes. The results are data of the
package (`stacklib/tinylm/data/low_precision`), which `quantized.measured` reads.
"""

import sys
from typing import Any

import record

from stacklib.quantizers import schemes
from stacklib.sweep import progress
from stacklib.tinylm import load
from stacklib.tinylm.corpus import corpus, digest, evaluation_text
from stacklib.tinylm.perplexity import Interval, bits_per_byte, difference, score
from stacklib.tinylm.probe import Result, answers, cloze_items, pairs, sentence_cost
from stacklib.tinylm.quantized import STORE, layer_inputs, quantized
from stacklib.tinylm.quantized_kv import STORE as KV_STORE
from stacklib.tinylm.quantized_kv import bits_of, kv_scorer

SAMPLES = 24  # training documents whose first tokens calibrate
LOOKING = (
    "int4_g128",
    "int4_g128_asym",
    "nf4",
    "mxfp4",
    "q4_0",
    "q4_k",
    "q3_k",
    "q2_k",
)
CACHES = (
    *((b, b, k, v) for b in (8, 4, 3, 2) for k, v in (("channel", "token"),)),
    *((b, b, k, v) for b in (4, 2) for k, v in (("token", "token"),)),
    *((b, b, k, v) for b in (4, 2) for k, v in (("channel", "channel"),)),
    (4, 16, "channel", "token"),
    (16, 4, "channel", "token"),
    (2, 16, "channel", "token"),
    (16, 2, "channel", "token"),
)


def held_out() -> list[Any]:
    """The documents that `data/quality.json` was measured on."""
    return [document for document in corpus() if document.is_held_out]


def plain(interval: Interval) -> list[float]:
    """An interval as it is stored."""
    return [round(x, 6) for x in (interval.value, interval.low, interval.high)]


def answered(model: Any, items: list[Any]) -> tuple[list[bool], list[bool]]:
    """Every minimal pair and every cloze item, right or wrong."""
    right = [
        sentence_cost(model, pair.good) < sentence_cost(model, pair.bad)
        for pair in pairs()
    ]
    return right, [answers(model, item) for item in items]


def share(right: list[bool], chance: float) -> list[float]:
    """The share that is right, with its interval."""
    return plain(Result("", sum(right), len(right), chance).accuracy)


def all_schemes() -> list[dict[str, Any]]:
    """A row for bf16, then for every scheme, then for every method."""
    tiny, documents = load(), [d for d in corpus() if not d.is_held_out]
    held, step = held_out(), max(1, len(documents) // SAMPLES)
    inputs = layer_inputs(tiny, [d.text[:2000] for d in documents[::step][:SAMPLES]])
    items = list(cloze_items(evaluation_text(), tiny))
    first, before = score(tiny, held, tiny.tokenizer), answered(tiny, items)
    wanted = [(row.name, "round") for row in schemes()]
    wanted += [(name, way) for name in LOOKING for way in ("gptq", "awq")]
    rows = [
        row_of("bf16", "none", 2 * tiny.parameters, tiny, first, before, first, before)
    ]
    for name, way in progress(wanted, len(wanted), "schemes"):
        made = quantized(tiny, name, way, inputs if way != "round" else None)
        costs = score(made.model, held, tiny.tokenizer)
        after = answered(made.model, items)
        rows.append(row_of(name, way, made.nbytes, tiny, costs, after, first, before))
    return rows


def row_of(
    name: str,
    way: str,
    nbytes: int,
    tiny: Any,
    costs: list[Any],
    after: tuple[list[bool], list[bool]],
    first: list[Any],
    before: tuple[list[bool], list[bool]],
) -> dict[str, Any]:
    """One line of the table."""
    changed = [
        a != b
        for one, two in zip(after, before, strict=True)
        for a, b in zip(one, two, strict=True)
    ]
    return {
        "id": f"{name}, {way}",
        "scheme": name,
        "method": way,
        "nbytes": nbytes,
        "bits": round(8 * nbytes / tiny.parameters, 6),
        "bits_per_byte": plain(bits_per_byte(costs)),
        "loss": plain(difference(costs, first)),
        "probe": share(after[0], 0.5),
        "cloze": share(after[1], 0.25),
        "flipped": sum(changed),
    }


def all_caches() -> list[dict[str, Any]]:
    """A row for every way to keep the cache."""
    tiny, held = load(), held_out()
    first = score(tiny, held, tiny.tokenizer)
    rows = []
    for keys, values, key_axis, value_axis in progress(CACHES, len(CACHES), "caches"):
        scorer = kv_scorer(tiny, keys, values, key_axis, value_axis)
        costs = score(scorer, held, tiny.tokenizer)
        rows.append(
            {
                "id": f"keys of {keys} by {key_axis}, "
                f"values of {values} by {value_axis}",
                "key_bits": keys,
                "value_bits": values,
                "key_axis": key_axis,
                "value_axis": value_axis,
                "bits": (bits_of(keys) + bits_of(values)) / 2,
                "bits_per_byte": plain(bits_per_byte(costs)),
                "loss": plain(difference(costs, first)),
            }
        )
    return rows


if __name__ == "__main__":
    ways = {"schemes": (STORE, all_schemes), "kv": (KV_STORE, all_caches)}
    if len(sys.argv) != 2 or sys.argv[1] not in ways:
        raise SystemExit(f"one of {', '.join(ways)}")
    path, run = ways[sys.argv[1]]
    found = {
        "date": record.today(),
        "text": digest(held_out()),
        "rows": run(),
    }
    record.write(path, found)
