"""All-to-all on tori: how soon its link loads are known, and two collectives' proofs.

    python benchmarks/torus.py   # -> results/torus.json

Peer and bar: a search over all pairs took 16 s of plain Python for 2,048 nodes; 4,096
nodes are to take less than a second, by symmetry, and the twist of 4 x 4 x 8 is to gain
1.745. A ring of 512 ranks is to be proved in two seconds, every all-reduce of 1 to 33
ranks in ten.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import host_common

from stacklib.interconnect import Topology, all_reduce, verify
from stacklib.interconnect.schedules.algorithms import KNOWN
from stacklib.roofline.host import measure as host

STEM = "torus"
ROUNDS = 5
NODES = (16, 16, 16)


def loads(twist: Any) -> dict[Any, float]:
    """The torus of 4,096 nodes built, and each link's load of all pairs' traffic."""
    return Topology.torus(NODES, twist, link=1.0).loads(1.0)


def every_algorithm() -> int:
    """Prove every all-reduce of 1 to 33 ranks; how many there are."""
    proved = 0
    for ranks in range(1, 34):
        for algorithm in KNOWN["all_reduce"]:
            try:
                made = all_reduce(ranks, algorithm=algorithm)
            except ValueError:  # halving and doubling, nodes: not of every size
                continue
            assert verify(made).holds, (algorithm, ranks)
            proved += 1
    return proved


CASES: dict[str, Callable[[], Any]] = {
    "plain": lambda: loads(None),
    "twisted": lambda: loads({"x": {"z": 8}, "y": {"z": 8}}),
    "ring_512": lambda: verify(all_reduce(512)).holds,
    "all_to_33": every_algorithm,
}


def timed(run: Callable[[], Any]) -> tuple[list[float], Any]:
    """Seconds of each round, and what the last one gave."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        given = run()
        times.append(round(time.perf_counter() - start, 4))
    return times, given


def main() -> int:
    """Measure, show and write."""
    watch, rows = host.Watch(), []
    for name, run in CASES.items():
        times, given = timed(run)
        row = {"id": name, "times_s": times}
        if isinstance(given, dict):
            row["busiest"] = round(max(given.values()), 6)
        elif name == "all_to_33":
            row["proved"] = given
        rows.append(row)
        print(row)
    small = [Topology.torus((4, 4, 8), twist).loads(1.0) for twist in (None, True)]
    gain = max(small[0].values()) / max(small[1].values())
    result = host_common.head(
        STEM,
        None,
        watch,
        rows=rows,
        gain=round(gain, 6),
        why_no_prediction="a bar for speed, and a gain that the page derives",
    )
    host_common.save(host_common.HERE, STEM, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
