"""Messages between two network namespaces: a link's rate and delay found from times.

    python benchmarks/gloo_namespaces.py costs     # the bare link -> results/
    python benchmarks/gloo_namespaces.py predict   # -> predictions/gloo_namespaces.json
    python benchmarks/gloo_namespaces.py measure   # once committed -> results/

One process in each namespace; a message goes there and back, half of it is one way.
The bare link says what software costs. A link with a rate and a delay adds the delay to
alpha, and to beta what its rate makes of a byte with its share of the headers, where
that is more. Where namespaces are not permitted, the loopback is measured, and only it.
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import host_common as common
import namespaces
import record

from stacklib.interconnect.selection.line import fit_line
from stacklib.interconnect.sharding.processes import run_ranks
from stacklib.roofline.host import measure as host

STEM, COSTS = "gloo_namespaces", "gloo_link"
SIZES = tuple(1 << k for k in range(12, 21))
ROUNDS, TRIES, LIMIT = 15, 2, 120.0
WIRES = {
    "100 Mbit/s": namespaces.Wire(rate=100e6),
    "1 Gbit/s": namespaces.Wire(rate=1e9),
    "2 ms": namespaces.Wire(delay=2e-3),
    "200 Mbit/s, 1 ms": namespaces.Wire(rate=200e6, delay=1e-3),
}
MTU, TCP, ETHERNET = 1500, 52, 14  # bytes: a packet, TCP and IP in it, Ethernet around
MODEL = "delay on top of the bare link's alpha; the larger of its beta and the rate's"


def asked() -> list[dict[str, Any]]:
    """A message there and back, by its size."""
    return [
        {"collective": "pingpong", "bytes": size, "rounds": ROUNDS} for size in SIZES
    ]


def over(wire: namespaces.Wire) -> tuple[str, list[list[float]]]:
    """How the link was made, and seconds one way by size."""
    seen: list[list[float]] = [[] for _ in SIZES]
    for _ in range(TRIES):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            if not namespaces.permitted():
                how = "loopback"
                told = _run(
                    file, [[], []], "lo", f"tcp://127.0.0.1:{29500 + os.getpid() % 999}"
                )
            else:
                with namespaces.joined(wire) as (how, interface):
                    before = [
                        ["ip", "netns", "exec", name] for name in namespaces.NAMES
                    ]
                    meeting = f"tcp://{namespaces.ADDRESSES[0]}:29500"
                    told = _run(file, before, interface, meeting)
        for at, times in enumerate(seen):
            times += [float(f"{t:.6g}") for t in told[0]["cases"][at]["one_way"]]
    return how, seen


def _run(file: Any, before: list[list[str]], interface: str, meeting: str) -> list[Any]:
    json.dump({"cases": asked(), "meeting": meeting}, file)
    file.flush()
    program = [sys.executable, str(record.HERE / "gloo_worker.py"), file.name]
    environment = os.environ | {"GLOO_SOCKET_IFNAME": interface}
    return run_ranks(program, 2, limit_s=LIMIT, before=before, environment=environment)


def rows_of(name: str, wire: namespaces.Wire) -> list[dict[str, Any]]:
    """A row for each size."""
    how, seen = over(wire)
    return [
        {"id": f"{name}, {size}", "link": name, "made_by": how, "bytes": size}
        | {"times_s": times}
        for size, times in zip(SIZES, seen, strict=True)
    ]


def line_of(rows: list[dict[str, Any]]) -> Any:
    """Alpha and beta of rows, from medians."""
    return fit_line([r["bytes"] for r in rows], [median(r["times_s"]) for r in rows])


def costs(folder: Path) -> None:
    """The link as it is."""
    watch = host.Watch()
    rows = rows_of("bare", namespaces.Wire())
    why = "what the prediction of links with a rate and a delay starts from"
    head = common.head(COSTS, None, watch, why_no_prediction=why)
    record.write(folder / "results" / f"{COSTS}.json", head | {"rows": rows})
    line = line_of(rows)
    print(rows[0]["made_by"], line.alpha, line.alpha_interval, line.bandwidth)
    common.warn(head["others"])


def predict(folder: Path) -> None:
    """Write what each link should take."""
    source = folder / "results" / f"{COSTS}.json"
    bare = line_of(json.loads(source.read_text(encoding="utf-8"))["rows"])
    rows = []
    for name, wire in WIRES.items():
        alpha = bare.alpha + (wire.delay or 0.0)
        framed = (MTU + ETHERNET) / (MTU - TCP)
        beta = max(bare.beta, 8 * framed / wire.rate if wire.rate else 0.0)
        for size in SIZES:
            row = {"id": f"{name}, {size}", "link": name, "bytes": size}
            row |= {"rate_bit_s": wire.rate, "delay_s": wire.delay}
            row |= {"alpha_s": float(f"{alpha:.6g}"), "beta_s": float(f"{beta:.6g}")}
            rows.append(row | {"predicted_s": float(f"{alpha + beta * size:.6g}")})
    about = {
        "kind": STEM,
        "device": host.read_machine().text(),
        "model": MODEL,
        "costs": record.stamp(source),
    }
    common.foretell(folder, STEM, about, rows)


@common.measures(STEM)
def measure(forecast: dict[str, Any]) -> dict[str, Any]:
    """Run every link, unless the prediction is not committed as it stands."""
    rows = []
    for name, wire in WIRES.items():
        mine = rows_of(name, wire)
        line = line_of(mine)
        first = next(r for r in forecast["rows"] if r["link"] == name)
        print(
            f"{name:18} {mine[0]['made_by']:14} alpha {line.alpha * 1e6:8.1f} us of "
            f"{first['alpha_s'] * 1e6:8.1f}, {line.bandwidth / 1e6:8.2f} MB/s of "
            f"{1e-6 / first['beta_s']:8.2f}"
        )
        rows += mine
    note = "made_by says how each link was made; no netem in a kernel: a relay delays"
    return {"note": note, "rows": rows}


if __name__ == "__main__":
    sys.exit(common.command(__doc__ or "", costs, predict, measure))
