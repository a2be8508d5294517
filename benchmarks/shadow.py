"""How long requests wait for the tiny model on this machine, foretold and measured.

    python benchmarks/shadow.py predict   # -> results/host_steps.json, predictions/
    python benchmarks/shadow.py measure   # once both are committed -> results/

First steps of an engine are timed with requests of their own: what the host adds to
the account, and how far that law is off. From it the simulator says what the machine
can do, and what requests will wait at four shares of that. Then an engine serves the
same requests. Its clock is the CPU time of its thread, with idle time passed over: what
else runs on the machine takes none of it.
"""

import math
import sys
import time
from collections import Counter, deque
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import host_common as common
import record

from stacklib import tinylm
from stacklib.roofline.host import measure as host
from stacklib.serving import poisson, simulate
from stacklib.serving.engine.timed import Noted, timed_steps
from stacklib.serving.simulation.pace import (
    PARTS,
    STORED,
    Here,
    Pace,
    Timed,
    pace_of,
    read_pace,
)
from stacklib.serving.simulation.results import Simulation, ranked
from stacklib.serving.simulation.traffic import Row

NAME, MODEL = "shadow", "tiny"
LOADS = (0.5, 0.8, 0.9, 0.95)
REQUESTS, WARM, ROUNDS = 800, 60, 6
SIZES = {"blocks": 512, "block_size": 16, "max_batch": 16, "chunk": 64}
TIMES, PERCENTS = ("ttft", "itl", "e2e"), (50, 90, 95, 99)
SECOND = 1_000_000_000
CLOCK = "CPU time of the engine's thread, with idle time passed over"


# -- before ----------------------------------------------------------------------------


def paced(timed: Sequence[Timed]) -> Pace:
    """What the host adds, with the account of this machine taken off."""
    return pace_of(timed, Here(MODEL).seconds)


def traffic(load: float, requests: int, gap: Pace) -> tuple[list[Row], Simulation]:
    """So many requests at a share of what the machine can do, and the simulator's."""
    seed = round(100 * load)
    rows = poisson(
        1,
        requests,
        prompt=lambda draw: draw.randint(8, 128),
        new=lambda draw: draw.randint(4, 48),
        seed=seed,
    )
    found = served(rows, gap)
    shrink = found.rate / (load * found.capacity)
    rows = [row._replace(arrival=round(row.arrival * shrink)) for row in rows]
    return rows, served(rows, gap)


def served(rows: Sequence[Row], gap: Pace) -> Simulation:
    """The simulator's answer: the engine's turns and sizes, this machine's steps."""
    asked: dict[str, Any] = {k: v for k, v in SIZES.items() if k != "block_size"}
    return simulate(
        MODEL, "this-machine", rows, dtype=None, scheduler="chunked", gap=gap, **asked
    )


def foretold(load: float, requests: int, gap: Pace) -> dict[str, Any]:
    """A row of the prediction; an end that is null is a line that grows."""
    found = traffic(load, requests, gap)[1]
    told = {}
    for of in TIMES:
        percent = found.percentiles(of, PERCENTS, band=True)
        assert percent.low is not None and percent.high is not None
        for each in PERCENTS:
            values = (percent.values[each], percent.low[each], percent.high[each])
            told[f"{of} p{each}"] = [v if math.isfinite(v) else None for v in values]
    return {
        "id": f"load {load}",
        "load": load,
        "requests": requests,
        "rate_per_s": found.rate,
        "utilisation": found.utilisation,
        "steps": found.outcome.steps,
        "busy_s": sum(found.outcome.busy) / SECOND,
        "seconds": told,
    }


def predict(folder: Path, requests: int = REQUESTS, rounds: int = ROUNDS) -> None:
    """Time steps, store the host's pace, foretell every load."""
    watch = host.Watch()
    timed = timed_steps(
        tinylm.load(MODEL), clock=time.thread_time, rounds=rounds, **SIZES
    )
    pace = paced(timed)
    law = Here(MODEL, pace)
    kept: dict[tuple[int, int], list[Timed]] = {}
    for each in timed:
        kept.setdefault((each.round, each.work.decodes), []).append(each)
    result = common.head(
        "host_steps",
        None,
        watch,
        why_no_prediction="what predictions of waiting start from",
        clock=CLOCK,
        model=MODEL,
        sizes=SIZES,
        costs_s=dict(zip(PARTS, pace.costs, strict=True)),
        low=pace.low,
        high=pace.high,
        steps=pace.steps,
        rows=[
            {
                "id": f"round {turn}, {decodes} decode",
                "steps": len(some),
                "times_s": [sum(each.seconds for each in some)],
                "law_s": sum(law.seconds(each.work) for each in some),
            }
            for (turn, decodes), some in sorted(kept.items())
        ],
    )
    record.write(folder / "results" / STORED, result)
    common.warn(result["others"])
    head = {
        "kind": NAME,
        "device": result["device"],
        "model": "serving.simulate of the same requests on this machine: the account's "
        "lines, and the host's by what is in a step",
        "pace": record.stamp(folder / "results" / STORED),
        "band": [pace.low, pace.high],
    }
    rows = [foretold(load, requests, pace) for load in LOADS]
    common.foretell(folder, NAME, head, rows)


