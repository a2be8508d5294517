"""What a GPU does, against what the book's models foretold. Needs only torch.

    python benchmarks/gpu.py                       # the whole sweep, CUDA device 0
    python benchmarks/gpu.py --device cpu --quick  # rehearsal on a CPU

Launch latency, copies, matrix products, decode-like products, attention, a whole
decode step of one chip of eight, its watts over half a minute at the limit in force,
and the Triton kernels of chapter 4, each checked against float64 before it is timed.
Each case is measured, skipped (no time left) or failed, with the reason; the result
file is rewritten after every section, so a killed run keeps what it had. Clocks
are sampled, never set.
"""

import argparse
import gc
import json
import os
import sys
import threading
import time
import warnings
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import gpu_numerics
import record
from gpu_cases import DEVICES, SECTIONS, cases, small
from gpu_ops import Bench
from gpu_report import at_limit, describe, limit_of, versions
from gpu_timing import CpuTimer, CudaTimer, Op, Sampler, reason

BUDGET_S = 430.0  # for the cases; torch's import and the last case come on top
GRACE_S = 35.0  # a case that hangs this long past the budget ends the run
RESTARTS = 3
PREDICTION = record.PREDICTIONS / "gpu.json"


class ContextLost(RuntimeError):
    """The CUDA context is unusable; only a new process can go on."""


