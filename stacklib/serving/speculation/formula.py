"""Tokens per pass and speed-up of speculative decoding (Leviathan et al., 2023).

Each of ``draft_tokens`` proposals is kept with probability a if all before it were, and
one token follows the kept ones: redrawn where the first was rejected, and free where
none was. So a pass of the large model yields, on average (their equation 1),

    1 + a + a^2 + ... + a^g = (1 - a^(g + 1)) / (1 - a),

and g + 1 where a is 1. That takes each proposal to be kept independently of the others.
"""

from __future__ import annotations

from typing import Any

from stacklib.quantity import Quantity, where
from stacklib.quantity.bounds import above_zero, at_least, share, whole, whole_floats

LONGEST = 4096  # tokens of a draft; beyond it a mistake is likelier than a draft
NEAR = 1 - 1e-6  # from which the quotient loses digits


def tokens_per_pass(acceptance: Any, draft_tokens: Any) -> Any:
    """Tokens that one pass of the large model yields, on average.

    - ``acceptance``: float, Quantity or array; chance that a proposal is kept if all
      before it were, from 0 to 1
    - ``draft_tokens``: int, Quantity or array; proposals that a pass checks, from 0
    - raises ``ValueError`` for what is no chance, or no whole number up to ``LONGEST``

    >>> round(tokens_per_pass(0.8, 4), 4)
    3.3616
    """
    share(acceptance=acceptance)
    most, each = _lengths(draft_tokens)
    if isinstance(acceptance, Quantity) and float(acceptance.si) < NEAR:
        # The quotient, as it is read in a derivation.
        return (1 - acceptance ** (draft_tokens + 1)) / (1 - acceptance)
    # The sum, from its last term: exact near 1 too, where the quotient is 0 / 0.
    total: Any = 1.0
    for k in range(most):
        longer = acceptance * total + 1
        total = longer if each is None else where(each > k, longer, total)
    return total


def speedup(
    acceptance: Any, draft_tokens: Any, draft_cost: Any, verify_cost: Any = 1.0
) -> Any:
    """How many times as fast tokens come, with a draft as without.

    - ``acceptance``, ``draft_tokens``: as ``tokens_per_pass`` takes them
    - ``draft_cost``: float, Quantity or array; time of one proposal over that of a
      plain step of the large model with the same batch; 0 for a look-up
    - ``verify_cost``: the same of the pass that checks: 1 while reading the weights
      binds both, and up to ``draft_tokens + 1`` where arithmetic binds
    - raises ``ValueError`` for what ``tokens_per_pass`` refuses, a negative cost, or a
      pass that takes no time

    >>> round(speedup(0.8, 4, 0.05), 2)
    2.8
    """
    at_least(0.0, draft_cost=draft_cost)
    above_zero(verify_cost=verify_cost)
    tokens = tokens_per_pass(acceptance, draft_tokens)
    return tokens / (draft_tokens * draft_cost + verify_cost)


def _lengths(draft_tokens: Any) -> tuple[int, Any]:
    """The longest draft, and each one where there are several."""
    if isinstance(draft_tokens, Quantity):
        most, each = int(whole_floats(0, draft_tokens=draft_tokens.to("1").value)), None
    elif getattr(draft_tokens, "shape", ()):
        each = whole_floats(0, draft_tokens=draft_tokens)
        most = int(each.max(initial=0))
    else:
        whole(0, draft_tokens=draft_tokens)
        most, each = int(draft_tokens), None
    if most > LONGEST:
        raise ValueError(f"draft_tokens = {most}: at most {LONGEST} are drafted")
    return most, each
