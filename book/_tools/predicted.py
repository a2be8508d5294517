"""Predictions come before measurements, and git says so.

A result file names its prediction file and that file's hash. The prediction holds
when its hash is still the one recorded and when a commit that contains it is a
strict ancestor of the first commit that holds the measured rows. A shallow clone
cannot know; then the check is not run, and says so.
"""

import hashlib
import io
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _tools import tree

RESULTS = "benchmarks/results"
# Results that nothing predicts, each with its reason in the file: what predictions
# start from, what was measured afterwards to explain a miss, what has a bar instead.
UNPREDICTED = {
    "host_roofline",
    "host_latency",
    "five_operations_passes",
    "tile_kernel",
    "cache",
    "launch_speed",
    "kernel_series",
    "occupancy",
    "fit_process",
    "cost_evaluation",
    "codec_grid",
    "profiles",
    "quantize",
    "q4_k",
    "gguf_texts",
    "every_number",
    "flash_attention_numpy",
    "flash_attention_torch",
    "flash_attention_heads",
    "launch_costs",
    "proven_best",
    "gloo_costs",
    "gloo_link",
    "nccl_collectives",
    "sharded_costs",
    "pipelined_costs",
    "torus",
    "training_step",
    "placement",
    "plan_search",
    "rig_temperature",
    "prediction_error",
    "test_suite",
    "engine",
    "block_manager",
    "prefix_tree",
    "best_configuration",
    "json_check",
    "serving_simulation",
    "host_steps",
    "sweep_cluster",
    "systolic",
    "rtl_gates",
    "rtl_witnesses",
    "rtl_placed",
    "rtl_wired",
    "rtl_speed",
    "silicon",
}


@dataclass(frozen=True)
class Order:
    """Result files checked, their faults, and why nothing was checked if so."""

    checked: int
    faults: tuple[str, ...]
    not_run: str = ""


@dataclass(frozen=True)
class Version:
    """A file as git stores it: its hash; of a result, its prediction's and its rows."""

    sha256: str
    predicted: str = ""
    rows: frozenset[str] = frozenset()


History = list[tuple[str, Version]]  # with the commit that stores each, oldest first


def check(root: Path = tree.ROOT) -> Order:
    """Every result file of the repo against the history of its prediction."""
    files = sorted((root / RESULTS).glob("*.json"))
    if not files:
        return Order(0, (), "no result files")
    why = unreadable(root)
    if why:
        return Order(0, (), why)
    past = history(root)
    found = (fault for path in files for fault in of_result(path, root, past))
    return Order(len(files), tuple(found))


def unreadable(root: Path) -> str:
    """Why the history cannot be asked; empty where it can."""
    shallow = tree.git(root, "rev-parse", "--is-shallow-repository")
    if shallow is None:
        return "no git history"
    if shallow.strip() == "true":
        return "shallow clone"
    top = tree.git(root, "rev-parse", "--show-toplevel") or ""
    if Path(top.strip()).resolve() != root.resolve():
        return "not the top of a git checkout"
    if tree.git(root, "rev-parse", "HEAD") is None:
        return "no commit yet"
    return ""


def of_result(path: Path, root: Path, past: History) -> Iterator[str]:
    """The faults of one result file."""
    name, result = tree.name(path, root), json.loads(path.read_text("utf-8"))
    kind = f"_{result.get('processor')}"  # one file for each kind of processor
    if path.stem.removesuffix(kind) in UNPREDICTED and result.get("why_no_prediction"):
        return
    recorded = result.get("prediction") or {}
    if not recorded.get("file") or not recorded.get("sha256"):
        yield f"{name}: names no prediction file and hash"
        return
    prediction = located(recorded["file"], root)
    if prediction is None:
        yield f"{name}: its prediction {recorded['file']} does not exist"
        return
    if sha256(prediction.read_bytes()) != recorded["sha256"]:
        yield (
            f"{name}: {tree.name(prediction, root)} is not the prediction it was "
            f"measured against: hash {sha256(prediction.read_bytes())[:12]}, recorded "
            f"{recorded['sha256'][:12]}"
        )
        return
    source, wanted = tree.name(prediction, root), recorded["sha256"]
    predicted = next((c for c, v in past if v.sha256 == wanted), None)
    if predicted is None:
        yield f"{name}: its prediction {source} was never committed"
        return
    # Any shared row counts, under any file name, so that neither editing a row nor
    # renaming a file makes a measurement look newer.
    rows = rows_of(result)
    holding = (c for c, v in past if v.predicted == wanted or v.rows & rows)
    measured = next(holding, None)
    # Rows that are not committed yet come after every commit there is.
    if measured and not before(predicted, measured, root):
        yield (
            f"{name}: measured in {measured[:10]}, but {source} was first committed in "
            f"{predicted[:10]}, not before it"
        )


def located(file: str, root: Path) -> Path | None:
    """A prediction file, named from the repo root or from `benchmarks/`."""
    places = (root / file, root / "benchmarks" / file)
    return next((place for place in places if place.is_file()), None)


def rows_of(result: dict[str, Any]) -> frozenset[str]:
    """The measured rows, each as a text."""
    return frozenset(json.dumps(row, sort_keys=True) for row in result.get("rows", ()))


def history(root: Path) -> History:
    """Every file version under `benchmarks/`."""
    ask = ("log", "--reverse", "--topo-order", "-m", "--no-renames", "--no-abbrev")
    printed = tree.git(root, *ask, "--raw", "--format=@%H", "--", "benchmarks") or ""
    found, commit = [], ""
    for line in printed.splitlines():
        if line.startswith("@"):
            commit = line[1:].split()[0]
        elif line.startswith(":") and not line.split()[4].startswith("D"):
            found.append((commit, line.split()[3]))
    known = dict(versions({blob for _, blob in found}, root))
    return [(commit, known[blob]) for commit, blob in found]


def versions(blobs: set[str], root: Path) -> Iterator[tuple[str, Version]]:
    """What git stores under each name."""
    command = ["git", "-C", str(root), "cat-file", "--batch"]
    asked = "\n".join(blobs).encode()
    out = io.BytesIO(subprocess.run(command, input=asked, capture_output=True).stdout)
    while head := out.readline().split():  # name, kind and size; then the content
        yield head[0].decode(), version(out.read(int(head[2])))
        out.readline()


def version(content: bytes) -> Version:
    """What is asked of a stored file."""
    try:
        held = json.loads(content)
    except ValueError:
        held = None
    if not isinstance(held, dict) or not held.get("prediction"):
        return Version(sha256(content))
    of = held["prediction"].get("sha256", "")
    return Version(sha256(content), of, rows_of(held))


def before(early: str, late: str, root: Path) -> bool:
    """Whether one commit is a strict ancestor of the other."""
    ask = ("merge-base", "--is-ancestor", early, late)
    return early != late and tree.git(root, *ask) is not None


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
