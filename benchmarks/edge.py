"""The tiny model in INT8, exported to ONNX and run by onnxruntime: told, then measured.

    python benchmarks/edge.py predict   # ceilings, then steps and texts -> predictions/
    python benchmarks/edge.py measure   # once that is committed -> results/

Needs the extra `edge`. One core. Three ceilings are measured before anything is
predicted: the rate at which this core reads as many bytes as the weights have, the rate
of a product whose matrix lies in the L2, and what a call costs and a node that scales
one token. What a text costs is predicted by the NumPy model of the same codes.
"""

import dataclasses
import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import host_common as common
import numpy as np
from quantized_gemv import read_rate, timed

from stacklib.roofline.host import measure as host
from stacklib.tinylm import TinyLM, load
from stacklib.tinylm.corpus import own_prose
from stacklib.tinylm.low_precision import edge
from stacklib.tinylm.perplexity import perplexity, score
from stacklib.tinylm.quantized import with_outliers

NAME = "edge"
KINDS, PASTS = ("fp32", "int8"), (0, 128, 511)
NEAR = {"fp32": (1024, 256), "int8": (4096, 256)}  # rows, columns: half the L2
CHAINS = (1, 300)  # nodes
STEPS, ROUNDS, PASSES = 60, 5, 8
TEXTS = ("fp32", "int8", "int8-outliers")


def model_of(kind: str) -> TinyLM:
    """The model in floats, in INT8, or in INT8 with channels made large before."""
    plain = load()
    if kind == "fp32":
        return plain
    return edge.calibrated(with_outliers(plain) if "outliers" in kind else plain)


def small(kind: str, rows: int, cols: int) -> Callable[[], object]:
    """One product in onnxruntime, its matrix constant."""
    from stacklib.tinylm.low_precision.edge_onnx import FLOAT, Graph, runner

    weight: Any = np.ones((rows, cols), np.float32)
    if kind == "int8":
        codes, scales = weight.astype(np.int8), np.ones(rows, np.float32)
        weight = edge.Product(codes, scales, np.float32(1), 0)
    graph = Graph()
    graph.matrix("x", "y", weight)
    run = runner(graph.made("y", {"x": (FLOAT, 1, cols)}, {"y": (FLOAT, 1, rows)}))
    given = {"x": np.ones((1, cols), np.float32)}
    return lambda: run(None, given)


def chain(nodes: int, width: int = 256) -> Callable[[], object]:
    """A row of nodes that each scale a token's numbers."""
    from stacklib.tinylm.low_precision.edge_onnx import FLOAT, Graph, runner

    graph, x, ends = Graph(), "x", (FLOAT, 1, width)
    factors = graph.keep("factors", np.ones(width, np.float32))
    for i in range(nodes):
        x = graph.put("Mul", f"y{i}", x, factors)
    run = runner(graph.made("chain", {"x": ends}, {x: ends}))
    given = {"x": np.ones((1, width), np.float32)}
    return lambda: run(None, given)


def ceilings(sizes: dict[str, int]) -> dict[str, Any]:
    """Rates of reading and of products, seconds of a node and of a call: the best seen.

    Other work only slows a pass, so of several each ceiling is that of the fastest.
    """
    runs = {nodes: chain(nodes) for nodes in CHAINS}
    runs |= {kind: small(kind, *NEAR[kind]) for kind in KINDS}
    spent, reads = dict.fromkeys(runs, 1.0), dict.fromkeys(sizes, 0.0)
    for _ in range(PASSES):
        for name, run in runs.items():
            spent[name] = min(spent[name], *timed(run, 9))
        for kind, size in sizes.items():
            reads[kind] = max(reads[kind], read_rate(size, min))
    few, many = (spent[nodes] for nodes in CHAINS)
    node = (many - few) / (CHAINS[1] - CHAINS[0])
    call, near = few - CHAINS[0] * node, {}
    for kind, nodes in (("fp32", 1), ("int8", 4)):
        rows, cols = NEAR[kind]
        near[kind] = rows * cols / (spent[kind] - call - nodes * node)
    return {"node_s": node, "call_s": call, "near": near, "reads": reads}


def predict(folder: Path) -> None:
    """Measure the ceilings, then write what they say of a step."""
    from stacklib.tinylm.low_precision.edge_onnx import exported

    models = {kind: model_of(kind) for kind in KINDS}
    weights = sum(w.size for w in models["fp32"].weights.values() if w.ndim == 2)
    sizes = {"fp32": 4 * weights, "int8": weights}
    found = json.loads(json.dumps(ceilings(sizes)), parse_float=six)
    rows: list[dict[str, Any]] = []
    for kind in KINDS:
        nodes = len(exported(models[kind]).graph.node)
        memory, compute = (
            sizes[kind] / found["reads"][kind],
            weights / found["near"][kind],
        )
        calls = found["call_s"] + nodes * found["node_s"]
        for past in PASTS:
            told = {"nodes": nodes, "bytes": sizes[kind], "operations": 2 * weights}
            spent = {"t_memory_s": memory, "t_compute_s": compute, "t_calls_s": calls}
            spent["predicted_s"] = max(memory, compute) + calls
            head = {"id": f"step-{kind}-{past}", "model": kind, "past": past}
            rows.append(head | told | {k: float(f"{v:.6g}") for k, v in spent.items()})
    about = {
        "kind": NAME,
        "device": host.read_machine().text(),
        "model": "max(bytes / read rate of one core at that size, weights / rate of a "
        "product in the L2) + nodes x a node + a call; texts by the NumPy model",
        "ceilings": found,
        "texts": {kind: costs(model_of(kind)) for kind in TEXTS},
        "versions": versions(),
    }
    common.foretell(folder, NAME, about, rows)


