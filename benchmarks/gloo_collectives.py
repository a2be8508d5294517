"""Every algorithm over the sockets of this machine, beside the library's own.

    python benchmarks/gloo_collectives.py costs     # small rings -> results/
    python benchmarks/gloo_collectives.py predict   # -> predictions/
    python benchmarks/gloo_collectives.py measure   # once committed -> results/
    python benchmarks/gloo_collectives.py nccl      # the same on GPUs, where two are

Two and four processes of torch.distributed. Alpha and beta are fitted on steps of a
ring all-reduce whose messages are small; every other algorithm, and every large size,
is predicted from these two and the closed form. Bytes are counted by the kernel, in a
network namespace where nobody else sends.
"""

import json
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import host_common as common
import namespaces
import record

from stacklib.interconnect.schedules.algorithms import KNOWN
from stacklib.interconnect.schedules.cost import cost, least_share
from stacklib.interconnect.selection.line import fit_line
from stacklib.interconnect.sharding.processes import run_ranks
from stacklib.roofline.host import measure as host

STEM, COSTS = "gloo_collectives", "gloo_costs"
WORLDS = (2, 4)
MESSAGES = tuple(1 << k for k in range(10, 18))  # bytes of a step, for the line
SIZES = (16384, 1 << 20, 1 << 24)  # bytes of a rank's whole array
ROUNDS, FITTED, TRIES = 7, 25, 3  # of a case, of a small one; starts of all processes
LIMIT = 240.0
MODEL = "steps x alpha + bytes x beta, both fitted on small rings of the same processes"
SWITCHED = ("in_switch", "collnet")
FIELDS = ("id", "world", "ranks", "collective", "algorithm", "bytes")
Case = dict[str, Any]
AT_ONCE: set[bool] = set()  # whether processes ran before other work of the machine


def together(world: int, cases: list[Case], **more: Any) -> list[list[Case]]:
    """What each rank measured, all processes started once."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"cases": cases, **more}, file)
        file.flush()
        with namespaces.private() as before:
            program = [sys.executable, str(record.HERE / "gloo_worker.py"), file.name]
            words = [*before, *program]
            if before:
                words = [*before, "env", "GLOO_SOCKET_IFNAME=lo", *program]
            told = run_ranks(words, world, limit_s=LIMIT)
    AT_ONCE.update(rank["at_once"] for rank in told)
    return [rank["cases"] for rank in told]


def times(ranks: list[Case]) -> list[float]:
    """Seconds of each round: from when the last began to when the last ended."""
    began = zip(*(rank["began"] for rank in ranks), strict=True)
    ended = zip(*(rank["ended"] for rank in ranks), strict=True)
    return [
        float(f"{max(after) - max(before):.6g}")
        for before, after in zip(began, ended, strict=True)
    ]


def small(world: int) -> list[Case]:
    """Rings of small messages."""
    return [
        {
            "id": f"w{world}-{message}",
            "world": world,
            "ranks": world,
            "collective": "all_reduce",
            "algorithm": "ring",
            "bytes": message * world,
            "message": message,
            "rounds": FITTED,
        }
        for message in MESSAGES
    ]


def costs(folder: Path) -> None:
    """Time small rings; alpha and beta of a step follow from them."""
    watch, rows = host.Watch(), []
    for world in WORLDS:
        cases = small(world)
        seen: list[list[float]] = [[] for _ in cases]
        for _ in range(TRIES):
            told = together(world, cases)
            for at, rounds in enumerate(seen):
                rounds += times([rank[at] for rank in told])
        for case, found in zip(cases, seen, strict=True):
            del case["rounds"]
            rows.append(case | {"times_s": found})
        line = fitted(rows, world)
        print(world, line.alpha, line.alpha_interval, line.bandwidth / 1e9, line.spread)
    why = "what the prediction of the collectives starts from"
    head = common.head(COSTS, None, watch, why_no_prediction=why)
    head["at_once"] = all(AT_ONCE)
    record.write(folder / "results" / f"{COSTS}.json", head | {"rows": rows})
    common.warn(head["others"])


def fitted(rows: list[Case], world: int) -> Any:
    """The line of a step, from medians."""
    mine = [row for row in rows if row["world"] == world]
    steps = 2 * (world - 1)
    return fit_line(
        [row["message"] for row in mine],
        [median(row["times_s"]) / steps for row in mine],
    )


def cases(world: int) -> list[Case]:
    """Every algorithm that so many processes can run, and the library's own."""
    found = []
    for collective, table in KNOWN.items():
        for algorithm in (*table, "library"):
            switched = algorithm in SWITCHED
            ranks = world - switched  # the last process is the switch
            if ranks < 2:
                continue
            for size in SIZES:
                count = size // (4 * ranks) * 4 * ranks  # whole elements each
                name = f"w{world}-{collective}-{algorithm}-{size}"
                row = (name, world, ranks, collective, algorithm, count)
                found.append(dict(zip(FIELDS, row, strict=True)))
    return found


