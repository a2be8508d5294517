"""The simulator beside the engine: the same requests, what they waited, what it says.

It is given when each request came, how much it read and wrote, and how long a step of
this machine takes by steps that were timed before the first request. Nothing of the run
goes into it. A process of its own simulates, so that the engine's steps do not wait.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from typing import Any

from stacklib.tinylm import TinyLM

from ..engine.request import Request
from ..engine.timed import Noted, timed_steps
from ..simulation.pace import Here, Pace, pace_of
from ..simulation.results import TIMES, OverCapacity, ranked
from ..simulation.setup import BLOCK
from ..simulation.simulate import simulate
from ..simulation.steps import Work, nanoseconds
from ..simulation.traffic import Row
from .worker import Worker

NEWEST = 500  # requests, of those that have ended
PERCENTS = (50, 90, 95, 99)
_ns = partial(nanoseconds, least=0)


def timed_pace(model: TinyLM, sizes: dict[str, Any]) -> Pace:
    """What steps of an engine take here, timed with requests of their own."""
    timed = timed_steps(model, block_size=BLOCK, **sizes)
    return pace_of(timed, Here(model.name).seconds)


@dataclass(frozen=True, slots=True)
class Window:
    """Requests up to the first that still runs, and what an engine took for them.

    - ``times``: nanoseconds, each with how often
    - ``steps``: what they had in them, and seconds
    - ``between``: share of the requests' time in which nobody stepped it
    """

    rows: tuple[Row, ...]
    times: dict[str, Counter[int]]
    steps: tuple[tuple[Work, float], ...]
    between: float


def window(engine: Noted) -> Window:
    """Of an engine, between two steps."""
    alive = [each.id for each in engine.requests.values() if not each.done]
    first = min(alive, default=math.inf)
    held = [each for each in engine.requests.values() if each.id < first]
    held = [each for each in held if each.output or each.reason != "cancelled"]
    held = sorted(held[-NEWEST:], key=lambda each: each.arrived)
    times: dict[str, Counter[int]] = {of: Counter() for of in TIMES}
    for each in held:
        assert each.finished is not None
        seen = each.times or [each.finished]
        times["ttft"][_ns(seen[0] - each.arrived)] += 1
        times["e2e"][_ns(each.finished - each.arrived)] += 1
        times["itl"].update(_ns(b - a) for a, b in pairwise(seen))
    prefixes = shared([each.tokens for each in held])
    rows = tuple(
        Row(each.id, _ns(each.arrived), len(each.tokens), _written(each), prefix)
        for each, prefix in zip(held, prefixes, strict=True)
    )
    lost = sum(each.ledger.parts["between"] for each in held)
    stayed = sum((each.finished or 0.0) - each.submitted for each in held)
    return Window(rows, times, _steps(engine, held), lost / stayed if stayed else 0.0)


def _written(request: Request) -> int:
    """Tokens made: the one that ends a document is not in the answer."""
    ended = request.reason == "stop" and request.stream.stopped is None
    return max(1, len(request.output) + ended)


def _steps(engine: Noted, held: Sequence[Request]) -> tuple[tuple[Work, float], ...]:
    """Of the newest, those from the first request's arrival to the last one's end."""
    first = min((each.arrived for each in held), default=math.inf)
    last = max((each.finished or 0.0 for each in held), default=0.0)
    return tuple(
        (work, seconds)
        for end, work, seconds in engine.made
        if first < end and end - seconds < last
    )


def shared(prompts: Sequence[Sequence[int]], block: int = BLOCK) -> list[Any]:
    """What each prompt has in common with the one before it that begins alike."""
    found: list[Any] = [0] * len(prompts)
    last: dict[Any, int] = {}
    for place, prompt in enumerate(prompts):
        name = tuple(prompt[:block])
        if len(name) == block and name in last:
            before = prompts[last[name]]
            both = zip(prompt, before, strict=False)
            same = next((n for n, (a, b) in enumerate(both) if a != b), None)
            count = min(len(prompt), len(before)) if same is None else same
            found[place] = (name, count)
            found[last[name]] = found[last[name]] or (name, count)
        last[name] = place
    return found


def predict(model: str, seen: Window, gap: Pace, sizes: Any) -> dict[str, Any]:
    """What the simulator says of requests: seconds with both ends of their interval.

    Beside it how the steps that were made compare with the law of steps.
    """
    law, rows = Here(model, gap), seen.rows
    found = simulate(
        model, "this-machine", rows, dtype=None, scheduler="chunked", gap=gap, **sizes
    )
    load = found.utilisation
    took = sum(seconds for _, seconds in seen.steps)
    told: dict[str, Any] = {
        "utilisation": load if math.isfinite(load) else None,
        "why": "",
        "steps_s": took,
        "steps_over_law": took / sum(law.seconds(work) for work, _ in seen.steps),
        "seconds": None,
    }
    try:
        seconds = {of: found.percentiles(of, PERCENTS, band=True) for of in TIMES}
    except OverCapacity as why:
        return told | {"why": str(why)}
    told["seconds"] = {of: asdict(each) for of, each in seconds.items()}
    return told


class Shadow:
    """Beside a worker's engine.

    - ``pace``: of the engine's steps on this machine
    - ``sizes``: blocks, slots and tokens of a step
    """

    def __init__(self, worker: Worker, pace: Pace, sizes: dict[str, int]) -> None:
        self.worker, self.pace, self.sizes = worker, pace, sizes
        self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
        self._lock = asyncio.Lock()
        self._last: tuple[tuple[Row, ...], dict[str, Any]] | None = None

    def close(self) -> None:
        """End its process."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    async def told(self) -> dict[str, Any]:
        """Predicted beside measured, until the first request that still runs."""
        engine = self.worker.engine
        assert isinstance(engine, Noted)
        async with self._lock:  # who asks meanwhile gets the same
            seen = await self.worker.call(lambda: window(engine))
            if self._last is None or self._last[0] != seen.rows:
                self._last = seen.rows, await self._compared(seen)
            return self._last[1]

    async def _compared(self, seen: Window) -> dict[str, Any]:
        found: dict[str, Any] = {
            "model": self.worker.engine.model.name,
            "requests": len(seen.rows),
            "band": [self.pace.low, self.pace.high],
            "steps_timed": self.pace.steps,
            "times": [],
        }
        if not seen.rows:
            return found
        asked = self.worker.engine.model.name, seen, self.pace, self.sizes
        loop = asyncio.get_running_loop()
        told = await loop.run_in_executor(self._pool, predict, *asked)
        seconds = told.pop("seconds")
        found["times"] = [
            _row(of, percent, value, seconds)
            for of in TIMES
            for percent, value in ranked(seen.times[of], PERCENTS).items()
        ]
        return found | told | {"between_share": seen.between}


def _row(of: str, percent: float, measured: float, told: Any) -> dict[str, Any]:
    """One percentile; an end that is None is a line that grows, or no times at all."""
    value = low = high = inside = None
    if told is not None:
        value, low, high = (told[of][n][percent] for n in ("values", "low", "high"))
        inside = bool(low <= measured <= high) if math.isfinite(value) else None
    found = {"predicted_s": value, "low_s": low, "high_s": high, "measured_s": measured}
    numbers = {k: v if v and math.isfinite(v) else None for k, v in found.items()}
    return {"of": of, "percent": percent, **numbers, "inside": inside}
