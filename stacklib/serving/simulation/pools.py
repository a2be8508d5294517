"""Machines that share the work of one request: two pools, and what crosses between.

Prefill and decode: some machines read prompts, others write answers. The cache of a
prompt crosses a link, one after another from each machine, and is held on both sides
until it has arrived.

Attention and MLP: two pools of chips take turns in every layer. With k micro-batches on
their way a layer takes k times the longer of both, or one micro-batch's whole way where
that is longer: max(k A, k M, A + M + 2 crossings). Chips of the attention pool hold the
cache; the weights that they need not hold are not given to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from stacklib.models import operations
from stacklib.quantity.bounds import above_zero, at_least, whole
from stacklib.quantity.names import resolve_all

from ..token.shape import HEAD, NORMS, PRODUCTS
from ..token.work import EXCHANGES
from .request import Request
from .rows import ROLES
from .setup import Served
from .steps import ByBlocks, Estimated, Work, nanoseconds

CROSSING = 7.5e-6  # s, between an attention and an MLP chip: document 004 has 5 to 10
PAIRS = {
    ("prefill", "decode"): ("link", "crossing"),
    ("attention", "mlp"): ("crossing", "micro_batches"),
}


@dataclass(frozen=True, slots=True)
class Pools:
    """Machines of two kinds.

    - ``kinds``: of both; ``sizes``: machines of each
    - ``link``: bytes a second out of a machine; None: its chips' own
    - ``crossing``: seconds that every crossing takes besides; None: the usual
    - ``micro_batches``: on their way at once
    """

    kinds: tuple[str, str]
    sizes: tuple[int, int]
    link: float | None = None
    crossing: float | None = None
    micro_batches: int = 2


def pools_of(given: Mapping[str, Any]) -> Pools:
    """Pools as asked for; ValueError or UnknownName for what are none."""
    if not isinstance(given, Mapping):
        raise ValueError(f"pools = {given!r}: machines by pool, {{'prefill': 2, ...}}")
    known = sorted({name for pair, more in PAIRS.items() for name in (*pair, *more)})
    named = resolve_all(given, known, "pool")
    for pair, more in PAIRS.items():
        if not set(pair) <= set(named):
            continue
        strange = set(named) - {*pair, *more}
        if strange:
            raise ValueError(f"pools {' and '.join(pair)} take no {min(strange)}")
        sizes = named[pair[0]], named[pair[1]]
        whole(**dict(zip(pair, sizes, strict=True)))
        found = Pools(pair, sizes, **{n: named[n] for n in more if n in named})
        if found.link is not None:
            above_zero(link=found.link)
        if found.crossing is not None:
            at_least(0, crossing=found.crossing)
        whole(micro_batches=found.micro_batches)
        return found
    wanted = " or ".join(" and ".join(pair) for pair in PAIRS)
    raise ValueError(f"pools = {dict(given)}: machines of {wanted} are needed")


def roles_of(pools: Pools | None, replicas: int) -> tuple[str, ...]:
    """What each machine does."""
    if pools is None or not set(pools.kinds) <= set(ROLES):
        return ("both",) * replicas
    first, second = pools.sizes
    return ("prefill",) * first + ("decode",) * second


@dataclass(frozen=True, slots=True)
class Crossing:
    """Nanoseconds that a cache takes to another machine.

    - ``fixed``: seconds of each
    - ``token``: seconds of each token
    """

    fixed: float = 0.0
    token: float = 0.0

    def __call__(self, request: Request) -> int:
        cached = request.tokens - 1  # its newest token is not read yet
        return nanoseconds(self.fixed + self.token * cached, 0)


def crossing_of(pools: Pools | None, served: Served | None) -> Crossing:
    """What a prompt's cache takes from pool to pool."""
    if pools is None:
        return Crossing()
    fixed = pools.crossing or 0.0
    if served is None or not served.cached:
        return Crossing(fixed)
    return Crossing(fixed, served.cached / (pools.link or served.link))


class Turns(ByBlocks):
    """Steps of an attention pool and an MLP pool that take turns in each layer.

    - ``law``: of chips that do both
    """

    def __init__(self, law: Estimated, pools: Pools) -> None:
        super().__init__(law.factor)
        self.law, self.pools = law, pools

    @cached_property
    def attention_bytes(self) -> float:
        """Weights of attention that every step reads."""
        frame = self.law.step.frame
        asked: dict[str, Any] = {"dtype": frame.dtype, "kv_dtype": frame.kv_dtype}
        found = operations(frame.model, "decode", context=1, **asked)
        return sum(op.weight_bytes for op in found if op.part == "attention")

    def seconds(self, work: Work) -> float:
        """As of `ByBlocks`."""
        return sum(self.parts(work).values())

    def parts(self, work: Work) -> dict[str, float]:
        """Seconds: of the layers in turns, and of what is before and after them."""
        law, pools = self.law, self.pools
        layers, many = law.step.frame.model.layers, pools.micro_batches
        attention, mlp = self.sides(work)
        cross = CROSSING if pools.crossing is None else pools.crossing
        way = attention + mlp + 2 * layers * cross
        return {
            "layers": max(many * attention, many * mlp, way),
            "rest": law.step.fixed
            + law.host
            + law.between(HEAD, work.decodes + work.ends)
            + law.between("sampling", work.decodes + work.ends),
        }

    def sides(self, work: Work) -> tuple[float, float]:
        """Seconds of one micro-batch in all layers, on either side."""
        law, pools = self.law, self.pools
        first, second = pools.sizes
        mine = -(-work.rows // (pools.micro_batches * first))
        other = -(-work.rows // (pools.micro_batches * second))
        each = law.cached(work) / (pools.micro_batches * first)
        read = law.step.frame.shape.parts[PRODUCTS].read
        share = self.attention_bytes / read(float(mine))
        attention = share * law.between(PRODUCTS, mine) + law.between(NORMS, mine)
        share = self.attention_bytes / read(float(other))
        moved = law.between(EXCHANGES, other) + law.between("uneven", other)
        return attention + each, (1 - share) * law.between(PRODUCTS, other) + moved
