"""Machines that come and go: failures, and one more where the line is long.

A machine that fails loses its caches and the step that it is in. Its requests go back
to the router with the tokens that their clients have, and are read again elsewhere.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stacklib.quantity.bounds import above_zero, at_least, whole
from stacklib.quantity.names import resolve_all

from .steps import nanoseconds
from .traffic import draws

if TYPE_CHECKING:
    from .loop import Run
    from .machine import Machine


class Watcher:
    """Looks on, and changes which machines are up; this one changes nothing."""

    def begin(self, run: Run) -> None:
        """Before the first arrival."""

    def arrived(self, run: Run) -> None:
        """After a request found its machine, or a place in line."""

    def ended(self, run: Run, machine: Machine) -> None:
        """After steps of a machine."""


class Failures(Watcher):
    """Times at which machines fail, and for how long they are down.

    - ``listed``: seconds, machine and seconds down, each; or None
    - ``between``, ``down``: mean seconds from repair to failure, by an exponential law,
      and seconds down; for every machine by draws of its own
    """

    def __init__(
        self,
        listed: Iterable[Sequence[Any]] | None,
        between: float = 0.0,
        down: float = 0.0,
        seed: int = 0,
    ) -> None:
        self.listed, self.between, self.down = listed, between, down
        self.seed = seed
        self._draws: dict[int, random.Random] = {}

    def begin(self, run: Run) -> None:
        """As of `Watcher`."""
        for at, index, down in self.listed or ():
            self._plan(run, run.now + nanoseconds(at, 0), index, down)
        if self.listed is None:
            for machine in run.machines:
                index = machine.index
                self._draws[index] = draws(self.seed, f"failures {index}")
                self._next(run, index, run.now)

    def _next(self, run: Run, index: int, since: int) -> None:
        pause = self._draws[index].expovariate(1 / self.between)
        self._plan(run, since + nanoseconds(pause, 0), index, self.down)

    def _plan(self, run: Run, at: int, index: int, down: float) -> None:
        back = at + nanoseconds(down)

        def fails() -> None:
            if run.machines[index].up:
                run.stop(run.machines[index])
                run.change(back, repaired)
            elif self.listed is None:
                self._next(run, index, back)  # it was off

        def repaired() -> None:
            run.start(run.machines[index])
            if self.listed is None:
                self._next(run, index, back)

        run.change(at, fails)


class Autoscale(Watcher):
    """One more machine where more requests wait than a threshold for each that is up.

    It goes again where nobody waits and it has nothing to do.

    - ``least``: machines that stay
    - ``waiting``: requests in line for each machine
    - ``ready``: seconds until a machine that was asked for is up
    """

    def __init__(self, least: int, most: int, waiting: float, ready: float) -> None:
        self.least, self.most, self.waiting = least, most, waiting
        self.ready = nanoseconds(ready, 0)
        self.coming = 0

    def begin(self, run: Run) -> None:
        """As of `Watcher`."""
        for machine in run.machines[self.least :]:
            machine.up = False

    def arrived(self, run: Run) -> None:
        """As of `Watcher`."""
        off = [each for each in run.machines if not each.up]
        there = len(run.machines) - len(off) + self.coming
        if len(off) <= self.coming or run.waiting() <= self.waiting * there:
            return
        self.coming += 1

        def up() -> None:
            self.coming -= 1
            # One that had failed may be back before.
            for machine in [each for each in run.machines if not each.up][:1]:
                run.start(machine)

        run.change(run.now + self.ready, up)

    def ended(self, run: Run, machine: Machine) -> None:
        """As of `Watcher`."""
        there = sum(each.up for each in run.machines)
        if not machine.load and there > self.least and not run.waiting():
            run.stop(machine)


SCALE = ("most", "waiting", "ready")


def failures_of(given: Any, machines: int, seed: int) -> Failures | None:
    """Failures as asked for: a list, a mapping, or none; ValueError for others."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        named = _named(given, ("between", "down"), "failures")
        above_zero(between=named["between"])
        at_least(0, down=named["down"])
        return Failures(None, named["between"], named["down"], seed)
    listed = list(given) if isinstance(given, Iterable) else [given]
    for place, each in enumerate(listed, 1):
        if not isinstance(each, Sequence) or len(each) != 3:
            raise ValueError(
                f"failure {place}: {each}: seconds, machine and seconds down are needed"
            )
        at, index, down = each
        at_least(0, at=at, down=down)
        whole(0, machine=index)
        if index >= machines:
            raise ValueError(
                f"failure {place}: machine {index}: there are {machines}, from 0"
            )
    return Failures(listed)


def autoscale_of(given: Mapping[str, Any] | None, replicas: int) -> Autoscale | None:
    """Autoscaling as asked for; ValueError for what makes no sense."""
    if given is None:
        return None
    named = _named(given, SCALE, "autoscale")
    whole(replicas, most=named["most"])
    at_least(0, waiting=named["waiting"], ready=named["ready"])
    return Autoscale(replicas, *(named[name] for name in SCALE))


def _named(given: Mapping[str, Any], known: Sequence[str], what: str) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise ValueError(f"{what} = {given!r}: {', '.join(known)} by name")
    found = resolve_all(given, known, what)
    if missing := [name for name in known if name not in found]:
        raise ValueError(f"{what} = {dict(given)}: {missing[0]} is missing")
    return found
