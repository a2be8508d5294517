"""A pipeline run event by event: who works when, who waits, what is held.

A stage does its work in its own order, each piece as soon as the stage is free and what
the piece needs has arrived: a forward needs the forward of the part of the model before
it, a backward that of the part behind it and its own forward, the weights' part its own
inputs' part. What crosses to another stage takes ``send`` more; sending holds up no
stage. An order in which somebody waits for good is named with all who wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stacklib.quantity.bounds import above_zero, at_least

from .order import BACKWARD, FORWARD, INPUTS, WEIGHTS, Pipeline, Work

Place = tuple[int, Work]  # a stage, and its work
Times = float | Sequence[float]  # seconds of a whole stage, or of each part


class Deadlock(ValueError):
    """Stages wait for one another; the message names each and what it waits for."""


class Span(NamedTuple):
    """A piece of work with its time."""

    work: Work
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class PipelineRun:
    """When each stage did what, and the most activations that it held."""

    spans: tuple[tuple[Span, ...], ...]
    held: tuple[float, ...]  # by stage, in microbatches through a whole stage

    @property
    def time(self) -> float:
        """From the first start to the last end."""
        return max(stage[-1].end for stage in self.spans)

    def busy(self, stage: int) -> float:
        """Time in which a stage works."""
        return sum(span.end - span.start for span in self.spans[stage])

    @property
    def bubble(self) -> float:
        """Time in which stages wait, over the time in which they work."""
        useful = sum(map(self.busy, range(len(self.spans))))
        return len(self.spans) * self.time / useful - 1

    @property
    def inner_bubble(self) -> float:
        """The same of the stage that waits longest between its own first and last."""
        stages = range(len(self.spans))
        own = [row[-1].end - row[0].start for row in self.spans]
        return max(own[s] / self.busy(s) - 1 for s in stages)


def run_pipeline(
    plan: Pipeline,
    *,
    forward: Times = 1.0,
    inputs: Times = 1.0,
    weights: Times = 1.0,
    backward: Times | None = None,
    send: float = 0.0,
) -> PipelineRun:
    """Run a pipeline's orders of work event by event.

    Parameters
    ----------
    plan : Pipeline
        Each stage's order, from ``pipeline`` or your own.
    forward, inputs, weights : float or sequence of float
        Seconds of a microbatch on a whole stage; or of each part of the model, in
        order, where they differ.
    backward : float or sequence of float, optional
        The same of a backward that is not taken apart; else the last two added.
    send : float
        Seconds from one stage to another.

    Returns
    -------
    PipelineRun
        ``.time``, ``.bubble``, ``.spans`` and ``.held``, both by stage.

    Raises
    ------
    Deadlock
        Naming the stages that wait and what for.
    ValueError
        For work that is missing, done twice or unknown, for times below zero, and for
        more or fewer times than parts.

    Examples
    --------
    >>> from stacklib.interconnect.pipelines.order import pipeline
    >>> run = run_pipeline(pipeline(4, 8))
    >>> run.time, run.bubble, run.held
    (33.0, 0.375, (4.0, 3.0, 2.0, 1.0))
    """
    at_least(0, send=send)
    check(plan)
    given = {FORWARD: forward, INPUTS: inputs, WEIGHTS: weights}
    times = {kind: _by_part(plan, kind, time) for kind, time in given.items()}
    if backward is None:
        both = zip(times[INPUTS], times[WEIGHTS], strict=True)
        times[BACKWARD] = tuple(map(sum, both))
    else:
        times[BACKWARD] = _by_part(plan, BACKWARD, backward)
    ends: dict[Place, float] = {}
    spans: list[list[Span]] = [[] for _ in plan.orders]
    moved = True
    while moved:
        moved = False
        for stage, order in enumerate(plan.orders):
            free = spans[stage][-1].end if spans[stage] else 0.0
            while len(spans[stage]) < len(order):
                works = _together(plan, stage, len(spans[stage]))
                needed = _before(plan, stage, works)
                if any(place not in ends for place in needed):
                    break
                came = [ends[at] + send * (at[0] != stage) for at in needed]
                start = max([free, *came])
                for work in works:
                    free = start + times[work.kind][_part(plan, stage, work.chunk)]
                    spans[stage].append(Span(work, start, free))
                    start = free
                ends |= {(stage, work): free for work in works}
                moved = True
    waiting = [s for s, order in enumerate(plan.orders) if len(spans[s]) < len(order)]
    if waiting:
        raise Deadlock(_told(plan, spans, waiting, ends))
    held = tuple(_held(order) / plan.chunks for order in plan.orders)
    return PipelineRun(tuple(map(tuple, spans)), held)


def _by_part(plan: Pipeline, kind: str, time: Times) -> tuple[float, ...]:
    """Seconds of each part of the model."""
    pieces = 1 if plan.mirrored else plan.chunks
    parts = plan.stages * pieces
    if not isinstance(time, Iterable):
        above_zero(**{kind: time})
        return (time / pieces,) * parts
    each = tuple(time)
    if len(each) != parts:
        raise ValueError(f"{kind}: {len(each)} times of {parts} parts; one for each")
    for at, seconds in enumerate(each):
        above_zero(**{f"{kind} of part {at}": seconds})
    return each


def check(plan: Pipeline) -> None:
    """Refuse orders in which work is missing, done twice, or none of the pipeline's."""
    for stage, order in enumerate(plan.orders):
        kinds = {work.kind for work in order}
        apart = bool(kinds & {INPUTS, WEIGHTS})
        asked = (FORWARD, INPUTS, WEIGHTS) if apart else (FORWARD, BACKWARD)
        wanted = {
            Work(kind, k, c)
            for kind in asked
            for k in range(plan.microbatches)
            for c in range(plan.chunks)
        }
        seen: set[Work] = set()
        for work in order:
            if work not in wanted:
                raise ValueError(f"stage {stage}: {work} is no work of this pipeline")
            if work in seen:
                raise ValueError(f"stage {stage} does {work} twice")
            seen.add(work)
        if seen != wanted:
            raise ValueError(f"stage {stage} never does {min(wanted - seen)}")


