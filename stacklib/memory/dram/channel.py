"""A DRAM channel that is run: banks, rows, a queue, and the commands they lead to.

Addresses go to banks and rows by a mapping; a controller with a bounded queue turns
them into activates, precharges, reads, writes and refreshes, none of them earlier than
the timings allow. ``dram_verify.verify`` reads the list of commands again and checks
every rule. Standard library only; numba, where installed, runs long traces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from stacklib.quantity.bounds import whole

from ..warp._fast import compiled, fast
from . import _loop as _dram_loop
from .parts import REFRESH, Clocks, DramPart, dram_part

KINDS = ("ACT", "PRE", "READ", "WRITE", "REF")
POLICIES = ("open", "closed")
SCHEDULERS = ("fr-fcfs", "fcfs")
FIELDS = ("row", "bank", "group", "column")
COMPILED_FROM = 4000  # requests; a shorter trace is served before numba has loaded


class Command(NamedTuple):
    """One command: kind, clock, bank (-1: all), row (-1: none), request (-1: none)."""

    kind: str
    cycle: int
    bank: int
    row: int
    request: int


@dataclass(frozen=True, slots=True)
class Served:
    """What a channel did with a trace."""

    part: DramPart
    clocks: Clocks  # its timings as they were kept
    closes: bool  # whether every read and write closed its bank
    banks: list[int]  # where each request went, and whether it wrote
    rows: list[int]
    stores: list[bool]
    outcomes: list[int]
    entered: list[int]  # clocks in which each request got a place in the queue
    finished: list[int]  # its data ended
    _log: tuple[list[int], ...] = field(repr=False)

    def commands(self) -> Iterator[Command]:
        """All commands in the order of issue."""
        for kind, cycle, bank, request in zip(*self._log, strict=True):
            row = self.rows[request] if KINDS[kind] == "ACT" else -1
            yield Command(KINDS[kind], cycle, bank, row, request)

    @property
    def cycles(self) -> int:
        """Clocks until the last data have been moved."""
        return max(self.finished)

    @property
    def bandwidth(self) -> float:
        """Bytes a second, from clock 0 to the last data."""
        moved = len(self.banks) * self.part.burst.si
        return moved / (self.cycles * self.part.clock)

    @property
    def utilisation(self) -> float:
        """Share of the clocks in which the data bus carried something."""
        return len(self.banks) * self.clocks.bl / self.cycles

    @property
    def steady(self) -> float:
        """The same from the first data to the last: without the first latency."""
        start = min(self.finished) - self.clocks.bl
        return len(self.banks) * self.clocks.bl / (self.cycles - start)

    @property
    def settled(self) -> float:
        """The same between the first and the last refresh: whole intervals only.

        Without two refreshes it is ``steady``.
        """
        kinds, cycles = self._log[0], self._log[1]
        refreshes = [i for i, kind in enumerate(kinds) if kind == _dram_loop.REF]
        if len(refreshes) < 2:
            return self.steady
        first, last = refreshes[0], refreshes[-1]
        moved = sum(kind in _dram_loop.COLUMN for kind in kinds[first:last])
        return moved * self.clocks.bl / (cycles[last] - cycles[first])

    def share(self, outcome: str) -> float:
        """Share of requests whose ``outcome`` was ``hit``, ``miss`` or ``conflict``."""
        which = ("hit", "miss", "conflict").index(outcome)
        return self.outcomes.count(which) / len(self.outcomes)

    def latencies(self) -> list[int]:
        """Clocks from the place in the queue to the last data, by request."""
        return [b - a for a, b in zip(self.entered, self.finished, strict=True)]


@dataclass(frozen=True, slots=True)
class DramChannel:
    """A channel and its controller.

    Parameters
    ----------
    part : DramPart or str
        The channel, or its name.
    mapping : str
        Fields of the address from its high end to its low one, each of ``row``,
        ``bank``, ``group`` and ``column`` once, ``row`` first. The last changes from
        one burst to the next.
    hashed : bool
        Whether the low bits of the row are XORed into the bank, so that a stride of
        whole rows does not stay in one (Zhang et al., MICRO 2000).
    policy : str
        ``open``: rows stay open until another is wanted. ``closed``: every read and
        write closes its bank.
    scheduler : str
        ``fr-fcfs``: whatever may be issued first, hits before others, then the
        oldest (Rixner et al., ISCA 2000); writes are collected and drained together.
        ``fcfs``: only the oldest request is looked at.
    queue : int
        Requests the controller looks at; reads and writes have one each.
    refresh : str
        ``all``, ``some`` or ``none``: see `DramPart.clocks`.

    Raises
    ------
    ValueError
        For an unknown word, a queue below one, a mapping that is none, or a hash over
        banks that are no power of two.
    UnknownName
        For an unknown part.
    """

    part: DramPart | str
    mapping: str = "row:bank:column:group"
    hashed: bool = False
    policy: str = "open"
    scheduler: str = "fr-fcfs"
    queue: int = 32
    refresh: str = "all"

    def __post_init__(self) -> None:
        for name, words in (
            ("policy", POLICIES),
            ("scheduler", SCHEDULERS),
            ("refresh", REFRESH),
        ):
            if getattr(self, name) not in words:
                given = getattr(self, name)
                raise ValueError(f"{name} {given!r}: use one of {', '.join(words)}")
        whole(queue=self.queue)
        names = self.mapping.split(":")
        if sorted(names) != sorted(FIELDS) or names[0] != "row":
            raise ValueError(
                f"mapping {self.mapping!r}: row first, then {', '.join(FIELDS[1:])} "
                "in any order, joined by ':'"
            )
        clocks = self.kind.clocks(self.refresh)
        banks = clocks.groups * clocks.banks
        if self.hashed and banks & (banks - 1):
            raise ValueError(f"a hash over {banks} banks: a power of two is needed")

    @property
    def kind(self) -> DramPart:
        """The part, looked up."""
        return dram_part(self.part) if isinstance(self.part, str) else self.part

    def place(self, address: int) -> tuple[int, int]:
        """Bank and row of a byte address; banks count through the groups.

        Raises
        ------
        ValueError
            For an address below zero or no whole number.
        """
        (bank,), (row,) = self._places([address])
        return bank, row

    def _places(self, addresses: Sequence[int]) -> tuple[list[int], list[int]]:
        part = self.kind
        burst = int(part.burst.si)
        groups, each = int(part.groups.si), int(part.banks.si)
        count = int(part.bank_count.si)
        # Neighbours stay in a stack id: it counts as the high end of the bank.
        sizes = {
            "group": groups,
            "bank": count // groups,
            "column": int(part.row.si) // burst,
        }
        low = [(name, sizes[name]) for name in reversed(self.mapping.split(":")[1:])]
        banks, rows = [], []
        for address in addresses:
            whole(0, address=address)
            rest, digit = int(address) // burst, {}
            for name, size in low:
                rest, digit[name] = divmod(rest, size)
            sid, bank = divmod(digit["bank"], each)
            bank += (sid * groups + digit["group"]) * each
            banks.append(bank ^ (rest % count) if self.hashed else bank)
            rows.append(rest)
        return banks, rows

    def run(
        self,
        addresses: Sequence[int],
        stores: Sequence[bool] | None = None,
        *,
        arrivals: Sequence[int] | None = None,
        window: int = 0,
        road: int = 0,
    ) -> Served:
        """Serve a trace, one burst a request.

        Parameters
        ----------
        addresses : sequence of int
            Byte addresses, in the order they are asked for.
        stores : sequence of bool, optional
            Which requests write; none by default.
        arrivals : sequence of int, optional
            Clock from which each may enter; 0 by default, so that the queue is
            always full.
        window : int
            Requests that may be under way at once, 0 for any number. The next one is
            asked for when the one ``window`` before it has come back.
        road : int
            Clocks between the controller and whoever asks, there and back together.

        Raises
        ------
        ValueError
            For an empty trace, another length of ``stores`` or ``arrivals``, times
            that fall, or a negative ``window`` or ``road``.
        """
        n = len(addresses)
        if n == 0:
            raise ValueError("a trace of no addresses")
        for name, given in (("stores", stores), ("arrivals", arrivals)):
            if given is not None and len(given) != n:
                raise ValueError(f"{len(given)} {name} for {n} addresses")
        times = [0] * n if arrivals is None else [int(t) for t in arrivals]
        if any(t < 0 for t in times) or times != sorted(times):
            raise ValueError("arrivals: clocks from 0 that do not fall")
        whole(0, window=window, road=road)
        banks, rows = self._places(addresses)
        writes = [False] * n if stores is None else [bool(s) for s in stores]
        requests = (banks, rows, writes, times)
        how = (
            int(window),
            int(road),
            self.queue,
            self.scheduler == "fcfs",
            self.policy == "closed",
        )
        clocks = self.kind.clocks(self.refresh)
        log, (outcomes, entered, finished) = _run(clocks, requests, how)
        return Served(
            self.kind,
            clocks,
            self.policy == "closed",
            banks,
            rows,
            writes,
            outcomes,
            entered,
            finished,
            log,
        )


def _run(clocks: Clocks, requests: tuple[list, ...], how: tuple) -> tuple[Any, Any]:
    """The loop, on lists or, where numba is and the trace is long, on arrays."""
    n = len(requests[0])
    loop: Any = fast(_dram_loop.loop) if n >= COMPILED_FROM else _dram_loop.loop
    arrays: Any = None
    if n >= COMPILED_FROM and compiled():
        import numpy as arrays
    inputs: list[Any] = (
        [arrays.array(r) for r in requests] if arrays else list(requests)
    )
    room = 4 * n + 64
    while True:
        sizes = [room] * 4 + [n] * 3
        out: list[Any] = [
            arrays.zeros(s, "int64") if arrays else [0] * s for s in sizes
        ]
        issued = loop(clocks, *inputs, *how, *out)
        if issued >= 0:
            break
        room *= 2  # refreshes of a trace with long pauses
    lists = [o.tolist() for o in out] if arrays else out
    return tuple(part[:issued] for part in lists[:4]), lists[4:]
