"""Published series of kernels beside the clock of the simulated GPU.

    python benchmarks/kernel_series.py    # -> results/kernel_series.json

Every row of family K at its published shape and device, by `gpu.estimate`: published
and predicted rate, or why there is none. `times_s` is what the estimate took here.
"""

import time
from typing import Any

import host_common

from stacklib.roofline.host import measure as host

STEM = "kernel_series"


def row_of(given: Any) -> dict[str, Any]:
    """A published row with what the clock says of it."""
    from stacklib.evidence import kernel_series

    began = time.perf_counter()
    line = kernel_series.line(given, kernel_series.estimated)
    took = time.perf_counter() - began
    factor = "" if line.predicted is None else f"{line.factor:.2f} {line.part}"
    print(f"{line.series:22} {line.kernel:34} {factor or line.reason}", flush=True)
    return {
        "id": given.id,
        "series": line.series,
        "kernel": line.kernel,
        "published": line.published,
        "predicted": line.predicted,
        "part": line.part,
        "reason": line.reason,
        "times_s": [took],
    }


def measure() -> dict[str, Any]:
    """Every row, and how far they are off."""
    from stacklib.evidence import kernel_series, measurements

    watch = host.Watch()
    rows = [row_of(given) for given in measurements.series()]
    told = kernel_series.summary("all", kernel_series.read(rows))
    print(
        f"{told.lines} rows, {told.refused} refused; median factor {told.median:.2f}, "
        f"worst {told.worst:.2f}, {len(told.faults)} pairs in the wrong order"
    )
    return host_common.head(
        STEM,
        None,
        watch,
        driver="none",
        rows=rows,
        versions=host.versions(),
        why_no_prediction="predictions themselves, beside what others published",
    )


if __name__ == "__main__":
    host_common.save(host_common.HERE, STEM, measure())