def _together(plan: Pipeline, stage: int, place: int) -> tuple[Work, ...]:
    """What a stage does next: a piece of work, or a forward beside a backward."""
    beside = bool(plan.beside) and place in plan.beside[stage]
    return plan.orders[stage][place : place + (3 if beside else 1)]


def _before(plan: Pipeline, stage: int, works: tuple[Work, ...]) -> list[Place]:
    """What has to be done before any of some works that run together."""
    needed = [at for work in works for at in _needs(plan, stage, work)]
    return [at for at in needed if at[0] != stage or at[1] not in works]


def _needs(plan: Pipeline, stage: int, work: Work) -> list[Place]:
    """What has to be done before, and where."""
    kind, k, c = work
    if kind == WEIGHTS:
        return [(stage, Work(INPUTS, k, c))]
    last = plan.stages * (1 if plan.mirrored else plan.chunks) - 1
    part = _part(plan, stage, c)
    if kind == FORWARD:
        return [_at(plan, part - 1, work)] if part else []
    own = (stage, Work(FORWARD, k, c))
    return [own] if part == last else [own, _at(plan, part + 1, work)]


def _part(plan: Pipeline, stage: int, chunk: int) -> int:
    """Which part of the model a chunk of a stage is."""
    if plan.mirrored:
        return plan.stages - 1 - stage if chunk else stage
    return chunk * plan.stages + stage


def _at(plan: Pipeline, part: int, work: Work) -> Place:
    """The same work on another part, and the stage that does it."""
    if plan.mirrored:
        return plan.stages - 1 - part if work.chunk else part, work
    chunk, stage = divmod(part, plan.stages)
    return stage, work._replace(chunk=chunk)


def _told(
    plan: Pipeline,
    spans: list[list[Span]],
    waiting: list[int],
    ends: dict[Place, float],
) -> str:
    """Each stage that waits, with what it wants to do and what is not there."""
    found = []
    for stage in waiting:
        works = _together(plan, stage, len(spans[stage]))
        work = works[0]
        missing = next(at for at in _before(plan, stage, works) if at not in ends)
        found.append(
            f"stage {stage} waits with {work} for {missing[1]} of stage {missing[0]}"
        )
    return "deadlock: " + "; ".join(found)


def _held(order: tuple[Work, ...]) -> int:
    """The most chunks' activations that a stage holds, each till its last use."""
    now = most = 0
    for work in order:
        now += (work.kind == FORWARD) - (work.kind in (BACKWARD, WEIGHTS))
        most = max(most, now)
    return most
