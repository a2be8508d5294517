"""Section 8.4: Has somebody asked this before?"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from stacklib import serving
from stacklib.models import get
from stacklib.models.work import operations
from stacklib.paged_kv import BlockAllocator, Match, PrefixTree
from stacklib.paged_kv.session import prefilled
from stacklib.pages import chain
from stacklib.quantity import Quantity, chosen, counted, counting, quoted

MODEL, DEVICE, CHIPS, CONTEXT = chain.MODEL, chain.DEVICE, chain.TP, chain.CONTEXT
BLOCK, LARGE = 16, 256  # tokens of a block: the usual one; tables shall be short
PROMPT, SHARED = 1024, 500  # tokens of a prompt, and how many begin all of them
SIZES = (1, BLOCK, 64, LARGE)
FOUND = 3840  # tokens of the case's prompt that the turn before has left
OTHERS = 100_000  # blocks whose names may collide


def prompt(user: int, shared: int = SHARED, tokens: int = PROMPT) -> list[int]:
    """A user's prompt: instructions that all begin with, then what is his alone."""
    own = 10_000 * (user + 1)
    return [*range(shared), *range(own, own + tokens - shared)]


def second(block: int, shared: int = SHARED) -> Match:
    """What the second user's prompt finds in blocks that the first one's has left."""
    pool = BlockAllocator(2 * PROMPT // block, block)
    first = pool.allocate(prompt(1, shared))
    assert first
    pool.free(first)
    return pool.match(prompt(2, shared))


def found(block: int, shared: int = SHARED) -> int:
    """Tokens of it."""
    return second(block, shared).tokens


def in_tree(page: int, shared: int = SHARED) -> int:
    """The same of a prefix tree, whose edges may be of any length."""
    tree = PrefixTree(page)
    tree.insert(prompt(1, shared))
    return tree.match(prompt(2, shared)).tokens


def hit(block: int) -> Quantity:
    """Share of the second prompt that is found."""
    tokens = counted(found, block, label=f"found, blocks of {block}")
    return (tokens / chosen(PROMPT, label="tokens of a prompt")).named("share found")


def in_common() -> Quantity:
    """Share of a prompt that both begin with."""
    shared = chosen(SHARED, label="shared")
    whole = chosen(PROMPT, label="tokens of a prompt")
    return (shared / whole).named("share in common")


def collisions() -> Quantity:
    """Pairs of so many blocks that share a name of 32 bits, by chance."""
    blocks = chosen(OTHERS, label="blocks")
    names = chosen(2**32, label="names of 32 bits")
    return (blocks * (blocks - 1) / 2 / names).named("pairs with one name")


# -- time to the first token -----------------------------------------------------------


def first_token(tokens: int = CONTEXT, found: int = 0) -> Quantity:
    """Time to the first token where so many of the prompt's tokens are found."""
    hit = found / tokens
    told = serving.estimate(MODEL, DEVICE, "bf16", CHIPS, prompt=tokens, prefix_hit=hit)
    return told.ttft.named(f"first token, {found:,} tokens found")


# -- a session -------------------------------------------------------------------------


def turns() -> list[Quantity]:
    """Tokens of each turn's prompt, as a document has them."""
    return [quoted(f"session.turn_{n}", f"tokens of turn {n}") for n in range(1, 6)]


def computed(lives: Any, *contexts: float) -> int:
    """Tokens computed in a session with a minute between turns.

    - ``lives``: seconds that a prompt stays.
    - ``contexts``: tokens of each turn.
    """
    turns = [int(context) for context in contexts]
    stays = lives.si if isinstance(lives, Quantity) else lives
    return sum(prefilled(turns, [60.0] * (len(turns) - 1), stays))


def all_turns() -> Quantity:
    """Tokens computed where nothing is found."""
    return counted(computed, 0.0, *turns(), label="tokens of all turns")


def last_turn() -> Quantity:
    """Tokens computed where everything before is found: the last turn's, once."""
    life = quoted("anthropic.cache_ttl", "life of a cached prompt")
    return counted(computed, life, *turns(), label="tokens of all turns, each once")


def found_again(before: float, after: float) -> float:
    """Share of a turn's tokens that a prefix tree finds, after the one before."""
    tree = PrefixTree()
    tree.insert(range(int(before)))
    return tree.match(range(int(after))).tokens / int(after)


def reused() -> list[Quantity]:
    """Share of each later turn that the one before has left."""
    each = pairwise(turns())
    return [counted(found_again, *pair, label="share found again") for pair in each]


@counting("operations of a prompt", unit="FLOP")
def computing(tokens: Any) -> float:
    """Operations of a prompt by the model's own counting."""
    asked = operations(get(MODEL), "prefill", context=int(tokens), logits="last")
    return sum(one.flops for one in asked)


def fewer_tokens() -> Quantity:
    """The first turn's tokens over those that the second adds."""
    first, then, *_ = turns()
    return (first / (then - first)).named("tokens, all over new")


def fewer_operations() -> Quantity:
    """The same in operations: new tokens still look at all that came before."""
    first, then, *_ = turns()
    new = computing(then) - computing(first)
    return (computing(first) / new).named("operations, all over new")


def after_a_pause() -> int:
    """Tokens computed when one pause is longer than a prompt lives."""
    each = [int(turn.si) for turn in turns()]
    minute = 60.0
    pauses = [minute, minute, 6 * minute, minute]
    return sum(prefilled(each, pauses, quoted("anthropic.cache_ttl", "life").si))


REASONS = {
    "the same again": prompt(1),
    "another question": prompt(2),
    "one word changed early": [*prompt(1)[:9], 7, *prompt(1)[10:]],
    "a greeting": [1, 2, 3],
}


def reasons() -> list[tuple[str, Match]]:
    """What a few prompts find after the first user's, and why no more."""
    pool = BlockAllocator(PROMPT, BLOCK)
    assert pool.allocate(prompt(1))
    return [(words, pool.match(tokens)) for words, tokens in REASONS.items()]


def matched(words: str) -> int:
    """Tokens that one of these prompts finds."""
    return dict(reasons())[words].tokens
