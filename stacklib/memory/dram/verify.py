"""Reads a list of DRAM commands again and names the rule it breaks.

Nothing of the simulator's state is used: the rules are a table of *these commands,
then those, in this part of the channel, at least so many clocks apart*, and the checker
keeps only when it last saw what. A list made by other means can be checked as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .channel import Command, Served
from .parts import Clocks


class TimingViolation(ValueError):
    """A command that is too early or makes no sense; names the constraint."""


class Verdict(NamedTuple):
    """What a list of commands that breaks no rule has done."""

    commands: int
    refreshed: tuple[int, ...]  # refreshes of each bank: row groups it has renewed
    owed: int  # refreshes whose time had come, and which the list does not hold

    def left(self, refreshes: int) -> int:
        """Row groups that some bank has still to renew, of so many ``refreshes``."""
        return max(0, refreshes - min(self.refreshed))


class Rule(NamedTuple):
    """``after`` comes at least ``gap`` clocks after ``before``, within ``part``.

    A part is a ``bank``, a ``group``, the ``channel``, or the ``others``: all stack ids
    but the one that is meant.
    """

    name: str
    before: str
    after: str
    part: str
    gap: int


def rules(c: Clocks) -> list[Rule]:
    """All rules between two commands, by the names of the standards."""
    end = c.cwl + c.bl
    return [
        Rule("tRC", "ACT", "ACT", "bank", c.rc),
        Rule("tRCD", "ACT", "READ", "bank", c.rcd),
        Rule("tRCDWR", "ACT", "WRITE", "bank", c.rcdw),
        Rule("tRAS", "ACT", "PRE", "bank", c.ras),
        Rule("tRP", "PRE", "ACT", "bank", c.rp),
        Rule("tRP", "PRE", "REF", "bank", c.rp),
        Rule("tRTP", "READ", "PRE", "bank", c.rtp),
        Rule("tWR", "WRITE", "PRE", "bank", end + c.wr),
        Rule("tRFC", "REF", "ACT", "bank", c.rfc),
        Rule("tRFC", "REF", "REF", "bank", c.rfc),
        Rule("tRRD_L", "ACT", "ACT", "group", c.rrd_l),
        Rule("tCCD_L", "READ", "READ", "group", c.ccd_l),
        Rule("tCCD_L_WR", "WRITE", "WRITE", "group", c.ccd_l_wr),
        Rule("tWTR_L", "WRITE", "READ", "group", end + c.wtr_l),
        Rule("tPPD", "PRE", "PRE", "channel", c.ppd),
        Rule("tCCD_R", "READ", "READ", "others", c.ccd_r),
        Rule("tRRD_S", "ACT", "ACT", "channel", c.rrd_s),
        Rule("tCCD_S", "READ", "READ", "channel", c.ccd_s),
        Rule("tCCD_S", "WRITE", "WRITE", "channel", c.ccd_s),
        Rule("tWTR_S", "WRITE", "READ", "channel", end + c.wtr_s),
        Rule("tRTW", "READ", "WRITE", "channel", c.rtw),
        Rule("tRREFD", "REF", "ACT", "channel", c.rrefd),
        Rule("tRREFD", "REF", "REF", "channel", c.rrefd),
    ]


class _Checker:
    """When each kind of command was last seen, in every part of the channel."""

    def __init__(self, c: Clocks, closes: bool, postponed: int) -> None:
        self.c, self.closes, self.postponed = c, closes, postponed
        self.each = c.groups * c.banks // c.sids  # banks of a stack id
        self.last: dict[tuple[str, str, int], int] = {}
        self.rows: dict[int, int] = {}
        self.acts: list[int] = []
        self.buses: dict[str, int] = {}
        self.data_end, self.interval = 0, 0
        self.refreshed = [0] * (c.groups * c.banks)
        self.by_after: dict[str, list[Rule]] = {}
        for rule in rules(c):
            self.by_after.setdefault(rule.after, []).append(rule)

    def banks_of(self, command: Command) -> Sequence[int]:
        count = self.c.groups * self.c.banks
        if command.kind == "REF" and self.c.sets > 1:
            return range(command.bank, count, self.c.sets)
        if command.bank >= 0:
            return (command.bank,)
        if command.kind == "PRE":  # banks that close themselves are not meant
            return sorted(self.rows)
        return range(count)

    def parts(self, bank: int) -> tuple[tuple[str, int], ...]:
        return (
            ("bank", bank),
            ("group", bank // self.c.banks),
            ("sid", bank // self.each),
            ("channel", 0),
        )

    def last_seen(self, kind: str, part: str, bank: int) -> int | None:
        """Clock of the last command of a kind in a part that a bank belongs to."""
        if part != "others":
            return self.last.get((kind, part, dict(self.parts(bank))[part]))
        away = (s for s in range(self.c.sids) if s != bank // self.each)
        return max((self.last.get((kind, "sid", s), -1) for s in away), default=-1)

    def fail(self, command: Command, why: str) -> None:
        raise TimingViolation(
            f"{why}: {command.kind} of bank {command.bank} in clock {command.cycle}"
        )

    def take(self, command: Command) -> None:
        """Check one command and remember it."""
        self.bus(command)
        banks = self.banks_of(command)
        for bank in banks:
            self.state(command, bank)
            self.spacing(command, bank)
        if command.kind == "ACT":
            if len(self.acts) >= 4 and command.cycle - self.acts[-4] < self.c.faw:
                self.fail(command, "tFAW")
            self.acts.append(command.cycle)
        if command.kind in ("READ", "WRITE"):
            self.data(command)
        self.debt(command, banks)
        for bank in banks:
            self.remember(command.kind, command.cycle, bank)
        if self.closes and command.kind in ("READ", "WRITE"):
            self.close(command)

    def bus(self, command: Command) -> None:
        column = command.kind in ("READ", "WRITE")
        bus = "column" if column and self.c.dual else "command"
        if command.cycle <= self.buses.get(bus, -1):
            self.fail(command, f"{bus} bus is taken")
        self.buses[bus] = command.cycle

    def owed(self, cycle: int) -> int:
        """Refreshes whose time has come, less those that came.

        They go round the sets of banks, in any order: a set that was refreshed twice
        in a round has not paid for another.
        """
        due = cycle // self.c.refi if self.c.refi else 0
        rounds = -(-due // self.c.sets)
        return due - sum(min(n, rounds) for n in self.refreshed[: self.c.sets])

    def debt(self, command: Command, banks: Sequence[int]) -> None:
        """See whether a refresh was left out, and count one.

        One may be owed from its time until the next one's.
        """
        interval = command.cycle // self.c.refi if self.c.refi else 0
        if interval != self.interval:
            self.interval, owed = interval, self.owed(command.cycle)
            if owed > 1 + self.postponed * self.c.sets:
                self.fail(command, f"tREFI: {owed} refreshes are owed")
        if command.kind == "REF":
            for bank in banks:
                self.refreshed[bank] += 1

    def state(self, command: Command, bank: int) -> None:
        row = self.rows.get(bank)
        if command.kind == "ACT":
            if row is not None:
                self.fail(command, f"bank is open with row {row}")
            self.rows[bank] = command.row
        elif command.kind == "PRE":
            self.rows.pop(bank, None)
        elif command.kind == "REF" and row is not None:
            self.fail(command, f"bank {bank} is open")
        elif command.kind in ("READ", "WRITE") and row is None:
            self.fail(command, "bank is closed")

    def spacing(self, command: Command, bank: int) -> None:
        for rule in self.by_after.get(command.kind, ()):
            before = self.last_seen(rule.before, rule.part, bank)
            if before is not None and 0 <= before > command.cycle - rule.gap:
                self.fail(command, f"{rule.name} of {rule.gap} clocks")

    def data(self, command: Command) -> None:
        wait = self.c.cl if command.kind == "READ" else self.c.cwl
        start = command.cycle + wait
        if start < self.data_end:
            self.fail(command, "data bus is taken")
        self.data_end = start + self.c.bl

    def remember(self, kind: str, cycle: int, bank: int) -> None:
        for part, index in self.parts(bank):
            self.last[kind, part, index] = cycle

    def close(self, command: Command) -> None:
        """The precharge that a bank does by itself after its read or write."""
        c, bank = self.c, command.bank
        wait = c.rtp if command.kind == "READ" else c.cwl + c.bl + c.wr
        opened = self.last["ACT", "bank", bank]
        self.rows.pop(bank, None)
        at = max(opened + c.ras, command.cycle + wait)
        self.last["PRE", "bank", bank] = at


def check_commands(
    commands: Iterable[Command],
    clocks: Clocks,
    *,
    closes: bool = False,
    postponed: int = 0,
) -> Verdict:
    """Hold a list of commands to every rule.

    ``postponed`` refreshes of each bank may be put off, which the standards allow a
    controller up to eight times; without it a refresh comes before the next is due.
    """
    checker, count, cycle = _Checker(clocks, closes, postponed), 0, 0
    for command in commands:
        if command.kind not in ("ACT", "PRE", "READ", "WRITE", "REF"):
            raise TimingViolation(f"no command {command.kind!r}")
        checker.take(command)
        count, cycle = count + 1, command.cycle
    return Verdict(count, tuple(checker.refreshed), max(0, checker.owed(cycle)))


def verify(served: Served) -> Verdict:
    """Check a run: every rule, and every request served once from its own row."""
    listed = list(served.commands())
    verdict = check_commands(listed, served.clocks, closes=served.closes)
    rows: dict[int, int] = {}
    seen = [0] * len(served.banks)
    for command in listed:
        if command.kind == "ACT":
            rows[command.bank] = command.row
        if command.kind not in ("READ", "WRITE"):
            continue
        r = command.request
        seen[r] += 1
        right = (served.banks[r], served.rows[r], served.stores[r])
        if (command.bank, rows[command.bank], command.kind == "WRITE") != right:
            raise TimingViolation(f"request {r} of {right} was served by {command}")
    if any(times != 1 for times in seen):
        raise TimingViolation(f"request {seen.index(min(seen))} was not served once")
    return verdict