def versions() -> dict[str, str]:
    """Of what is measured."""
    return {name: version(name) for name in ("onnx", "onnxruntime")}


def costs(model: Any) -> list[float]:
    """Perplexity of held-out prose under a model or a scorer, and its interval."""
    texts = [document for document in own_prose() if document.is_held_out]
    found = perplexity(score(model, texts, load().tokenizer))
    return [float(f"{x:.7g}") for x in (found.value, found.low, found.high)]


class Reading(TinyLM):
    """The model as onnxruntime reads a text: a session in place of weights."""

    weights: Any

    def logits(self, ids: Any, cache: Any = None, *, last_only: bool = False) -> Any:
        """Logits after each of ``ids``."""
        self.weights.clear()
        return self.weights.step(ids)[0]


def session_of(kind: str, also: bool = False) -> Any:
    """A model in onnxruntime; ``also``: codes and sums of its products come out."""
    from stacklib.tinylm.low_precision.edge_onnx import Session, exported, shown

    model = model_of(kind)
    return Session(exported(model), shown(model) if also else ())


def steps(session: Any, past: int) -> list[float]:
    """Seconds of decode steps that find so many tokens in the cache."""
    ids = np.random.default_rng(0).integers(0, 2000, past)
    session.clear()
    if past:
        session.step(ids)
    kept, times = session.cache, list[float]()
    for _ in range(STEPS):
        session.cache = kept
        began = time.perf_counter()
        session.step([1])
        times.append(time.perf_counter() - began)
    return times


def equal(kind: str) -> dict[str, Any]:
    """Codes and sums of every product of a text, those of NumPy beside."""
    from stacklib.tinylm.low_precision.edge_onnx import name_of

    session, model = session_of(kind, also=True), model_of(kind)
    given: dict[str, Any] = {}

    class Told(edge.Product):
        def rounded(self, x: Any) -> Any:
            given[id(self)] = super().rounded(x)
            return given[id(self)]

    mine = {
        key: Told(*(getattr(each, f.name) for f in dataclasses.fields(each)))
        for key, each in edge.products(model).items()
    }
    model = dataclasses.replace(model, weights={**model.weights, **mine})
    text = next(document.text for document in own_prose() if document.is_held_out)
    ids = [model.tokenizer.end, *model.tokenizer.encode(text)]
    ids = ids[: model.config.max_position_embeddings]
    want, (logits, seen) = model.logits(ids), session.step(ids)
    counts = dict.fromkeys(("sums", "sums_equal", "codes", "codes_equal"), 0)
    for key, product in mine.items():
        sums, codes = (seen[f"{name_of(key)}.{what}"] for what in ("sums", "codes"))
        counts["sums"] += sums.size
        counts["sums_equal"] += int((sums == product.sums(codes)).sum())
        counts["codes"] += codes.size
        counts["codes_equal"] += int((codes == given[id(product)]).sum())
    first = int((want.argmax(1) == logits.argmax(1)).sum())
    return {"tokens": len(ids), **counts, "first_equal": first}


def six(x: Any) -> float:
    """Six digits of a number."""
    return float(f"{float(x):.6g}")


@common.measures(NAME)
def measure(forecast: dict[str, Any]) -> dict[str, Any]:
    """Time the steps, read the texts, compare the codes."""
    sessions = {kind: session_of(kind) for kind in TEXTS}
    rows = [{k: row[k] for k in ("id", "model", "past")} for row in forecast["rows"]]
    for _ in range(ROUNDS):
        for row in rows:
            spent = steps(sessions[row["model"]], row["past"])
            row["times_s"] = row.get("times_s", []) + spent
    for row, told in zip(rows, forecast["rows"], strict=True):
        print(row["id"], told["predicted_s"], median(row["times_s"]))
    texts = {}
    for kind, told in forecast["texts"].items():
        read = Reading(**vars(load()) | {"weights": sessions[kind]})
        texts[kind] = costs(read)
        print(kind, told, texts[kind])
    same = equal("int8")
    print(same)
    return {
        "rows": rows,
        "texts": texts,
        "equal": same,
        "versions": host.versions() | versions(),
    }


if __name__ == "__main__":
    sys.exit(common.command(__doc__ or "", predict, measure))