# -- the run ---------------------------------------------------------------------------


class Clock:
    """CPU seconds of this thread, with idle time passed over."""

    def __init__(self) -> None:
        self.passed = -time.thread_time()

    def __call__(self) -> float:
        return time.thread_time() + self.passed

    def wait(self, until: float) -> None:
        """Nothing is to be done before."""
        self.passed += max(0.0, until - self())


def run(rows: Sequence[Row], gap: Pace) -> dict[str, Any]:
    """An engine serves the rows as they come; what everybody waited.

    The same steps by the law (``law_s``) beside what they took (``busy_s``) say how
    much of a miss is the law's.
    """
    model, draw, clock = tinylm.load(MODEL), Random("words"), Clock()
    words = range(model.config.vocab_size)
    engine = Noted(model, clock=clock, **SIZES)
    due = deque(
        (row.arrival / SECOND, draw.choices(words, k=row.prompt), row.new)
        for row in rows
    )
    clock.wait(due[0][0])
    began, arrivals, requests = clock(), [], []
    while due or engine.busy:
        if not engine.busy:
            clock.wait(due[0][0])
        while due and due[0][0] <= clock():
            at, prompt, most = due.popleft()
            arrivals.append(at)
            requests.append(engine.submit(prompt, tinylm.Sampling(0), most=most))
        engine.step()
    whole, law = clock() - began, Here(MODEL, gap)
    times: dict[str, Counter[int]] = {of: Counter() for of in TIMES}
    for at, request in zip(arrivals, requests, strict=True):
        seen = [round(each * SECOND) for each in request.times]
        times["ttft"][seen[0] - round(at * SECOND)] += 1
        times["e2e"][seen[-1] - round(at * SECOND)] += 1
        times["itl"].update(b - a for a, b in pairwise(seen))
    counts = engine.metrics().counts
    return {
        "seconds": {
            f"{of} p{each}": value
            for of in TIMES
            for each, value in ranked(times[of], PERCENTS).items()
        },
        "steps": counts.steps,
        "stopped": len(rows) - sum(len(r.output) == r.most for r in requests),
        "busy_s": sum(seconds for _, _, seconds in engine.made),
        "law_s": sum(law.seconds(work) for _, work, _ in engine.made),
        "times_s": [whole],
    }


@common.measures(NAME)
def measure(forecast: dict[str, Any]) -> dict[str, Any]:
    """Serve every load; the arrivals are those of the prediction, made again."""
    pace = read_pace(common.HERE / "results" / STORED)[MODEL]
    run(traffic(LOADS[0], WARM, pace)[0], pace)
    rows = []
    for told in forecast["rows"]:
        asked, again = traffic(told["load"], told["requests"], pace)
        assert again.outcome.steps == told["steps"], "another pace than foretold"
        wall = time.perf_counter()
        rows.append({"id": told["id"], **run(asked, pace)})
        rows[-1] |= {"wall_s": time.perf_counter() - wall, **judged(told, rows[-1])}
        print(*compared(told, rows[-1]), sep="\n")
    return {"clock": CLOCK, "rows": rows}


# -- beside one another ----------------------------------------------------------------


def error(told: Sequence[Any], seen: float) -> float:
    """Relative, of the value foretold."""
    return abs(told[0] / seen - 1)


def inside(told: Sequence[Any], seen: float) -> bool:
    """Whether the interval that was printed has it."""
    _, low, high = told
    return (low or 0) <= seen <= (math.inf if high is None else high)


def judged(told: dict[str, Any], seen: dict[str, Any]) -> dict[str, float]:
    """Median error, share inside, and the engine's steps over those foretold."""
    pairs = [(told["seconds"][k], v) for k, v in seen["seconds"].items()]
    return {
        "median_error": median(error(*pair) for pair in pairs),
        "inside": sum(inside(*pair) for pair in pairs) / len(pairs),
        "step_ratio": seen["busy_s"] / seen["law_s"],
    }


def compared(told: dict[str, Any], seen: dict[str, Any]) -> list[str]:
    """Lines of a load: foretold, its interval, measured, and the cause."""
    lines = [
        f"load {told['load']}: median error {seen['median_error']:.0%}, inside "
        f"{seen['inside']:.0%}; steps took {seen['step_ratio']:.3f} of the law"
    ]
    for name, value in seen["seconds"].items():
        middle, low, high = told["seconds"][name]
        end = "no end" if high is None else f"{1e3 * high:.1f}"
        lines.append(
            f"  {name:9} {1e3 * middle:8.1f} ms ({1e3 * (low or 0):.1f} to {end}), "
            f"measured {1e3 * value:8.1f}"
        )
    return lines


if __name__ == "__main__":
    sys.exit(common.command(__doc__ or "", predict, measure))
