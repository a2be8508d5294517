"""Requests, machines and a clock: how long everybody waits, event by event.

What is left out: the network, tokenizing, failed requests; a request has no more than
one text in common with others, and an answer is found by others once it is whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from typing import Any

from stacklib.hardware import Accelerator
from stacklib.models import LanguageModel
from stacklib.quantity import Quantity
from stacklib.quantity.bounds import at_least, whole
from stacklib.quantity.names import resolve

from ..estimates.asked import Draft, draft_of
from ..token.account import SOFTWARE
from . import setup
from .changes import Watcher, autoscale_of, failures_of
from .loop import Run
from .machine import Limits, Machine
from .pace import Pace
from .pool import Below, Tier, tiers_of
from .pools import Pools, Turns, crossing_of, pools_of, roles_of
from .request import Request
from .results import Outcome, Simulation
from .rows import ROLES, ROUTERS, SCHEDULERS, Router, Scheduler
from .setup import BLOCK, Served
from .steps import Estimated, Law, law_of
from .traffic import Row, rows_of
from .writers import Checked, Drafted, Plain

MOST = 1 << 40  # blocks, where nobody knows how many there are


@dataclass(frozen=True, slots=True)
class House:
    """Everything but the traffic, and a run of it.

    - ``roles``: of each machine, those that may be asked for later too
    - ``written``: who writes the drafts
    """

    served: Served | None
    limits: Limits
    scheduler: Scheduler
    router: Router
    roles: tuple[str, ...]
    gap: float | Pace | None
    step_time: Any
    jump: bool
    seed: int
    pools: Pools | None
    changes: Callable[[], list[Watcher]]
    draft: Draft | None
    written: Served | None
    tiers: tuple[Tier, ...]

    def run(
        self,
        rows: Sequence[Row],
        factor: float = 1.0,
        at_once: int = 0,
        log: bool = False,
    ) -> Outcome:
        """Serve rows, with steps so many times as long, or all at once so often."""
        gaps: Counter[int] = Counter()
        reach: dict[object, int] = {}
        for row in rows:
            if places := row.shared // self.limits.size:
                reach[row.text] = max(places, reach.get(row.text, 0))
        does = self.limits, self.scheduler, reach, gaps, self.jump
        machines = []
        for index, role in enumerate(self.roles):
            law, kind = self._law(factor, index), ROLES[role]
            each = Machine(index, law, kind, *does, self._writer, self._below)
            each.log = [] if log else None
            machines.append(each)
        crossing = crossing_of(self.pools, self.served)
        run = Run(machines, self.router, crossing, self.changes())
        first = run.now = rows[0].arrival
        # Made when they come, so that a long traffic is not in memory twice.
        run.run(
            Request(place, first if at_once else row.arrival, row)
            for place, row in enumerate(chain.from_iterable(repeat(rows, at_once or 1)))
        )
        return _outcome(run, gaps)

    def _writer(self) -> Plain:
        """How answers grow."""
        if self.draft is None:
            return Plain(self.limits.size)
        return Drafted(self.limits.size, *self.draft[:2], self.seed)

    def _below(self) -> Below | None:
        """The tiers of one replica, if there are any."""
        if not self.tiers:
            return None
        assert self.served is not None
        return Below(self.tiers, self.served.cached * self.limits.size)

    def _law(self, factor: float, index: int) -> Law:
        def default() -> Law:
            assert self.served is not None
            law = self.served.law(self.gap, factor)
            if self.pools is not None and self.pools.kinds[0] == "attention":
                assert isinstance(law, Estimated)
                return Turns(law, self.pools)
            if self.draft is not None:
                assert isinstance(law, Estimated)
                by = self.written
                draft = None if by is None else by.law(self.gap, factor)
                return Checked(law, draft, self.draft.tokens)
            return law

        return law_of(self.step_time, default, self.seed, index)


def simulate(
    model: str | LanguageModel | None,
    on: str | Accelerator | None = None,
    traffic: Iterable[Sequence[Any]] = (),
    *,
    replicas: int = 1,
    tp: int = 1,
    dtype: str | Quantity | None = "bf16",
    kv_dtype: str | Quantity | None = None,
    ep: int = 1,
    software: str = "engine",
    blocks: int | None = None,
    scheduler: str = "continuous",
    chunk: int = 512,
    max_batch: int = 128,
    pools: Mapping[str, Any] | None = None,
    router: str = "round-robin",
    tiers: Mapping[str, Sequence[Any]] | None = None,
    draft: Sequence[Any] | None = None,
    failures: Any = None,
    autoscale: Mapping[str, Any] | None = None,
    gap: float | Pace | None = None,
    step_time: Any = None,
    jump: bool = True,
    seed: int = 0,
) -> Simulation:
    """Serve a traffic until the last request is done, and keep every time.

    Parameters
    ----------
    model, on, tp, dtype, kv_dtype, ep, software
        Of one replica, as ``estimate`` takes them; *this machine* runs the book's own
        models. They may be None where ``step_time`` is given.
    traffic : iterable of Row
        Requests in the order of arrival: id, arrival in nanoseconds, tokens of prompt
        and answer, prefix.
    replicas : int
        Machines alike.
    blocks : int, optional
        Blocks of 16 tokens of a replica's cache: what weights leave room for.
    scheduler : str
        ``"static"``, ``"continuous"`` or ``"chunked"``: rows of ``SCHEDULERS``.
    chunk, max_batch : int
        Tokens and requests of a step; a request has at least a token of its own.
    pools : mapping, optional
        Machines of ``"prefill"`` and ``"decode"``, with ``"link"`` in bytes a second
        out of a machine (its chips' own) and ``"crossing"`` in seconds of each
        transfer besides (0); or of ``"attention"`` and ``"mlp"``, with ``"crossing"``
        between two layers' halves (7.5e-6) and ``"micro_batches"`` (2).
    router : str
        ``"round-robin"``, ``"least-loaded"`` (a request waits for the first free slot
        anywhere) or ``"prefix-aware"`` (where it is read soonest).
    tiers : mapping, optional
        Below a replica's blocks, the nearest first: blocks and bytes a second of each,
        by name. Places of texts that rows have in common go there and come back.
    draft : tuple, optional
        Acceptance, tokens and, unless it is a look-up, the model that writes them, as
        ``estimate`` takes them. A given ``step_time`` is that of a whole pass.
    failures : sequence or mapping, optional
        Seconds, machine and seconds down of each; or ``"between"``, the mean seconds
        until a machine fails, and ``"down"``.
    autoscale : mapping, optional
        ``"most"`` machines, one more where over ``"waiting"`` requests wait for each,
        up after ``"ready"`` seconds; ``replicas`` stay.
    gap : float or Pace, optional
        Seconds of the host in each step, in place of the estimate's; of this machine
        also by what is in a step.
    step_time : float, callable or Exponential, optional
        Seconds of a step in place of the estimate's: a number, a function of ``Work``,
        or a draw.
    jump : bool
        Pass over steps in which the batch does not change; the answer is the same.
    seed : int
        Of what is drawn.

    Returns
    -------
    Simulation
        The same for the same arguments, to the nanosecond.

    Raises
    ------
    UnknownName
        For a name that nothing has.
    Infeasible
        For a model that does not fit.
    ValueError
        For rows and numbers that make no sense, and for a request that the blocks can
        never hold.
    """
    whole(replicas=replicas, tp=tp, ep=ep, chunk=chunk, max_batch=max_batch)
    whole(0, seed=seed)
    scheduler = resolve(scheduler, SCHEDULERS, "scheduler")
    router = resolve(router, ROUTERS, "router")
    software = resolve(software, SOFTWARE, "software", exact=True)
    if jump not in (True, False):
        raise ValueError(f"jump = {jump!r}: True or False")
    drafted = draft_of(draft)
    each = 1 if drafted is None else 1 + drafted[1]
    if chunk < each * max_batch:
        raise ValueError(
            f"chunk = {chunk} tokens a step for max_batch = {max_batch} requests: at "
            f"least {each} a request, {each * max_batch}"
        )
    if gap is not None and not isinstance(gap, Pace):
        at_least(0, gap=gap)
    served = None
    if model is not None and on is not None:
        served = setup.served(model, on, tp, ep, dtype, kv_dtype, software)
    elif step_time is None:
        raise ValueError("model and on are needed where no step_time is given")
    below = tiers_of(tiers)
    if below and (served is None or not served.cached):
        raise ValueError("tiers: of a model on chips, whose cache is copied")
    written = None
    if served is not None and drafted is not None:
        if served.step is None:
            raise ValueError("draft: of a model on chips alone")
        if drafted[2] is not None:
            written = setup.served(drafted[2], on, tp, ep, None, None, software)
    if blocks is None:
        blocks = MOST if served is None or served.blocks is None else served.blocks
    whole(blocks=blocks)
    limits = Limits(blocks, BLOCK, max_batch, chunk)
    rows = rows_of(traffic)
    found = None if pools is None else pools_of(pools)
    if found is not None and replicas != 1:
        raise ValueError(f"replicas = {replicas} beside pools, which count machines")
    if found is not None and found.kinds[0] == "attention":
        if served is None or served.step is None:
            raise ValueError("pools of attention and mlp: of a model on chips alone")
        if drafted is not None:
            raise ValueError("draft beside pools of attention and mlp: one of both")
        limits = limits._replace(blocks=limits.blocks * found.sizes[0])
    if found is not None and autoscale is not None:
        raise ValueError("autoscale beside pools: machines of one kind alone")
    scaled = autoscale_of(autoscale, replicas)
    roles = roles_of(found, replicas if scaled is None else scaled.most)
    listed = [*failures] if isinstance(failures, Iterator) else failures

    def changes() -> list[Watcher]:
        """Who looks on in a run, anew for each."""
        failing = failures_of(listed, len(roles), seed)
        both = failing, autoscale_of(autoscale, replicas)
        return [each for each in both if each is not None]

    changes()  # raises
    who, where = SCHEDULERS[scheduler], ROUTERS[router]
    more = found, changes, drafted, written, below
    house = House(served, limits, who, where, roles, gap, step_time, jump, seed, *more)
    _hold(rows, limits)
    return Simulation(
        house.run(rows),
        partial(house.run, rows),
        max_batch * sum(ROLES[role].writes for role in roles),
        None if served is None or step_time is not None else served.band(gap),
        "steps as given" if served is None else served.title,
    )


def _hold(rows: Sequence[Row], limits: Limits) -> None:
    """Refuse what the blocks can never hold; nobody reads the last token."""
    for place, row in enumerate(rows, 1):
        longest = row.prompt + row.new - 1
        need = -(-longest // limits.size)
        if need > limits.blocks:
            raise ValueError(
                f"row {place} ({row.id!r}): {row.prompt} + {row.new} - 1 = {longest} "
                f"tokens need {need} blocks of {limits.size}: there are {limits.blocks}"
            )


def _outcome(run: Run, gaps: Counter[int]) -> Outcome:
    """What a run left, with Little's law held: both sides are counted apart."""
    done = tuple(run.done[place] for place in range(len(run.done)))
    stayed = sum(each.e2e for each in done)
    if stayed != run.area:
        raise AssertionError(
            f"requests stayed {stayed} ns in all, the house held {run.area}"
        )
    for machine in run.machines:
        if machine.load or machine.pool.free != machine.limits.blocks:
            free, blocks = machine.pool.free, machine.limits.blocks
            raise AssertionError(
                f"machine {machine.index}: {free} of {blocks} blocks free at the end"
            )
    machines, last = run.machines, done[-1].arrival
    log = [ran for machine in machines for ran in machine.log or ()]
    log.sort(key=lambda ran: (ran.start, ran.machine))
    steps = sum(machine.steps for machine in machines)
    busy = tuple(machine.busy for machine in machines)
    lost = sum(machine.preempted for machine in machines)
    made = busy, steps, lost, run.spent, tuple(log)
    return Outcome(done, gaps, run.area, last, run.at_last, run.now, *made)