class Run:
    """One benchmark run: device, record so far, and the clock it runs against."""

    def __init__(self, torch: Any, options: argparse.Namespace) -> None:
        self.torch, self.options = torch, options
        self.cuda = options.device == "cuda"
        self.begin = time.monotonic()
        self.smi_id, l2, self.device = describe(torch, self.cuda)
        self.timer: Any = CudaTimer(torch) if self.cuda else CpuTimer(torch)
        self.bench = Bench(torch, options.device, l2)
        self.predicted = predictions(self.device["name"])
        self.rows: dict[str, dict[str, Any]] = {}
        self.clocks: dict[str, Any] = {}
        self.numerics: dict[str, Any] = {}
        name = record.slug(self.device["name"] if self.cuda else "rehearsal cpu")
        self.path = record.result_path(options.out, f"gpu_{name}", record.today())
        if options.resume and self.path.exists():
            self._resume()

    def _resume(self) -> None:
        old = json.loads(self.path.read_text(encoding="utf-8"))
        failed = (row for row in old["not_measured"] if row["status"] == "failed")
        self.rows = {row["id"]: row for row in (*old["rows"], *failed)}
        self.clocks = old["clocks"]
        self.numerics = old["numerics"]

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.begin

    def save(self) -> None:
        """Write all that is known; cases not reached yet count as skipped."""
        rows = [
            self.rows.get(c["id"]) or _row(c, "skipped", reason=self.absent(c))
            for c in self.cases()
        ]
        head = {
            "kind": "gpu" if self.cuda else "rehearsal",
            "device": self.device["name"],
            "device_key": DEVICES.get(self.device["name"]),
            "driver": self.device.get("driver", "unknown"),
            "clocks": self.clocks,
            "clock_fields": list(Sampler.FIELDS),
            "versions": versions(self.torch),
            "date": record.today(),
            "report": self.device,
            "numerics": self.numerics,
            "prediction": record.stamp(PREDICTION),
            "prediction_committed": record.committed(PREDICTION),
            "not_measured": [
                {name: row[name] for name in ("id", "section", "status", "reason")}
                for row in rows
                if row["status"] != "measured"
            ],
        }
        measured = [row for row in rows if row["status"] == "measured"]
        record.write(self.path, {**head, "rows": measured})

    def cases(self) -> list[dict[str, Any]]:
        return [c for c in cases() if not self.options.quick or small(c)]

    def asked(self, section: str) -> bool:
        """Whether a section is to be measured."""
        return not self.options.sections or section in self.options.sections

    def run(self) -> None:
        """Every section up to its share of the budget; unused time goes on."""
        share = 0.0
        for section, part in SECTIONS.items():
            share += part
            if not self.asked(section):
                continue
            sampler = Sampler(self.smi_id)
            try:
                for case in self.cases():
                    if case["section"] == section and case["id"] not in self.rows:
                        self._one(case, share * self.options.budget)
            finally:
                sampled = sampler.stop()
                self.clocks[section] = self.clocks.get(section, []) + sampled
                self.save()

    def absent(self, case: dict[str, Any]) -> str:
        """Why a case has no row yet."""
        return "not reached" if self.asked(case["section"]) else "not asked for"

    def ask(self) -> None:
        """Questions to the tensor cores about their arithmetic."""
        if not self.numerics:
            multiply = gpu_numerics.on_device(self.torch, self.options.device)
            self.numerics = gpu_numerics.measure(multiply, reason)
            self.save()

    def _one(self, case: dict[str, Any], until: float) -> None:
        if self.elapsed > until:
            self.rows[case["id"]] = _row(case, "skipped", reason="time budget")
            return
        try:
            found = self._measure(case)
            self.rows[case["id"]] = _row(case, "measured", **found)
        except NotImplementedError as error:
            self.rows[case["id"]] = _row(case, "skipped", reason=reason(error))
        except Exception as error:
            self.rows[case["id"]] = _row(case, "failed", reason=reason(error))
        if self.rows[case["id"]]["status"] == "failed":
            self._recover()  # out here the traceback no longer holds the operands
        print(self.line(self.rows[case["id"]]), flush=True)

    def _measure(self, case: dict[str, Any]) -> dict[str, Any]:
        if case["section"] == "launch":
            graph = case["how"] == "graph"
            found = self.timer.launches(self.bench.launcher(), case["n"], graph)
            return {**found, "copies": 1, "cold": False}
        op = self.bench.build(case)
        out = op.run(0)
        out = out[(0,) * (out.dim() - 1)][:4096].float()  # a row of it will do
        if not bool(self.torch.isfinite(out).all()):
            raise ArithmeticError("the output holds NaN or infinity")
        if case["section"] == "power":
            return self._held(op, case)
        return {**self.timer.measure(op), "copies": op.copies, "cold": op.cold}

    def _held(self, op: Op, case: dict[str, Any]) -> dict[str, Any]:
        """A step for long: seconds of each, and the watts that were read meanwhile."""
        sampler = Sampler(self.smi_id)
        found = self.timer.hold(op, case["seconds"])
        at = Sampler.FIELDS.index("power.draw")
        watts = [sample[at] for sample in sampler.stop()]
        limit = limit_of(self.device)
        found |= {
            "copies": op.copies,
            "cold": op.cold,
            "watts": watts,
            "limit_w": limit,
        }
        points = watts_of(self.device["name"]).get(case["id"])
        if limit and points:
            told, speed = at_limit(points, limit)
            seconds = self.predicted[case["id"]] / speed
            found |= {"predicted_w": told, "predicted_j": told * seconds}
        if watts:
            found["joules"] = median(watts) * median(found["times_s"])
        return found

    def _recover(self) -> None:
        """Give memory back; a context that cannot even do that is lost."""
        self.bench.kept = (None, None)
        gc.collect()
        if not self.cuda:
            return
        try:
            self.torch.cuda.empty_cache()
            self.torch.ones(1, device="cuda").add_(1).item()
        except Exception as error:
            raise ContextLost(reason(error)) from error

    def line(self, row: dict[str, Any]) -> str:
        """Progress: seconds so far, case, time, rate, prediction."""
        start = f"{self.elapsed:6.1f} s  {row['id']:44}"
        if row["status"] != "measured":
            return f"{start} {row['status']}: {row['reason'][:60]}"
        seen, told = median(row["times_s"]), self.predicted.get(row["id"])
        text = f"{start} {seen * 1e6:10.1f} us  {rate(row, seen):>15}"
        if row.get("joules"):
            text += f"  {row['joules']:.2f} J each"
            text += (
                f" predicted {row['predicted_j']:.2f}" if "predicted_j" in row else ""
            )
        if not told:
            return text
        return f"{text}  predicted {told * 1e6:10.1f} us  x{told / seen:.2f}"

    def summary(self) -> str:
        """Counts, and for each section and format the best rate and ratio."""
        rows = list(self.rows.values())
        counts = {
            s: sum(r["status"] == s for r in rows)
            for s in ("measured", "skipped", "failed")
        }
        lines = [f"{counts} in {self.elapsed:.0f} s"]
        groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for row in rows:
            if row["status"] == "measured" and row["section"] != "launch":
                kind = row.get("backend") or row["dtype"]
                groups.setdefault((row["section"], kind), []).append(row)
        for (section, kind), found in groups.items():
            lines.append(f"  {section:5} {kind:10} " + self._best(found))
        return "\n".join([*lines, f"wrote {self.path}"])

    def _best(self, rows: list[dict[str, Any]]) -> str:
        fast = max(
            rows, key=lambda r: (r["operations"] or r["bytes"]) / median(r["times_s"])
        )
        shares = [
            self.predicted[r["id"]] / median(r["times_s"])
            for r in rows
            if self.predicted.get(r["id"])
        ]
        text = f"best {rate(fast, median(fast['times_s'])):>15} ({fast['id']})"
        if not shares:
            return text
        return f"{text}, predicted / measured {min(shares):.2f} to {max(shares):.2f}"


