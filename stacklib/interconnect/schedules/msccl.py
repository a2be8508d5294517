"""Schedules as MSCCL's XML: thread blocks of sends and receives, read as steps.

Each thread block of a GPU does one thing after the other: sends to one peer, receives
from one, or passes on what comes; ``depid`` and ``deps`` name what it waits for in
another block. The k-th send of a GPU over a channel is the k-th receive of its peer.
Steps are as early as this order allows (github.com/microsoft/msccl-tools, ``ir.py``).

A chunk lands at the same place as it came from, in one array: input and output where
they are one. Scratch, local sums and copies to another place are refused with their
line. What ``rrs`` passes on it is said to keep, too.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from stacklib.interconnect.schedules.schedule import Schedule, Send
from stacklib.quantity import resolve

COLLECTIVES = {
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "reduce_scatter": "reduce_scatter",
    "reducescatter": "reduce_scatter",
    "broadcast": "broadcast",
}
SENDS, RECEIVES = ("s", "rcs", "rrs", "rrcs"), ("r", "rcs", "rrs", "rrc", "rrcs")
KINDS = {*SENDS, *RECEIVES, "nop", "cpy"}


class Op(NamedTuple):
    """One line of a thread block."""

    where: str  # gpu, block and step, for messages
    kind: str
    at: range  # chunks that it reads, or writes
    waits: tuple[int, int]  # block and line in the same GPU; -1 for none


@dataclass(slots=True)
class Transfer:
    """A send and its receive."""

    source: int
    destination: int
    sent: Op
    came: Op
    step: int = 0


def from_msccl(text: str) -> Schedule:
    """The schedule that an XML of MSCCL writes down; ``verify`` judges it.

    - raises ``ValueError`` for what is no such XML, for sends without a receive, for
      blocks that wait for one another in a circle, and for what a schedule of one array
      cannot say; with GPU, block and step.

    >>> print(from_msccl('''<algo name="two" coll="allgather" ngpus="2" inplace="1"
    ... nchunksperloop="2"><gpu id="0"><tb id="0" send="1" recv="1" chan="0">
    ... <step s="0" type="s" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1"/>
    ... <step s="1" type="r" srcbuf="o" srcoff="1" dstbuf="o" dstoff="1" cnt="1"/>
    ... </tb></gpu><gpu id="1"><tb id="0" send="0" recv="0" chan="0">
    ... <step s="0" type="s" srcbuf="o" srcoff="1" dstbuf="o" dstoff="1" cnt="1"/>
    ... <step s="1" type="r" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1"/>
    ... </tb></gpu></algo>''').steps)
    1
    """
    try:
        top = ET.fromstring(text)
    except ET.ParseError as fault:
        raise ValueError(f"no XML: {fault}") from None
    collective = COLLECTIVES[resolve(_word(top, "coll"), COLLECTIVES, "coll")]
    ranks, chunks = _number(top, "ngpus"), _number(top, "nchunksperloop")
    inplace = _number(top, "inplace", 0)
    if not inplace and collective in ("all_reduce", "reduce_scatter"):
        raise ValueError("inplace = 0: its sums go to another array; one is needed")
    read = _Reading(collective, ranks, chunks)
    for gpu in top.iter("gpu"):
        read.gpu(gpu)
    rows = [
        Send(one.step, one.source, one.destination, chunk, "rr" in one.came.kind)
        for one in read.transfers()
        for chunk in one.came.at
    ]
    name, root = top.get("name", "msccl"), _number(top, "root", 0)
    rows.sort(key=lambda send: send.step)
    return Schedule(collective, name, ranks, chunks, tuple(rows), 0, root)


class _Reading:
    """Thread blocks read so far, and the two ends of each connection."""

    def __init__(self, collective: str, ranks: int, chunks: int) -> None:
        self.parted = collective in ("all_gather", "reduce_scatter")
        self.whole = "i" if collective == "reduce_scatter" else "o"
        self.part = chunks // ranks
        self.blocks: dict[tuple[int, int], list[Op]] = {}
        self.sent: dict[tuple[int, int, int], list[Op]] = defaultdict(list)
        self.came: dict[tuple[int, int, int], list[Op]] = defaultdict(list)

    def gpu(self, gpu: ET.Element) -> None:
        """All thread blocks of one."""
        rank = _number(gpu, "id")
        for block in gpu.iter("tb"):
            here = rank, _number(block, "id")
            to, of = _number(block, "send"), _number(block, "recv")
            channel = _number(block, "chan", 0)
            ops = self.blocks.setdefault(here, [])
            for line in block:
                op = self._op(rank, f"gpu {rank} tb {here[1]} step {len(ops)}", line)
                ops.append(op)
                if op.kind in SENDS:
                    self.sent[rank, to, channel].append(op)
                if op.kind in RECEIVES:
                    self.came[of, rank, channel].append(op)

    def _op(self, rank: int, where: str, line: ET.Element) -> Op:
        kind = _word(line, "type")
        if kind not in KINDS:
            raise ValueError(f"{where}: type {kind!r} is none of {sorted(KINDS)}")
        waits = _number(line, "depid", -1), _number(line, "deps", -1)
        if kind == "nop":
            return Op(where, kind, range(0), waits)
        count = _number(line, "cnt", 1)
        at, to = (
            self._place(
                rank, where, _word(line, f"{side}buf"), _number(line, f"{side}off")
            )
            for side in ("src", "dst")
        )
        if at != to and kind == "cpy":
            raise ValueError(f"{where}: a copy to another place of the array")
        at = at if kind == "s" else to
        return Op(where, kind, range(at, at + count), waits)

    def _place(self, rank: int, where: str, buffer: str, offset: int) -> int:
        """Where in the one array a part of the input or output stands."""
        if buffer not in ("i", "o"):
            raise ValueError(f"{where}: buffer {buffer!r}; only the array is read")
        own = self.parted and buffer != self.whole
        return offset + (rank * self.part if own else 0)

    def transfers(self) -> list[Transfer]:
        """Sends with their receives, each at the earliest step that it can be."""
        found: list[Transfer] = []
        of: dict[str, list[Transfer]] = defaultdict(list)  # by what does it
        for way in sorted({*self.sent, *self.came}):
            out, into = self.sent[way], self.came[way]
            source, node, channel = way
            if len(out) != len(into):
                raise ValueError(
                    f"gpu {source} sends {len(out)} times to gpu {node} over channel"
                    f" {channel}, which receives {len(into)} times: one waits forever"
                )
            for sent, came in zip(out, into, strict=True):
                if sent.at != came.at:
                    raise ValueError(
                        f"{came.where}: chunk {sent.at.start} of {sent.where} lands at"
                        f" {came.at.start}, or is not as long"
                    )
                found.append(Transfer(source, node, sent, came))
                of[f"{sent.where} out"].append(found[-1])
                of[f"{came.where} in"].append(found[-1])
        _settle(found, list(self._order(of)))
        return found

    def _order(
        self, of: dict[str, list[Transfer]]
    ) -> list[tuple[Transfer, Transfer, int]]:
        """Which transfer is not before which, or after it."""
        rules = []
        for (rank, _), ops in self.blocks.items():
            before: list[tuple[Transfer, int]] = []
            for op in ops:
                block, line = op.waits
                if line >= 0:
                    others = self.blocks.get((rank, block), [])
                    if line >= len(others):
                        raise ValueError(
                            f"{op.where}: waits for tb {block} step {line}, which is"
                            " not there"
                        )
                    before = before + _ends(others[line], of)
                mine = _ends(op, of)
                for then, comes in mine:  # sends of one block follow one another
                    rules += [
                        (first, then, int(came or not comes)) for first, came in before
                    ]
                if len(mine) == 2:  # what comes is passed on
                    rules.append((mine[0][0], mine[1][0], 1))
                before = mine or before
        return rules


def _ends(op: Op, of: dict[str, list[Transfer]]) -> list[tuple[Transfer, int]]:
    """Transfers of a line: what comes first, then what it sends; 1 for what comes."""
    came = [(one, 1) for one in of.get(f"{op.where} in", ())]
    return came + [(one, 0) for one in of.get(f"{op.where} out", ())]


def _settle(found: list[Transfer], rules: list[tuple[Transfer, Transfer, int]]) -> None:
    """Steps as early as all rules allow: raised until none is broken."""
    for _ in range(len(found) + 1):
        broken = False
        for first, then, after in rules:
            if then.step < first.step + after:
                then.step, broken = first.step + after, True
                late = then
        if not broken:
            return
    raise ValueError(f"{late.came.where}: deadlock, it waits for what waits for it")


def _word(of: ET.Element, name: str) -> str:
    found = of.get(name)
    if found is None:
        raise ValueError(f"<{of.tag}>: {name} is missing")
    return found


def _number(of: ET.Element, name: str, default: int | None = None) -> int:
    word = (
        str(default)
        if default is not None and name not in of.keys()
        else _word(of, name)
    )
    try:
        return int(word)
    except ValueError:
        raise ValueError(f"<{of.tag}>: {name} = {word!r} is no whole number") from None
