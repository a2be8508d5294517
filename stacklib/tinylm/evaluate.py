"""Everything that is said of the models' quality, measured anew into one file.

    python -m stacklib.tinylm.evaluate    # two minutes -> data/quality.json

Held-out text needs a Python whose text was read before (`corpus.accepted`). The
baselines see the same training text as the models: a Kneser-Ney 5-gram of the same
tokens, and one of bytes, both with discounts tuned on a sixteenth of that text and
then counted on all of it.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from stacklib.sweep import progress

from . import corpus
from .acceptance import acceptance
from .config import NAMES, shapes
from .corpus import Document
from .model import TinyLM, load
from .ngram import NGram
from .perplexity import (
    Interval,
    Score,
    bits_per_byte,
    difference,
    ngram_scorer,
    perplexity,
    score,
)
from .probe import probe
from .recipes import probe_places
from .record import QUALITY
from .sampling import Sampling
from .tokenizer import Tokenizer

ORDER = 5
TUNED_ON = 16  # one training document in this many tunes the discounts
DRAFTS = ("draft", "draft_plain")
COOL = 0.8  # the temperature that `generate` draws at


def untrained(like: TinyLM) -> TinyLM:
    """A model of the same sizes as it was before its first step."""
    random = np.random.default_rng(0)
    weights = {
        name: np.ones(shape, np.float32)
        if len(shape) == 1
        else random.normal(0, 0.02, shape).astype(np.float32)
        for name, shape in shapes(like.config).items()
    }
    return dataclasses.replace(like, weights=weights)


def baseline(documents: Sequence[Document], tokenizer: Tokenizer) -> NGram:
    """A tuned Kneser-Ney model of a tokenizer's ids of some documents."""
    kept: list[Document] = []
    tuning: list[Document] = []
    for document in documents:
        name = hashlib.sha256(document.name.encode()).digest()
        (tuning if name[1] % TUNED_ON == 0 else kept).append(document)

    def stream(some: Sequence[Document]) -> np.ndarray:
        ids: list[int] = []
        for document in some:
            ids += [*tokenizer.encode(document.text), tokenizer.end]
        return np.array(ids)

    counted = NGram(stream(kept), tokenizer.vocab, ORDER)
    tuned = counted.tuned(stream(tuning))
    return NGram(stream(documents), tokenizer.vocab, ORDER, tuned.discounts)


def evaluate() -> dict[str, Any]:
    """Measure every model and baseline."""
    documents = corpus.corpus()
    held = [d for d in documents if d.is_held_out]
    training = [d for d in documents if not d.is_held_out]
    models = {name: load(name) for name in NAMES}
    tokenizer = models["tiny"].tokenizer
    scores: dict[str, list[Score]] = {}
    own: dict[str, list[Score]] = {}
    text = corpus.evaluation_text()
    for name, model in progress(models.items(), len(models), "models"):
        scores[name] = score(model, held, tokenizer)
        own[name] = score(model, text, tokenizer)
    for name, units in (("kneser_ney", tokenizer), ("kneser_ney_bytes", Tokenizer(()))):
        scorer = ngram_scorer(baseline(training, units))
        scores[name] = score(scorer, held, units)
        own[name] = score(scorer, text, units)
    limit = models["tiny"].config.max_position_embeddings
    grams = baseline(training, tokenizer)
    stream = [id for d in held for id in (*tokenizer.encode(d.text), tokenizer.end)]
    surprises = -np.log(grams.probabilities(np.array(stream)))
    on_curve = surprises[probe_places(len(stream), limit)[:, 1:]].mean()
    texts = [
        [tokenizer.end, *tokenizer.encode(d.text[: 8 * limit])][:limit] for d in held
    ]
    return {
        "date": datetime.date.today().isoformat(),
        "held_out": {
            "documents": len(held),
            "bytes": sum(s.bytes for s in scores["tiny"]),
            "tokens": sum(s.tokens for s in scores["tiny"]),
            "corpus": corpus.digest(documents),
            "kneser_ney_on_curve": round(float(on_curve), 4),
        },
        "bits_per_byte": {n: _interval(bits_per_byte(s)) for n, s in scores.items()},
        "perplexity": {n: _interval(perplexity(s)) for n, s in scores.items()},
        "evaluation_text": {n: _interval(bits_per_byte(s)) for n, s in own.items()},
        "less_than": {
            name: _interval(difference(scores["tiny"], other))
            for name, other in scores.items()
            if name != "tiny"
        },
        "acceptance": {
            name: _acceptance(models["tiny"], models[name], texts) for name in DRAFTS
        },
        "probe": _probes({**models, "untrained": untrained(models["tiny"])}),
    }


def _interval(found: Interval) -> list[float]:
    return [round(x, 4) for x in (found.value, found.low, found.high)]


def _acceptance(
    target: TinyLM, draft: TinyLM, texts: Sequence[Sequence[int]]
) -> dict[str, float]:
    plain = acceptance(target, draft, texts)
    cool = acceptance(target, draft, texts, Sampling(temperature=COOL))
    return {
        "rate": round(plain.rate, 4),
        "error": round(plain.error, 4),
        "cool": round(cool.rate, 4),
        "greedy": round(plain.greedy, 4),
        "positions": plain.positions,
    }


def _probes(models: dict[str, TinyLM]) -> dict[str, dict[str, list[int]]]:
    asked = {name: probe(model) for name, model in models.items()}
    return {
        name: {r.part: [r.right, r.asked] for r in results}
        for name, results in asked.items()
    }


def main() -> int:
    """Measure, write the file, print its intervals."""
    found = evaluate()
    QUALITY.write_text(json.dumps(found, indent=1) + "\n")
    for name, (value, low, high) in found["bits_per_byte"].items():
        print(f"{name:18} {value:.3f} bits/byte ({low:.3f} to {high:.3f})")
    for name, (value, low, high) in found["less_than"].items():
        print(f"tiny - {name:16} {value:+.3f} ({low:+.3f} to {high:+.3f})")
    print(json.dumps(found["acceptance"]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
