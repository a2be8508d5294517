"""The tiny model in stages, a process each: every schedule predicted and measured.

    python benchmarks/pipelined_training.py costs     # parts alone -> results/
    python benchmarks/pipelined_training.py predict   # -> predictions/
    python benchmarks/pipelined_training.py measure   # once committed -> results/

Two processes, each with the whole model, time every part's forward and backward at
once and send nothing. A step is predicted from these by the simulator of pipelines, and
what crosses by alpha and beta of `gloo_costs.json`; bytes of activations by what each
part keeps of a microbatch, counted then, over the order of work. Loss and gradients
should equal those of one stage to rounding.
"""

import json
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import gloo_collectives as gloo
import host_common as common
import namespaces
import record

from stacklib.interconnect.pipelines.order import Pipeline, pipeline
from stacklib.interconnect.pipelines.run import run_pipeline
from stacklib.interconnect.sharding.processes import run_ranks
from stacklib.roofline.host import measure as host
from stacklib.tinylm.config import DATA, read_config

STEM, COSTS = "pipelined_training", "pipelined_costs"
STAGES, SEQUENCES, TOKENS, STEPS, TRIES = 2, 1, 128, 12, 3
MOST = 8  # microbatches
# microbatches, schedule, chunks
RUNS = (
    (2, "1f1b", 1),
    (4, "1f1b", 1),
    (MOST, "1f1b", 1),
    (MOST, "gpipe", 1),
    (MOST, "1f1b", 2),
    (MOST, "zb-h1", 1),
    (MOST, "zb-h2", 1),
)
CONFIG = read_config(DATA / "tiny" / "config.json")
CROSSES = SEQUENCES * TOKENS * CONFIG.hidden_size * 4  # bytes, fp32
MODEL = "each part's times alone through run_pipeline, alpha + bytes x beta to cross"
LIMIT = 120.0


def worked(stages: int, many: int, schedule: str, chunks: int) -> list[Any]:
    """What each of two processes tells of its steps."""
    case = {"stages": stages, "microbatches": many, "schedule": schedule}
    case |= {"chunks": chunks, "sequences": SEQUENCES, "tokens": TOKENS}
    case |= {"steps": STEPS, "length": 50_000, "at_once": True}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(case, file)
        file.flush()
        module = "stacklib.interconnect.sharding.stage_worker_torch"
        with namespaces.private() as before:
            words = [*before, "env", "GLOO_SOCKET_IFNAME=lo"] if before else []
            program = [*words, sys.executable, "-m", module, file.name]
            return run_ranks(program, STAGES, limit_s=LIMIT)


def costs(folder: Path) -> None:
    """Both processes alone: seconds of each kind of work on each part, bytes kept."""
    watch, rows = host.Watch(), []
    for parts, schedule in ((2, "turns"), (4, "turns"), (2, "apart")):
        times: dict[tuple[str, int], list[float]] = {}
        for _ in range(TRIES):
            ranks = worked(1, MOST, schedule, parts)
            for step in (step for rank in ranks for step in rank["spans"][1:]):
                took: dict[tuple[str, int], list[float]] = {}
                for kind, _, part, start, end in step:
                    took.setdefault((kind, part), []).append(end - start)
                for work, seconds in took.items():
                    middle = float(f"{median(seconds):.5g}")
                    times.setdefault(work, []).append(middle)
        # After the first microbatch's works: what each of them leaves to be kept.
        works = [(kind, part) for kind, _, part, *_ in ranks[0]["spans"][0]]
        left = dict(zip(works, steps_of(ranks[0]["after"][: len(times)]), strict=False))
        for (kind, part), seconds in times.items():
            row = {"id": f"{schedule}-{parts}-{kind}-{part}", "kind": kind}
            row |= {"schedule": schedule, "parts": parts, "part": part}
            row |= {"kept_bytes": left[kind, part], "times_s": seconds}
            print(row["id"], median(seconds), row["kept_bytes"])
            rows.append(row)
    why = "what the prediction of a pipelined step starts from"
    head = common.head(COSTS, None, watch, why_no_prediction=why)
    record.write(folder / "results" / f"{COSTS}.json", head | {"rows": rows})
    common.warn(head["others"])


