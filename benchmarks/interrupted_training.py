"""A training of the book's model that is killed and goes on: predicted, measured.

    python benchmarks/interrupted_training.py predict   # -> predictions/
    python benchmarks/interrupted_training.py measure   # after a commit -> results/

One run is left alone, one is killed with SIGKILL: in the middle of an interval, as it
writes a checkpoint, and in the middle of another. The peer is the run left alone: the
same weights, bit for bit. Where each process resumes and how many steps are done twice
is predicted; times are noted.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import host_common

from stacklib.roofline.host import measure as host

STEM = "interrupted_training"
STEPS, EVERY = 56, 8
# After which checkpoint's line, and how much of an interval later, the process dies.
KILLS = ((2, 0.5), (3, 0.0), (5, 0.5))
MODEL = (
    "a kill repeats the steps since the last whole checkpoint, and starts torch anew"
)


def repeated() -> int:
    """Steps that the kills make the run do twice.

    A checkpoint's line comes before its file: a kill there costs the whole interval.
    """
    return round(sum(EVERY * later or EVERY for _, later in KILLS))


def predict(folder: Path) -> None:
    """Write the prediction."""
    rows = [
        {
            "id": "killed",
            "restarts": len(KILLS),
            "repeated": repeated(),
            "weights_differ": False,
        }
    ]
    about = {"kind": STEM, "device": host.read_machine().text(), "model": MODEL}
    host_common.foretell(folder, STEM, about, rows)


@dataclass(frozen=True, slots=True)
class Life:
    """One process: seconds it ran, where its checkpoints stood, whether it was left."""

    seconds: float
    steps: tuple[int, ...]
    whole: bool


def live(out: Path, resume: bool, line: int | None, later: float) -> Life:
    """Run the training until it ends, or until a share of an interval after a line."""
    command = [sys.executable, "-m", "stacklib.tinylm.train_torch", "draft_plain"]
    command += ["--out", str(out), "--steps", str(STEPS), "--every", str(EVERY)]
    started = time.perf_counter()
    steps: list[int] = []
    times = [started]
    with subprocess.Popen(
        command + ["--resume"] * resume,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=host_common.HERE.parent,
    ) as process:
        assert process.stdout is not None
        for text in process.stdout:
            if text.startswith("{") and "step" in text:
                steps.append(json.loads(text)["step"])
                times.append(time.perf_counter())
            if line is not None and steps and steps[-1] == line * EVERY:
                time.sleep(later * (times[-1] - times[-2]))
                process.kill()
                break
        code = process.wait()
    if line is None and code:
        raise RuntimeError(f"the training ended with {code}")
    return Life(time.perf_counter() - started, tuple(steps), line is None)


def digest(out: Path) -> str:
    """A hash of all weights of a finished run."""
    names = sorted(p for p in out.glob("*.safetensors"))
    return hashlib.sha256(b"".join(p.read_bytes() for p in names)).hexdigest()


@host_common.measures(STEM)
def measure(_: Any) -> dict[str, Any]:
    """Run both, unless the prediction is not committed as it stands."""
    with tempfile.TemporaryDirectory() as name:
        alone, killed = Path(name) / "alone", Path(name) / "killed"
        left = live(alone, False, None, 0.0)
        lives = []
        for line, later in KILLS:
            lives.append(live(killed, bool(lives), line, later))
        lives.append(live(killed, True, None, 0.0))
        same = digest(alone) == digest(killed)
        curves = [
            [(p["step"], p["loss"], p["held_out"]) for p in training(out)["curve"]]
            for out in (alone, killed)
        ]
    # A life that resumed from step s prints s + EVERY first.
    resumed = [life.steps[0] - EVERY for life in lives[1:]]
    reached = [line * EVERY + later * EVERY for line, later in KILLS]
    again = round(sum(r - s for r, s in zip(reached, resumed, strict=True)))
    rows: list[dict[str, Any]] = [
        {"id": "alone", "times_s": [round(left.seconds, 3)]},
        {
            "id": "killed",
            "times_s": [round(life.seconds, 3) for life in lives],
            "restarts": len(lives) - 1,
            "resumed_at": resumed,
            "repeated": again,
            "weights_differ": not same,
        },
    ]
    for row in rows:
        print(row)
    note = "steps since a kill's checkpoint by the clock of its own intervals"
    return {"curves_equal": curves[0] == curves[1], "note": note, "rows": rows}


def training(out: Path) -> dict[str, Any]:
    """What a finished run wrote of itself."""
    found: dict[str, Any] = json.loads((out / "training.json").read_text())
    return found


if __name__ == "__main__":
    sys.exit(host_common.command(__doc__ or "", predict, measure))
