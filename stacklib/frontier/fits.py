"""Which network a model fits, and how many chips of one it wants.

The chips are alike and send as much a second on each network: a switch gives all of it
to any other chip, a torus a sixth to each neighbour. Sums of all chips cost both the
same, for a ring along every axis keeps all links busy. What experts exchange goes from
every chip to every other, and on a torus it passes through those between.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.interconnect import Topology
from stacklib.interconnect.experts.dispatch import dispatch_bytes
from stacklib.models import Experts, LanguageModel
from stacklib.models.weights.kept import way_of
from stacklib.quantity.bounds import whole
from stacklib.quantity.stored import products
from stacklib.roofline.work.bounds import device_of
from stacklib.roofline.work.fit import fit_memory, model_of
from stacklib.serving import estimate
from stacklib.serving.token.work import ACTIVATION, EXCHANGES, all_reduces

SWITCH = "switch"
Machine = str | tuple[int, ...]  # ``"switch"``, or a torus by its shape


@dataclass(frozen=True, slots=True)
class Suited:
    """A model on one network: seconds of its exchanges, and of all of a step."""

    machine: str
    chips: int
    exchanges: float
    rest: float

    @property
    def step(self) -> float:
        """One after the other."""
        return self.exchanges + self.rest

    @property
    def share(self) -> float:
        """Of the step in which chips exchange."""
        return self.exchanges / self.step


def topology_fit(
    model: str | LanguageModel,
    machines: Sequence[Machine] = (SWITCH, (4, 4, 4)),
    *,
    on: str | Accelerator = "b200-sxm",
    dtype: str | None = None,
    batch: int = 8,
    context: int = 4096,
) -> tuple[Suited, ...]:
    """A step of one model on networks of the same chips with the same bandwidth.

    Experts are shared out over all chips, each with all else; a model without experts
    shares every matrix.

    Parameters
    ----------
    model, on, dtype, context
        As ``serving.estimate`` takes them.
    machines : sequence
        ``"switch"``, or the shape of a torus, such as ``(4, 4, 4)`` or ``"4x4x4"``;
        tori of as many chips, one at the least.
    batch : int
        Sequences of each chip.

    Raises
    ------
    ValueError
        For no torus, tori of unlike size, a shape that is none, or what ``estimate``
        refuses.
    Infeasible, UnknownName
        As ``estimate`` raises them.

    Examples
    --------
    >>> switch, torus = topology_fit("deepseek-v3")
    >>> round(torus.exchanges / switch.exchanges, 1)
    3.0
    >>> switch, torus = topology_fit("llama-3-70b")
    >>> round(torus.exchanges / switch.exchanges, 1)
    1.3
    """
    whole(batch=batch)
    found, device = model_of(model), device_of(on)
    shapes = [_shape(machine) for machine in machines]
    sizes = {math.prod(s) for s in shapes if s}
    if len(sizes) != 1:
        raise ValueError(
            f"machines = {list(machines)!r}: one torus at the least, and all of as "
            "many chips, such as ('switch', (4, 4, 4))"
        )
    (chips,) = sizes
    experts = next((b.mlp for b in found.kinds if isinstance(b.mlp, Experts)), None)
    asked: dict[str, Any] = {"ep": chips}
    if experts is None:
        asked = {"tp": chips}
    parts = estimate(
        found, device, dtype, batch=batch * chips, context=context, **asked
    )
    rest = sum(x.time.si for x in parts.parts if x.name != EXCHANGES and x.time)
    rows = []
    for shape in shapes:
        if experts is None:
            size = batch * chips * found.hidden * ACTIVATION
            once = _summed(device, chips, shape, size)
            seconds = all_reduces(found) * once
        else:
            seconds = 0.0
            for kind, block in enumerate(found.kinds):
                if isinstance(block.mlp, Experts):
                    once = _exchanged(device, chips, shape, batch, found, block.mlp)
                    seconds += 2 * found.count(kind) * once  # there and back
        name = "torus " + " x ".join(map(str, shape)) if shape else SWITCH
        rows.append(Suited(name, chips, seconds, rest))
    return tuple(rows)


def _shape(machine: Machine) -> tuple[int, ...]:
    """Chips along each axis; none for a switch."""
    if isinstance(machine, str):
        if machine.lower() == SWITCH:
            return ()
        parts = machine.lower().replace(" ", "").split("x")
        if not all(part.isdecimal() for part in parts):
            raise ValueError(
                f"machine {machine!r}: 'switch', or a torus such as '4x4x4'"
            )
        machine = tuple(map(int, parts))
    for size in machine:
        whole(size=size)
    if math.prod(machine) < 2:
        raise ValueError(f"machine {machine!r}: a torus has two chips or more")
    return tuple(machine)


@lru_cache(maxsize=64)
def _torus(shape: tuple[int, ...]) -> tuple[int, float, int]:
    """Ways out of a chip, the busiest link's share of all pairs, and the farthest."""
    net = Topology.torus(shape, link=1.0)
    ways = sum(link.source == 0 for link in net.links)
    far = sum(size // 2 for size in shape)
    return ways, max(net.loads(1.0).values()), far


def _link(device: Accelerator) -> tuple[float, float]:
    """Bytes a second out of a chip, and seconds of a hop where they are known."""
    known = device.link_key and hardware.link(device.link_key).fields["latency"]
    return device.link.si, known.si if known else 0.0


def _exchanged(
    device: Accelerator,
    chips: int,
    shape: tuple[int, ...],
    tokens: int,
    model: LanguageModel,
    mlp: Experts,
) -> float:
    """Seconds in which every chip sends its tokens' copies to their experts."""
    sent = dispatch_bytes(
        tokens,
        mlp.top_k,
        model.hidden,
        "bf16",
        None,
        ranks=chips,
        ranks_per_node=chips,
        experts=mlp.experts,
    )
    return sent_seconds(device, chips, shape, float(sent.sent - sent.own))


def sent_seconds(
    device: Accelerator, chips: int, shape: tuple[int, ...], out: float
) -> float:
    """Seconds in which each chip sends so many bytes, evenly to all others.

    - ``shape``: of a torus; none for a switch
    """
    rate, hop = _link(device)
    if not shape:
        return out / rate + 2 * hop
    ways, busiest, far = _torus(shape)
    return out / (chips - 1) * busiest / (rate / ways) + far * hop


def _summed(
    device: Accelerator, chips: int, shape: tuple[int, ...], size: float
) -> float:
    """Seconds of an all-reduce: every chip sends all but its share, twice."""
    rate, hop = _link(device)
    moved = 2 * (chips - 1) / chips * size / rate
    if not shape:
        return moved + 2 * 2 * hop  # two steps, through the switch
    return moved + 2 * sum(side - 1 for side in shape) * hop


# -- how large a domain a sparse model wants -------------------------------------------


@dataclass(frozen=True, slots=True)
class Domain:
    """Chips that must reach each other at full rate, and why so many.

    - ``share``: parameters that a token passes, of all
    - ``rows``: tokens an expert needs before its products outlast its reading
    - ``sequences``: that give every expert so many
    - ``chips``: that hold the weights and those sequences' cache
    - ``weights``: chips that the weights alone fill
    """

    model: str
    share: float
    rows: float
    sequences: float
    chips: int
    weights: float


def link_domain(
    model: str | LanguageModel,
    on: str | Accelerator = "b200-sxm",
    dtype: str | None = None,
    context: int = 4096,
) -> Domain:
    """The least domain in which a model's experts are fed: closed form.

        sequences = peak / (2 bandwidth) x bytes of a weight x experts / top_k
        chips     = (weights + sequences x cache) / capacity

    A token passes few of the experts, so that more sequences are needed for each to
    have work, and their cache needs chips, which the exchange must join.

    - ``model``, ``on``, ``dtype``, ``context``: as ``serving.estimate`` takes them
    - raises as ``fit_memory`` does
    """
    whole(context=context)
    found, device = model_of(model), device_of(on)
    way = way_of(found, dtype)
    peak = device.peak(products(way.numbers, device.formats).name).si
    one = fit_memory(found, on=device, dtype=dtype, context=context)
    weights, cache = one.weights.si, one.kv.si
    each = weights / found.parameters.si
    rows = peak / (2 * device.memory_bandwidth.si) * each
    experts: Any = found.experts
    sparse = 1.0 if experts is None else experts.experts / experts.top_k
    sequences = rows * sparse
    capacity = device.memory_capacity.si
    chips = math.ceil((weights + sequences * cache) / capacity)
    share = (found.active_parameters / found.parameters).si
    return Domain(found.key, share, rows, sequences, chips, weights / capacity)