def schedule_of(case: Case) -> Any:
    """The case's schedule; None for the library's own."""
    from stacklib.interconnect.schedules import algorithms

    if case["algorithm"] == "library":
        return None
    make = getattr(algorithms, case["collective"])
    return make(case["ranks"], case["algorithm"])


def foretold(case: Case, alpha: float, beta: float) -> Case:
    """Seconds, and bytes that all processes send together.

    Of the library's own only what none can do without is foretold: as many steps as
    a ring, and the least bytes.
    """
    schedule, size = schedule_of(case), case["bytes"]
    if case["collective"] == "all_to_all":
        size = size * case["ranks"]  # the room counts all chunks, of all ranks
    if schedule is None:
        n, collective = case["ranks"], case["collective"]
        share = float(least_share(collective, n))
        steps = {"all_reduce": 2 * (n - 1), "broadcast": 1}.get(collective, n - 1)
        seconds = steps * alpha + share * size * beta
        rows = {"broadcast": n - 1}.get(collective, n * share)
        return {"predicted_s": seconds, "predicted_bytes": rows * size}
    seconds = cost(schedule, size=size, alpha=alpha, beta=beta).time
    sent = len(schedule.sends) * size / schedule.chunks
    return {"predicted_s": seconds, "predicted_bytes": sent}


def predict(folder: Path) -> None:
    """Write the prediction of every case."""
    source = folder / "results" / f"{COSTS}.json"
    read = json.loads(source.read_text(encoding="utf-8"))["rows"]
    rows, lines = [], []
    for world in WORLDS:
        line = fitted(read, world)
        lines.append({"world": world, "alpha_s": line.alpha, "beta_s": line.beta})
        for case in cases(world):
            told = foretold(case, line.alpha, line.beta)
            rows.append(case | {k: float(f"{v:.6g}") for k, v in told.items()})
    about = {
        "kind": STEM,
        "device": host.read_machine().text(),
        "model": MODEL,
        "costs": record.stamp(source),
        "lines": lines,
    }
    common.foretell(folder, STEM, about, rows)


@common.measures(STEM)
def measure(forecast: dict[str, Any]) -> dict[str, Any]:
    """Run every case, unless the prediction is not committed as it stands."""
    rows: list[dict[str, Any]] = []
    for world in WORLDS:
        told = [row for row in forecast["rows"] if row["world"] == world]
        asked = [{n: r[n] for n in FIELDS} | {"rounds": ROUNDS} for r in told]
        seen: list[list[float]] = [[] for _ in told]
        for _ in range(TRIES):
            ranks = together(world, asked)
            for at, rounds in enumerate(seen):
                rounds += times([rank[at] for rank in ranks])
        for at, (row, found) in enumerate(zip(told, seen, strict=True)):
            carried = ranks[0][at]["carried"]
            rows.append({n: row[n] for n in FIELDS})
            rows[-1] |= {"carried_bytes": round(carried), "times_s": found}
            ratio = median(found) / row["predicted_s"]
            print(f"{row['id']:44} {median(found) * 1e3:8.3f} ms {ratio:7.2f}", end="")
            print(f" {carried / row['predicted_bytes']:7.3f} of the bytes")
    note = "sockets of the loopback, in a namespace of their own where permitted;"
    note += " every algorithm's result equal to the sum in integers before it is timed"
    return {"note": note, "torch": _torch(), "at_once": all(AT_ONCE), "rows": rows}


def _torch() -> str:
    from importlib.metadata import version

    return version("torch")


def nccl(folder: Path) -> int:
    """The same cases between GPUs; what was not fitted here is not predicted."""
    import torch

    world = min(4, torch.cuda.device_count())
    if world < 2:
        print(f"{world} GPU here: two are needed, nothing is measured")
        return 0
    told = [c for c in cases(world) if c["algorithm"] not in SWITCHED]
    asked = [case | {"rounds": ROUNDS} for case in (*small(world), *told)]
    watch = host.Watch()
    ranks = together(world, asked, backend="nccl")
    rows = [
        {n: case[n] for n in FIELDS} | {"times_s": times([rank[at] for rank in ranks])}
        for at, case in enumerate(asked)
    ]
    why = "alpha and beta of these GPUs are fitted on the small rings of this run"
    head = common.head("nccl_collectives", None, watch, why_no_prediction=why)
    head["device"] = torch.cuda.get_device_name(0)
    common.save(folder, "nccl_collectives", head | {"rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(common.command(__doc__ or "", costs, predict, measure, nccl))
