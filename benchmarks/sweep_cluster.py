"""Two thousand fleets simulated by one process, by two, and by a cluster of two.

    python benchmarks/sweep_cluster.py   # -> results/sweep_cluster.json

The same call of ``sweep.run``, alone, over joblib's processes, and on a local cluster
of Dask by ``joblib.parallel_config(backend="dask")`` (extra ``cluster``). All answers
must be equal, in the same order.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import host_common

from stacklib import sweep
from stacklib.roofline.host import measure as host

STEM = "sweep_cluster"
CASES = {
    "rate": [0.5 * n for n in range(1, 26)],
    "max_batch": [16, 32, 64, 128],
    "chunk": [128, 256, 512, 1024],
    "scheduler": ["continuous", "chunked"],
    "seed": [0, 1, 2],
}
COUNT, REQUESTS = 2000, 200


def fleet(
    rate: float, max_batch: int, chunk: int, scheduler: str, seed: int
) -> tuple[float, float, float]:
    """Llama-2-7B on an H100: utilisation, tokens a second, and the last one's wait."""
    from stacklib.serving import poisson, simulate

    rows = poisson(rate, REQUESTS, prompt=256, new=128, seed=seed)
    asked: dict[str, Any] = {"max_batch": max_batch, "chunk": chunk, "seed": seed}
    found = simulate("llama-2-7b", "h100-sxm", rows, scheduler=scheduler, **asked)
    return found.utilisation, found.tokens_per_s, found.requests[-1].e2e / 1e9


@contextmanager
def cluster() -> Iterator[None]:
    """Two processes of Dask, which joblib is told to use."""
    import joblib
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as held, Client(held):
        with joblib.parallel_config(backend="dask"):
            yield


def timed(cases: list[Any], workers: int) -> tuple[float, list[Any]]:
    """Seconds and answers, with workers that have begun and know the model."""
    sweep.run(fleet, cases[:8], workers=workers)
    began = time.perf_counter()
    found = sweep.run(fleet, cases, workers=workers, what="fleets")
    return time.perf_counter() - began, found


def measure(count: int = COUNT) -> dict[str, Any]:
    """All three."""
    cases = list(sweep.grid(**CASES))[:count]
    watch = host.Watch()
    alone_s, alone = timed(cases, 1)
    two_s, two = timed(cases, 2)
    with cluster():
        dask_s, dask = timed(cases, 2)
    ways = {
        "one process": (alone_s, alone),
        "two processes": (two_s, two),
        "two workers of a cluster": (dask_s, dask),
    }
    return host_common.head(
        STEM,
        None,
        watch,
        why_no_prediction="a ratio of two runs of one call, with a bar of its own",
        dask=version("dask"),
        joblib=version("joblib"),
        rows=[
            {
                "id": name,
                "cases": len(cases),
                "times_s": [seconds],
                "times_faster": alone_s / seconds,
                "equal": found == alone,
            }
            for name, (seconds, found) in ways.items()
        ],
    )


def main() -> int:
    """Measure, show and write."""
    result = measure()
    for row in result["rows"]:
        print(
            f"{row['id']:25} {row['cases']:,} cases in {row['times_s'][0]:.1f} s, "
            f"{row['times_faster']:.2f} times as fast, equal: {row['equal']}"
        )
    host_common.save(host_common.HERE, STEM, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
