"""The tiny model trained by processes that share it: DDP, FSDP, tensor parallel.

    python benchmarks/sharded_training.py costs     # send nothing -> results/
    python benchmarks/sharded_training.py predict   # -> predictions/
    python benchmarks/sharded_training.py measure   # once committed -> results/

A step is predicted as the same step without its communication, and the communication
from alpha and beta of `gloo_costs.json`. Bytes of weights, gradients, state, and on the
wire come from the closed forms; gloo's reduce-scatter sends as many as an all-reduce,
which `gloo_collectives.json` showed, so that FSDP has two figures. Losses should equal
those of one process to rounding.
"""

import json
import sys
import tempfile
from math import prod
from pathlib import Path
from statistics import median
from typing import Any

import gloo_collectives as gloo
import host_common as common
import namespaces
import record

from stacklib.interconnect.sharding.held import (
    TRAINING,
    shard_bytes,
    shard_memory,
    tensor_bytes,
)
from stacklib.interconnect.sharding.parts import tensor_shapes
from stacklib.interconnect.sharding.processes import run_ranks
from stacklib.roofline.host import measure as host
from stacklib.tinylm.config import DATA, read_config, shapes

STEM, COSTS = "sharded_training", "sharded_costs"
BATCH, TOKENS, STEPS, TRIES = 4, 128, 12, 3
RUNS = (
    ("alone", 1),
    ("ddp", 2),
    ("ddp", 4),
    ("ours", 2),
    ("ours", 4),
    ("fsdp", 2),
    ("fsdp", 4),
    ("tensor", 2),
)
FP32 = {"weight": 4, "gradient": 4}
STATE = 8  # bytes of AdamW's two moments
CONFIG = read_config(DATA / "tiny" / "config.json")
UNITS = CONFIG.num_hidden_layers + 1  # that FSDP gathers: the blocks, and the rest
BUCKETS = 2  # of DDP: the first is small, 25 MB hold the rest
MODEL = "the step that sends nothing, and steps x alpha + bytes x beta of its sums"
LIMIT = 120.0


def worked(kind: str, world: int) -> list[Any]:
    """What each rank tells of a run."""
    case = {"kind": kind, "steps": STEPS, "batch": BATCH, "tokens": TOKENS}
    case |= {"rate": 1e-3, "length": 50_000, "at_once": True}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(case, file)
        file.flush()
        module = "stacklib.interconnect.sharding.worker_torch"
        with namespaces.private() as before:
            words = [*before, "env", "GLOO_SOCKET_IFNAME=lo"] if before else []
            program = [*words, sys.executable, "-m", module, file.name]
            return run_ranks(program, world, limit_s=LIMIT)


def steps_of(ranks: list[Any]) -> list[float]:
    """Seconds of each step but the first, of the rank that took longest."""
    each = zip(*(rank["seconds"][1:] for rank in ranks), strict=True)
    return [float(f"{max(seconds):.5g}") for seconds in each]


def costs(folder: Path) -> None:
    """Steps of so many processes at once that send nothing to each other."""
    watch, rows = host.Watch(), []
    for world in (1, 2, 4):
        times: list[float] = []
        for _ in range(TRIES):
            times += steps_of(worked("alone", world))
        rows.append({"id": f"alone-{world}", "world": world, "times_s": times})
        print(world, median(times))
    why = "what the prediction of a sharded step starts from"
    head = common.head(COSTS, None, watch, why_no_prediction=why)
    record.write(folder / "results" / f"{COSTS}.json", head | {"rows": rows})
    common.warn(head["others"])


def talk(kind: str, world: int) -> tuple[int, float, float]:
    """Steps of its collectives, and bytes that a rank sends: the form's, and gloo's."""
    count = sum(prod(shape) for shape in shapes(CONFIG).values())
    n = world - 1
    if kind == "alone":
        return 0, 0.0, 0.0
    if kind == "tensor":
        sent = tensor_bytes(
            CONFIG.num_hidden_layers,
            CONFIG.hidden_size,
            BATCH * TOKENS,
            world,
            width=4,
            each=TRAINING,
        )
        return CONFIG.num_hidden_layers * TRAINING * 2 * n, sent, sent
    if kind == "fsdp":
        sent = shard_bytes(count, world, 3, **FP32)
        return UNITS * (n + n + 2 * n), sent, sent * 4 / 3
    sent = shard_bytes(count, world, 0, **FP32)
    return (BUCKETS if kind == "ddp" else 1) * 2 * n, sent, sent


def keeps(kind: str, world: int) -> dict[str, float]:
    """Bytes of a rank by the closed form."""
    table = shapes(CONFIG)
    if kind == "tensor":
        table = tensor_shapes(table, world)
    count = sum(prod(shape) for shape in table.values())
    zero = 3 if kind == "fsdp" else 0
    held = shard_memory(count, world, zero, **FP32, state=STATE)
    return {"weights": held.weights, "gradients": held.gradients, "state": held.state}


def predict(folder: Path) -> None:
    """Write the prediction of every run."""
    source = folder / "results" / f"{COSTS}.json"
    quiet = json.loads(source.read_text(encoding="utf-8"))["rows"]
    alone = {row["world"]: median(row["times_s"]) for row in quiet}
    small = folder / "results" / f"{gloo.COSTS}.json"
    read = json.loads(small.read_text(encoding="utf-8"))["rows"]
    rows = []
    for kind, world in RUNS:
        steps, sent, over_gloo = talk(kind, world)
        seconds = 0.0
        if world > 1:
            line = gloo.fitted(read, world)
            seconds = steps * line.alpha + over_gloo * line.beta
        row = {"id": f"{kind}-{world}", "kind": kind, "world": world}
        row |= {"form_bytes": sent * world, "predicted_bytes": over_gloo * world}
        row |= {"held": keeps(kind, world)}
        row |= {"talk_s": float(f"{seconds:.6g}")}
        rows.append(row | {"predicted_s": float(f"{alone[world] + seconds:.6g}")})
    about = {
        "kind": STEM,
        "device": host.read_machine().text(),
        "model": MODEL,
        "loss": "equal to one process, relative 1e-5",
        "costs": [record.stamp(source), record.stamp(small)],
    }
    common.foretell(folder, STEM, about, rows)


@common.measures(STEM)
def measure(forecast: dict[str, Any]) -> dict[str, Any]:
    """Train every way, unless the prediction is not committed as it stands."""
    rows: list[dict[str, Any]] = []
    first = True
    for row in forecast["rows"]:
        times: list[float] = []
        for _ in range(TRIES):
            ranks = worked(row["kind"], row["world"])
            first = first and all(rank["at_once"] for rank in ranks)
            times += steps_of(ranks)
        one = ranks[0]
        rows.append({n: row[n] for n in ("id", "kind", "world")})
        rows[-1] |= {"carried_bytes": median(one["carried"][1:])}
        rows[-1] |= {"held": one["held"], "losses": one["losses"], "times_s": times}
        ratio = median(times) / row["predicted_s"]
        bytes_ = rows[-1]["carried_bytes"] / max(1, row["predicted_bytes"])
        print(
            f"{row['id']:10} {median(times) * 1e3:7.1f} ms {ratio:6.2f},"
            f" bytes {bytes_:6.3f}, loss {one['losses'][-1]:.6f}"
        )
    note = f"{BATCH} sequences of {TOKENS} ids, AdamW, one thread a process; gloo"
    return {"note": note, "at_once": first, "rows": rows}


if __name__ == "__main__":
    sys.exit(common.command(__doc__ or "", costs, predict, measure))
