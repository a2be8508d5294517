"""Which machine an agent keeps busy: shares of the work and of the longest path.

Three different numbers are called a share. Of the *work*: processors' seconds over
those of processors and GPUs together. Of the *path*: what the one who waits is waiting
for. *Utilisation*: busy places over places, with so many sessions at once, which cannot
come faster than any kind of machine lets them, nor than each follows itself:

    sessions a second <= min(sessions / path, places / work, kind by kind)
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from stacklib.quantity.bounds import at_least, whole
from stacklib.quantity.names import resolve

from .order import Before, longest, ordered, run, si

CPU, GPU, NETWORK = "cpu", "gpu", "network"
MACHINES = (CPU, GPU)


@dataclass(frozen=True, slots=True)
class Step:
    """One piece of work.

    - ``whose``: cpu, gpu or network
    - ``after``: names of what it waits for; default the step given before it
    """

    name: str
    whose: str
    seconds: Any
    after: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Shares:
    """A workload's seconds by kind of machine, summed and along the longest path."""

    before: Before
    seconds: Mapping[str, Any]
    whose: Mapping[str, str]
    length: Any  # seconds of the longest path
    path: tuple[str, ...]

    def work(self, kind: str) -> Any:
        """Seconds of a kind, whether or not somebody waits for them."""
        return self._sum(kind, self.seconds)

    def share(self, kind: str) -> Any:
        """Of the work of processors and GPUs together."""
        return self.work(kind) / reduce(add, map(self.work, MACHINES))

    def utilisation_bound(
        self, sessions: int, places: Mapping[str, int]
    ) -> dict[str, float]:
        """Share of each kind's places that is busy at most: by the formula above."""
        whole(sessions=sessions)
        held = {kind: si(self.work(kind)) for kind in _checked(places)}
        rates = [places[kind] / work for kind, work in held.items() if work]
        rate = min([sessions / si(self.length), *rates])
        return {kind: rate * work / places[kind] for kind, work in held.items()}

    def utilisation(
        self,
        sessions: int,
        places: Mapping[str, int],
        *,
        rounds: int = 50,
        seed: int | None = None,
    ) -> dict[str, float]:
        """The same of a run: that many sessions, each beginning again when it ends.

        - ``places``: processors that run tools, and sequences that GPUs decode at once
        - ``seed``: draws each step's time, exponential around its own; default as given
        """
        whole(sessions=sessions, rounds=rounds)
        lengths, draw = {n: si(s) for n, s in self.seconds.items()}, random.Random(seed)

        def seconds(name: str) -> float:
            return lengths[name] * (1.0 if seed is None else draw.expovariate(1.0))

        given = (self.before, seconds, self.whose, _checked(places))
        took, work = run(*given, sessions=sessions, rounds=rounds)
        return {k: work.get(k, 0.0) / (took * many) for k, many in places.items()}

    def _sum(self, kind: str, names: Iterable[str]) -> Any:
        found = [self.seconds[n] for n in names if self.whose[n] == kind]
        return reduce(add, found) if found else 0 * self.length


def machine_share(workload: Iterable[Step]) -> Shares:
    """Which machine a workload keeps busy, and which one is waited for.

    Parameters
    ----------
    workload : iterable of Step
        Such as ``session(...).steps``.

    Raises
    ------
    ValueError
        For no steps, a name given twice, seconds that are none, steps that wait for
        one another, and a workload that no machine works on.
    UnknownName
        For another kind of machine or a step that is not there.

    Examples
    --------
    >>> rag = [Step("retrieve", "cpu", 1.0), Step("answer", "gpu", 3.0)]
    >>> found = machine_share(rag)
    >>> found.share("cpu"), found.path
    (0.25, ('retrieve', 'answer'))
    """
    steps = list(workload)
    names = [step.name for step in steps]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two steps are called {name!r}: names tell them apart")
    waits: list[tuple[str, str]] = []
    for number, step in enumerate(steps):
        at_least(0.0, **{f"seconds of {step.name}": step.seconds})
        default = tuple(names[number - 1 : number]) if number else ()
        after = default if step.after is None else step.after
        if isinstance(after, str):
            raise ValueError(f"after = {after!r} of {step.name}: a tuple of names")
        waits += [(each, step.name) for each in after]
    kinds = (*MACHINES, NETWORK)
    whose = {s.name: resolve(s.whose, kinds, "kind of machine") for s in steps}
    before = ordered(names, waits)
    seconds = {step.name: step.seconds for step in steps}
    if not any(si(s.seconds) for s in steps if whose[s.name] != NETWORK):
        raise ValueError("no step takes a processor or a GPU any time")
    length, path = longest(before, seconds)
    return Shares(before, seconds, whose, length, path)


def _checked(places: Mapping[str, int]) -> Mapping[str, int]:
    for kind in places:
        resolve(kind, MACHINES, "kind of machine", exact=True)
    whole(**{f"places of {kind}": many for kind, many in places.items()})
    return places
