"""A thousand requests and a hundred thousand: seconds of ``serving.simulate``.

    python benchmarks/serving_simulation.py   # -> results/serving_simulation.json

Llama-2-7B on one H100, Poisson at ten requests a second, 512 tokens read and 256
written, at most 512 tokens and 128 requests a step. BLIS took .39 s for its whole
process and Vidur 3.4 s warm (recorded on this machine, not re-run). Two more cases are
less friendly: lengths with a tail in chunks, and a memory that is too small for all.
Every case runs in a process of its own, so that its memory is its own.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

STEM = "serving_simulation"
MODEL = ("llama-2-7b", "h100-sxm")
ROUNDS, MANY = 5, 100
PEERS_S = {"BLIS, whole process": 0.39, "Vidur, warm": 3.4}
CASES: dict[str, dict[str, Any]] = {
    "poisson": {},
    "tails in chunks": {"scheduler": "chunked", "tails": True},
    "too little memory": {"blocks": 900},
}


def traffic(requests: int, tails: bool) -> Any:
    """The requests of a case."""
    from stacklib.serving.simulation.traffic import lognormal, poisson

    if not tails:
        return poisson(10, requests, prompt=512, new=256)
    read, written = lognormal(400, 512, 4096), lognormal(200, 256, 2048)
    return poisson(10, requests, prompt=read, new=written)


def served(name: str, requests: int, rounds: int) -> dict[str, Any]:
    """CPU seconds of a case, the first time apart, and the memory of the process."""
    from stacklib.serving.simulation.simulate import simulate

    options = dict(CASES[name])
    rows = traffic(requests, options.pop("tails", False))
    times, found = [], None
    for _ in range(1 + rounds):
        began = time.process_time()  # one thread; others on the machine do not count
        found = simulate(*MODEL, rows, **options)
        times.append(time.process_time() - began)
    assert found is not None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "id": name,
        "requests": requests,
        "first_s": times[0],
        "times_s": times[1:],
        "peak_mb": most,
        "steps": found.outcome.steps,
        "preemptions": found.outcome.preemptions,
        "numpy": "numpy" in sys.modules,
    }


def apart(name: str, requests: int, rounds: int) -> dict[str, Any]:
    """The same in a process of its own."""
    asked = [sys.executable, __file__, name, str(requests), str(rounds)]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def ratios(result: dict[str, Any]) -> dict[str, float]:
    """The worst of all cases: seconds, times as long for a hundred times, memory."""
    rows = result["rows"]
    few = {row["id"]: median(row["times_s"]) for row in rows if row["requests"] == 1000}
    many = [row for row in rows if row["requests"] > 1000]
    return {
        "seconds": max(few.values()),
        "times": max(median(row["times_s"]) / few[row["id"]] for row in many),
        "peak_mb": max(row["peak_mb"] for row in rows),
    }


def main() -> int:
    """Measure, show and write; or one case, for the process that asked."""
    if len(sys.argv) > 1:
        sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
        name, requests, rounds = sys.argv[1:]
        print(json.dumps(served(name, int(requests), int(rounds))))
        return 0
    import host_common

    from stacklib.roofline.host import measure as host

    watch = host.Watch()
    rows = [apart(name, 1000, ROUNDS) for name in CASES]
    rows.append(apart("poisson", 1000 * MANY, 1))
    result = host_common.head(
        STEM,
        None,
        watch,
        rows=rows,
        peers_s=PEERS_S,
        peers="recorded, not re-run",
        why_no_prediction="seconds of a program, with a bar of their own",
    )
    for row in rows:
        print(
            f"{row['id']:18} {row['requests']:7,}: {median(row['times_s']):.3f} s, "
            f"first {row['first_s']:.3f} s, {row['peak_mb']:.0f} MB"
        )
    print(ratios(result))
    host_common.save(host_common.HERE, STEM, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