def steps_of(sums: list[int]) -> list[int]:
    """What each of running sums adds to the one before."""
    return [now - before for before, now in zip([0, *sums], sums, strict=False)]


def _alone(rows: list[Any], plan: Pipeline) -> dict[str, list[Any]]:
    """A plan's kinds of work: the row of each part alone, in order."""
    how = "apart" if plan.schedule.startswith("zb") else "turns"
    found: dict[str, list[Any]] = {}
    for row in sorted(rows, key=lambda row: row["part"]):
        if row["parts"] == STAGES * plan.chunks and row["schedule"] == how:
            found.setdefault(row["kind"], []).append(row)
    return found


def kept(plan: Pipeline, stage: int, alone: dict[str, list[Any]]) -> int:
    """The most bytes that a stage keeps: what each work adds, in its order."""
    now = most = 0
    for kind, _, chunk in plan.orders[stage]:
        now += alone[kind][chunk * plan.stages + stage]["kept_bytes"]
        most = max(most, now)
    return most


def predict(folder: Path) -> None:
    """Write the prediction of every run."""
    source = folder / "results" / f"{COSTS}.json"
    told = json.loads(source.read_text(encoding="utf-8"))
    small = folder / "results" / f"{gloo.COSTS}.json"
    line = gloo.fitted(json.loads(small.read_text(encoding="utf-8"))["rows"], STAGES)
    send, rows = line.alpha + CROSSES * line.beta, []
    for many, schedule, chunks in RUNS:
        plan = pipeline(STAGES, many, schedule, chunks)
        alone = _alone(told["rows"], plan)
        times = {
            k: [median(row["times_s"]) for row in each] for k, each in alone.items()
        }
        run = run_pipeline(plan, **times, send=send)
        row = {"id": f"{schedule}-{chunks}-{many}", "schedule": schedule}
        row |= {"chunks": chunks, "microbatches": many}
        row |= {"kept_bytes": [kept(plan, stage, alone) for stage in range(STAGES)]}
        row |= {"bubble": float(f"{run.bubble:.4g}")}
        rows.append(row | {"predicted_s": float(f"{run.time:.5g}")})
    about = {
        "kind": STEM,
        "device": host.read_machine().text(),
        "model": MODEL,
        "loss": "equal to one stage, relative 1e-5; gradients' squares too",
        "costs": [record.stamp(source), record.stamp(small)],
    }
    common.foretell(folder, STEM, about, rows)


@common.measures(STEM)
def measure(forecast: dict[str, Any]) -> dict[str, Any]:
    """Run every schedule, unless the prediction is not committed as it stands."""
    rows: list[dict[str, Any]] = []
    first = True
    for row in forecast["rows"]:
        times: list[float] = []
        bubbles: list[float] = []
        for _ in range(TRIES):
            shape = (row["microbatches"], row["schedule"], row["chunks"])
            ranks = worked(STAGES, *shape)
            first = first and all(rank["at_once"] for rank in ranks)
            for both in zip(*(rank["spans"][1:] for rank in ranks), strict=True):
                seconds = max(s[-1][-1] for s in both) - min(s[0][-2] for s in both)
                busy = sum(end - start for stage in both for *_, start, end in stage)
                times.append(float(f"{seconds:.5g}"))
                bubbles.append(STAGES * seconds / busy - 1)
        rows.append({n: row[n] for n in ("id", "schedule", "chunks", "microbatches")})
        rows[-1] |= {"kept_bytes": [max(rank["kept"]) for rank in ranks]}
        rows[-1] |= {"bubble": float(f"{median(bubbles):.4g}")}
        rows[-1] |= {"loss": sum(rank["losses"][-1] for rank in ranks)}
        rows[-1] |= {"square": sum(rank["square"] for rank in ranks), "times_s": times}
        ratio = median(times) / row["predicted_s"]
        print(f"{row['id']:10} {median(times) * 1e3:7.1f} ms {ratio:6.3f}", rows[-1])
    alone = worked(1, MOST, "turns", STAGES)[0]
    note = f"microbatches of {SEQUENCES} x {TOKENS} ids, one thread a process; gloo"
    one = {"loss": alone["losses"][-1], "square": alone["square"]}
    return {"note": note, "at_once": first, "alone": one, "rows": rows}


if __name__ == "__main__":
    sys.exit(common.command(__doc__ or "", costs, predict, measure))
