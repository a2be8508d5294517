"""PTX to machine code by `ptxas`, by size of the kernel: predicted, measured.

    python benchmarks/jit_time.py predict   # -> predictions/jit_time.json
    python benchmarks/jit_time.py measure   # after a commit -> results/

A kernel is a chain of multiply-adds. The peer is a line: a process that starts, and so
much for each instruction. `ptxas` is not the compiler inside a driver, but both turn
PTX into the same machine code.
"""

import statistics
import sys
from pathlib import Path
from typing import Any

import host_common

from stacklib.gpu.code import toolchain
from stacklib.roofline.host import measure as host

STEM = "jit_time"
TARGET = "sm_90"
SIZES = (16, 64, 256, 1024, 4096, 16384, 65536)  # multiply-adds
REPEATS = 5
LONGEST_S = 1.0  # once a kernel takes longer, larger ones are left out
START_S, EACH_S = 0.03, 20e-6  # guesses, made before anything was timed
MODEL = "30 ms to start the process, and 20 us a PTX instruction"


def chain(count: int) -> str:
    """PTX of a kernel with so many multiply-adds, each on the one before it."""
    steps = "\n".join(["\tfma.rn.f32 %f1, %f1, %f1, %f2;"] * count)
    return f""".version 8.0
.target sm_80
.address_size 64
.visible .entry chain(.param .u64 data)
{{
\t.reg .f32 %f<3>;
\t.reg .b64 %rd<3>;
\tld.param.u64 %rd1, [data];
\tcvta.to.global.u64 %rd2, %rd1;
\tld.global.f32 %f1, [%rd2];
\tmov.f32 %f2, %f1;
{steps}
\tst.global.f32 [%rd2], %f1;
\tret;
}}
"""


def predict(folder: Path) -> None:
    """Write the prediction."""
    rows = [
        {
            "id": f"fma-{n}",
            "instructions": n + 6,
            "predicted_s": float(f"{START_S + EACH_S * (n + 6):.6g}"),
        }
        for n in SIZES
    ]
    about = {"kind": STEM, "device": host.read_machine().text(), "model": MODEL}
    host_common.foretell(folder, STEM, about, rows)


@host_common.measures(STEM)
def measure(_: Any) -> dict[str, Any]:
    """Time `ptxas`, unless the prediction is not committed as it stands."""
    toolchain.to_cubin(chain(1), TARGET, False)  # the file itself, from disk
    rows: list[dict[str, Any]] = []
    for n in SIZES:
        made = [toolchain.to_cubin(chain(n), TARGET, False) for _ in range(REPEATS)]
        rows.append(
            {
                "id": f"fma-{n}",
                "instructions": n + 6,
                "sass": len(made[0].words),
                "times_s": [float(f"{m.seconds:.4g}") for m in made],
                "median_s": float(f"{statistics.median(m.seconds for m in made):.4g}"),
                "own_s": float(f"{statistics.median(m.own_seconds for m in made):.4g}"),
            }
        )
        print(rows[-1])
        if rows[-1]["median_s"] > LONGEST_S:
            break
    return {
        "compiler": f"ptxas {toolchain.version()}, {TARGET}",
        "note": "the whole process; own_s is what ptxas says it took for the kernel",
        "rows": rows,
        "not_measured": [f"fma-{n}" for n in SIZES[len(rows) :]],
    }


if __name__ == "__main__":
    sys.exit(host_common.command(__doc__ or "", predict, measure))
