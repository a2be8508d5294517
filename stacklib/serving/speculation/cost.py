"""What a pass that checks drafts costs, by the account of a token, and where it turns.

Each of ``batch`` sequences has ``draft_tokens + 1`` rows in the pass. The weights are
read once for all rows and each cache once for its own, so bytes hardly grow;
arithmetic, exchanges and the output matrix go with the rows. While bytes bind, the rows
are free, and speculation gains. Once arithmetic binds, each rejected token costs what a
kept one does, and it loses.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import replace
from typing import Any

from stacklib.models import LanguageModel
from stacklib.quantity.bounds import share, whole
from stacklib.roofline.work.fit import fit_memory
from stacklib.serving.token.account import CONTEXT, account
from stacklib.serving.token.lines import Account
from stacklib.serving.token.shape import ATTENTION

from .formula import speedup


def checking(
    model: str | LanguageModel,
    on: str,
    draft_tokens: int,
    *,
    batch: Any = 1,
    context: Any = CONTEXT,
    **asked: Any,
) -> Account:
    """The account of one pass that checks ``draft_tokens`` for each sequence.

    - ``asked``: what else ``serving.account`` takes; no prompt
    """
    whole(0, draft_tokens=draft_tokens)
    rows = draft_tokens + 1
    step = account(model, on, batch=batch, context=context, **asked)
    # Without caches: those of more sequences would not fit, nor are there more.
    wide = account(model, on, batch=batch * rows, context=context * 0, **asked)
    cache = step[ATTENTION]
    if cache.t_arithmetic is not None:
        cache = replace(
            cache,
            operations=cache.operations * rows,
            t_arithmetic=cache.t_arithmetic * rows,
        )
    title = f"a pass over {rows} tokens of each, {step.title}"
    return replace(wide.with_(cache), title=title)


def costs(
    model: str | LanguageModel,
    draft: str | LanguageModel,
    on: str,
    draft_tokens: int,
    *,
    lost: tuple[Any, Any] | None = None,
    **asked: Any,
) -> tuple[Any, Any]:
    """A proposal's and a checking pass's time over that of a plain step.

    - ``lost``: time that an engine adds to a step of the model, and to one of the draft
    - ``asked``: as ``checking`` takes it; the draft runs on the same chips
    """
    step = account(model, on, **asked).total()
    pass_ = checking(model, on, draft_tokens, **asked).total()
    proposal = account(draft, on, **asked).total()
    if lost is not None:
        step, pass_, proposal = step + lost[0], pass_ + lost[0], proposal + lost[1]
    return proposal / step, pass_ / step


def gain(
    model: str | LanguageModel,
    draft: str | LanguageModel,
    on: str,
    *,
    acceptance: Any,
    draft_tokens: int = 4,
    **asked: Any,
) -> Any:
    """How many times as fast tokens come with a draft; ``asked``: as in ``costs``."""
    proposal, pass_ = costs(model, draft, on, draft_tokens, **asked)
    return speedup(acceptance, draft_tokens, proposal, pass_)


def room(
    model: str | LanguageModel,
    draft: str | LanguageModel,
    on: str,
    *,
    tp: int = 1,
    context: int = CONTEXT,
) -> int:
    """Sequences that fit when both models keep their own caches; 0 where none do.

    Keys and values do not cross models, so a draft takes memory for itself.
    """
    whole(context=context)
    sizes: Any = {"on": on, "tp": tp, "context": context}
    one, two = (
        [fit_memory(each, batch=batch, **sizes) for each in (model, draft)]
        for batch in (1, 2)
    )
    a_sequence = sum((b.need - a.need).si for a, b in zip(one, two, strict=True))
    left = one[0].have.si - sum(fit.need.si for fit in one)
    return max(0, 1 + math.floor(left / a_sequence))


def turning_batch(
    model: str | LanguageModel,
    draft: str | LanguageModel,
    on: str,
    *,
    acceptance: float,
    draft_tokens: int = 4,
    tp: int = 1,
    context: int = CONTEXT,
    mode: str = "limit",
    lost: tuple[float, float] | None = None,
) -> int | None:
    """A batch that a draft makes slower, while one sequence less is still faster.

    Looked for between the first of doubled batches that loses and the one before; None
    where memory ends first.

    - ``lost``: seconds, as ``costs`` takes them
    """
    share(acceptance=acceptance)

    def loses(batch: int) -> bool:
        sizes: Any = {"batch": float(batch), "context": float(context)}
        asked = sizes | {"tp": tp, "mode": mode, "lost": lost}
        both = costs(model, draft, on, draft_tokens, **asked)
        return bool(speedup(acceptance, draft_tokens, *both) < 1)

    most = room(model, draft, on, tp=tp, context=context)
    gains, now = 0, 1
    while now <= most and not loses(now):
        gains, now = now, now + 1 if now == most else min(2 * now, most)
    if now > most:
        return None
    return gains + 1 + bisect_left(range(gains + 1, now), True, key=loses)