def _row(case: dict[str, Any], status: str, **rest: Any) -> dict[str, Any]:
    return {**case, "status": status, **rest}


def rate(row: dict[str, Any], seconds: float) -> str:
    """Bandwidth where memory is the question, else arithmetic."""
    by_bytes = row["section"] in ("copy", "gemv") or row.get("limit") == "bytes"
    if by_bytes or row.get("queries") == 1:
        return f"{row['bytes'] / seconds / 1e9:.0f} GB/s"
    if row["section"] == "launch":
        return f"{seconds / row['n'] * 1e6:.2f} us each"
    return f"{row['operations'] / seconds / 1e12:.2f} T/s"


def predictions(device: str) -> dict[str, float]:
    """Predicted seconds by case id, where this device was predicted."""
    key = DEVICES.get(device)
    if key is None or not PREDICTION.exists():
        return {}
    rows = json.loads(PREDICTION.read_text(encoding="utf-8"))["rows"]
    return {r["id"]: r["predicted_s"][key] for r in rows if r["predicted_s"].get(key)}


def watts_of(device: str) -> dict[str, list[list[float]]]:
    """Limits with watts and speed foretold, by case id, as ``predictions``."""
    key = DEVICES.get(device)
    if key is None or not PREDICTION.exists():
        return {}
    rows = json.loads(PREDICTION.read_text(encoding="utf-8"))["rows"]
    return {r["id"]: r["watts"][key] for r in rows if r.get("watts")}


def restart(run: Run, error: ContextLost) -> int:
    """Go on in a fresh process with what is left of the budget."""
    options = run.options
    if options.resume >= RESTARTS:
        print(f"gave up after {RESTARTS} lost contexts: {error}", file=sys.stderr)
        return 1
    print(f"context lost ({error}); starting a new process", file=sys.stderr)
    left = max(options.budget - run.elapsed, 1.0)
    arguments = ["--device", options.device, "--out", str(options.out)]
    arguments += ["--budget", str(left), "--resume", str(options.resume + 1)]
    arguments += ["--quick"] if options.quick else []
    arguments += ["--sections", *options.sections] if options.sections else []
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, __file__, *arguments])


def watchdog(run: Run) -> threading.Timer:
    """A call that never returns must not take the finished cases with it."""

    def give_up() -> None:
        run.save()
        print("a case hung; wrote what was measured", file=sys.stderr, flush=True)
        os._exit(1)

    timer = threading.Timer(run.options.budget + GRACE_S, give_up)
    timer.daemon = True
    timer.start()
    return timer


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--quick", action="store_true", help="only cases a CPU can run")
    parser.add_argument(
        "--sections",
        nargs="*",
        choices=tuple(SECTIONS),
        default=(),
        help="only these; with --resume the others of today's file are kept",
    )
    parser.add_argument("--budget", type=float, default=BUDGET_S, help="seconds")
    parser.add_argument(
        "--out",
        type=Path,
        help="default: benchmarks/results; on a CPU _build/rehearsal",
    )
    parser.add_argument(
        "--resume",
        type=int,
        default=0,
        metavar="N",
        help="keep today's rows, measure the others",
    )
    options = parser.parse_args(arguments)
    rehearsal = record.HERE.parent / "_build" / "rehearsal"
    options.out = options.out or (
        rehearsal if options.device == "cpu" else record.RESULTS
    )
    return options


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    if options.device == "cpu":  # before Triton is imported: its kernels run here, too
        os.environ["TRITON_INTERPRET"] = "1"
    warnings.filterwarnings("ignore")  # a refused backend warns, then raises
    try:
        import torch
    except ImportError:
        print(
            "this benchmark needs torch: python -m pip install torch", file=sys.stderr
        )
        return 2
    if options.device == "cuda" and not torch.cuda.is_available():
        print(
            "torch sees no CUDA device; rehearse with --device cpu --quick",
            file=sys.stderr,
        )
        return 2
    run = Run(torch, options)
    timer = watchdog(run)
    if record.committed(PREDICTION) is False:
        print(f"note: {PREDICTION.name} is not committed as it stands", file=sys.stderr)
    print(json.dumps(run.device), flush=True)
    try:
        with torch.no_grad():
            run.ask()  # a second, before anything can break the driver's state
            run.run()
    except ContextLost as error:
        return restart(run, error)
    finally:
        timer.cancel()
    print(run.summary())
    return 0


if __name__ == "__main__":
    sys.exit(main())
