"""The stepped array and its closed forms against SCALE-Sim.

    python benchmarks/systolic.py [--peer PYTHON]   # -> results/systolic.json

Peer: SCALE-Sim 3.0.0 in an environment of its own, whose interpreter is ``--peer``; it
needs a NumPy below 2. Without it its rows keep what was recorded, as *not re-run*. It
returns cycles and counts, no product, and has no folds that overlap. Bars: 128 cubed on
32 x 32, product returned, in less than a second; the closed forms of ResNet-18's 21
layers in three dataflows in less than 5 ms; every layer equal on 32 x 32 and 128 x 128.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import host_common
import numpy as np
import record

from stacklib.accelerators import (
    SystolicArray,
    cycles,
    network,
    sram_reads,
    utilisation,
)
from stacklib.roofline.host import measure as host

STEM = "systolic"
ROUNDS = 5
DATAFLOWS = ("os", "ws", "is")
BARS = {"product_s": 1.0, "closed_forms_s": 0.005, "differ": 0}
LAYERS = network("resnet-18", convention="scale-sim")
Asked = list[Any]  # m, n, k, rows, cols, dataflow


def random_products(many: int = 60) -> list[Asked]:
    """Ragged products on ragged arrays."""
    draw = random.Random(42)
    return [
        [draw.randint(1, 150) for _ in "mnk"]
        + [draw.randint(1, 40), draw.randint(1, 40), draw.choice(DATAFLOWS)]
        for _ in range(many)
    ]


def layers() -> list[Asked]:
    """ResNet-18's layers, each size once, on two arrays in three dataflows."""
    sizes = dict.fromkeys((g.m, g.n, g.k) for g in LAYERS)
    arrays = [(side, side, flow) for side in (32, 128) for flow in DATAFLOWS]
    return [[*size, *array] for size in sizes for array in arrays]


def ours(asked: Asked) -> list[Any]:
    """Last cycle, per cent of use, reads: as the peer gives them."""
    m, n, k, rows, cols, dataflow = asked
    size = {"m": m, "n": n, "k": k, "rows": rows, "cols": cols, "dataflow": dataflow}
    return [cycles(**size), 100 * utilisation(**size), *sram_reads(**size)]


def differ(mine: list[Any], its: list[Any]) -> bool:
    """Whether two answers are not the same; use to 12 digits, as floats are."""
    same = abs(mine[1] - its[1]) <= 1e-12 * its[1]
    return not same or [mine[0], *mine[2:]] != [its[0], *its[2:4]]


def closed_forms() -> None:
    """Every layer in three dataflows on one array."""
    for layer in LAYERS:
        for dataflow in DATAFLOWS:
            cycles(**layer.shape, rows=32, cols=32, dataflow=dataflow)


def product(side: int, dataflow: str) -> Callable[[], None]:
    """A cubic product through 32 x 32, held to NumPy's."""
    draw = np.random.default_rng(0)
    a, b = draw.integers(-128, 128, (2, side, side))

    def run() -> None:
        made = SystolicArray(32, 32, dataflow).run(a, b)
        assert (made.product == a @ b).all()
        assert made.last_cycle == cycles(
            m=side, n=side, k=side, rows=32, cols=32, dataflow=dataflow
        )

    return run


def timed(run: Callable[[], None], rounds: int = ROUNDS) -> list[float]:
    """CPU seconds of each round."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        times.append(round(time.process_time() - start, 5))
    return times


def peer(python: str, asked: list[Asked]) -> list[list[Any]]:
    """What SCALE-Sim answers, and its CPU seconds."""
    script = str(record.HERE / "systolic_peer.py")
    told = subprocess.run(
        [python, script],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[list[Any]] = json.loads(told.stdout)
    return found


def compared(python: str) -> list[dict[str, Any]]:
    """Rows of what the peer and we say of the same products."""
    rows = []
    for name, asked in (("random", random_products()), ("resnet-18", layers())):
        its = peer(python, asked)
        wrong = [a for a, x in zip(asked, its, strict=True) if differ(ours(a), x)]
        rows.append(
            {
                "id": f"equal-{name}",
                "compared": len(asked),
                "equal": len(asked) - len(wrong),
                "differ": wrong,
                "peer_cpu_s": round(sum(x[4] for x in its), 2),
            }
        )
    for side in (128, 512):
        asked = [[side] * 3 + [32, 32, flow] for flow in DATAFLOWS]
        for flow, x in zip(DATAFLOWS, peer(python, asked), strict=True):
            rows.append({"id": f"peer-{side}-{flow}", "peer_cpu_s": x[4]})
    return rows


def with_ratios(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How many times as long the peer takes for the same product, beside its time."""
    mine = {row["id"]: median(row["cpu_s"]) for row in rows if "cpu_s" in row}
    for row in rows:
        own = mine.get(row["id"].replace("peer", "product"))
        if "peer_cpu_s" in row and own:
            row["ratio"] = round(row["peer_cpu_s"] / own, 3)
    return rows


def main() -> int:
    """Measure, show and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", help="an interpreter that has scalesim 3.0.0")
    python = parser.parse_args().peer
    watch = host.Watch()
    rows: list[dict[str, Any]] = [
        {"id": f"product-{side}-{flow}", "cpu_s": timed(product(side, flow), rounds)}
        for side, rounds in ((128, ROUNDS), (512, 1))
        for flow in DATAFLOWS
    ]
    rows.append({"id": "closed-forms", "cpu_s": timed(closed_forms)})
    path = record.RESULTS / f"{STEM}.json"
    if python:
        rows += compared(python)
    elif path.exists():
        old = json.loads(path.read_text("utf-8"))["rows"]
        rows += [row | {"not_rerun": True} for row in old if "peer_cpu_s" in row]
    for row in with_ratios(rows):
        print(row)
    result = host_common.head(
        STEM,
        None,
        watch,
        rows=rows,
        bars=BARS,
        peer="SCALE-Sim 3.0.0, unlimited bandwidth, 1 MB memories, no traces",
        why_no_prediction="a bar for speed beside another simulator",
    )
    host_common.save(host_common.HERE, STEM, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
