"""What the tiny model keeps of each draft, measured by running them.

    python -m stacklib.serving.speculation.measure    # a minute -> ../data/...json

Each draft proposes four tokens at a time while the tiny model goes on from the starts
of texts that none of them was trained on. ``overlap`` is the acceptance without
drawing, over the tokens of those texts themselves.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stacklib.quantity.bounds import whole
from stacklib.sweep import progress
from stacklib.tinylm import Sampling, TinyLM, load
from stacklib.tinylm.corpus import evaluation_text, own_prose
from stacklib.tinylm.forward import KVCache
from stacklib.tinylm.ngram import NGram
from stacklib.tinylm.sampling import probabilities

from .drafts import CountedDraft, Draft, LookUpDraft, ModelDraft, Way
from .record import LENGTH, NAMES, STORE, TEMPERATURES
from .rule import checked, distribution
from .simulate import tally


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass of the large model yielded."""

    tokens: tuple[int, ...]  # of the text
    drafted: int

    @property
    def kept(self) -> int:
        """Drafted tokens that are in the text."""
        return len(self.tokens) - 1


def passes(
    model: TinyLM,
    draft: Draft,
    ids: Sequence[int],
    how: Sampling,
    random: np.random.Generator,
    *,
    most: int,
) -> Iterator[Pass]:
    """Passes of one sequence until there are ``most`` tokens, or the context is full.

    The slow and obvious way of `serving.Engine`, which must give the same tokens.

    - ``ids``: what is read first; the model's own end of a document is a token here
    - a pass drafts no more than can still be used
    """
    whole(most=most)
    text, cache = list(ids), KVCache(model.config)
    way = Way(how, random)
    context = model.config.max_position_embeddings
    end = min(len(text) + most, context)
    while len(text) < end:
        proposal = draft.propose(0, text, end - len(text) - 1, way)
        unread = [*text[cache.length :], *proposal.tokens]
        logits = model.logits(unread, cache)[-1 - len(proposal.tokens) :]
        rows = [distribution(row, how) for row in logits]
        tokens = checked(rows, proposal.rows, proposal.tokens, random)
        text += tokens
        # Of what was read, the rejected tokens go; the last token is not read yet.
        cache.truncate(len(text) - 1)
        yield Pass(tuple(tokens), len(proposal.tokens))
    draft.forget(0)


READ, MADE = 64, 192  # tokens of a text's start, and made after it
ORDER = 5


def counted_grams(model: TinyLM) -> NGram:
    """N-grams of the book's own prose, without the texts it is held against."""
    ids: list[int] = []
    for document in own_prose():
        if not document.is_held_out:
            ids += [*model.tokenizer.encode(document.text), model.tokenizer.end]
    return NGram(np.array(ids), model.tokenizer.vocab, ORDER)


def draft_of(name: str, length: int = LENGTH) -> Draft:
    """The draft of a row."""
    if name == "grams":
        return CountedDraft(counted_grams(load()), length)
    if name == "look_up":
        return LookUpDraft(load().tokenizer.vocab, length)
    return ModelDraft(load(name), length)


def starts(model: TinyLM) -> list[list[int]]:
    """The first tokens of each text that is long enough."""
    texts = (
        [model.tokenizer.end, *model.tokenizer.encode(document.text)]
        for document in evaluation_text()
    )
    return [ids[:READ] for ids in texts if len(ids) >= READ]


def run(
    name: str, temperature: float, *, texts: int | None = None, seed: int = 0
) -> dict[str, Any]:
    """Passes over the first ``texts`` starts, counted; of all, if None.

    ``kept`` counts those passes that had a whole draft, by what was kept of it.
    """
    model, draft, how = load(), draft_of(name), Sampling(temperature)
    found = [
        one
        for number, ids in enumerate(starts(model)[:texts])
        for one in passes(
            model, draft, ids, how, np.random.default_rng([seed, number]), most=MADE
        )
    ]
    whole = tally((p.kept for p in found if p.drafted == LENGTH), LENGTH)
    tokens = sum(len(p.tokens) for p in found)
    return {
        "id": f"{name} at {temperature:g}",
        "passes": len(found),
        "tokens": tokens,
        "tokens_per_pass": round(tokens / len(found), 4),
        "kept": list(whole.kept),
        "by_position": [round(share, 4) for share in whole.by_position],
        "rate": round(whole.rate, 4),
        "whole_tokens_per_pass": round(whole.tokens_per_pass, 4),
    }


def overlap(name: str, temperature: float, texts: int | None = None) -> float:
    """Mean chance that a proposal is kept, after every prefix of the texts' starts."""
    model, draft, how = load(), draft_of(name, 1), Sampling(temperature)
    way, found = Way(how, np.random.default_rng(0)), []
    for ids in starts(model)[:texts]:
        rows = model.logits(ids)
        for k in range(1, len(ids) + 1):
            p = probabilities(rows[k - 1], how)
            proposal = draft.propose(0, ids[:k], 1, way)
            q = proposal.rows[0] if proposal.rows else np.zeros_like(p)
            found.append(np.minimum(p, q).sum())
    return float(np.mean(found))


def main() -> int:
    """Measure, write the file, print its rows."""
    rows = []
    cases = [(name, t) for name in NAMES for t in TEMPERATURES]
    for name, temperature in progress(cases, len(cases), "drafts"):
        row = run(name, temperature)
        rows.append({**row, "overlap": round(overlap(name, temperature), 4)})
    about = {"date": datetime.date.today().isoformat(), "draft_tokens": LENGTH}
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    head = json.dumps(about)[1:-1]
    STORE.parent.mkdir(exist_ok=True)
    STORE.write_text(f'{{\n {head},\n "rows": [\n{lines}\n ]\n}}\n', encoding="utf-8")
    print(lines)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
