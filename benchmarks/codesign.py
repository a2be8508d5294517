"""When gains multiply: a layer of experts, each axis alone, greedy and jointly.

    python benchmarks/codesign.py predict   # -> predictions/codesign.json
    python benchmarks/codesign.py measure   # once committed -> results/

Tile, format, size of the experts and network, 594 points of `frontier.codesign`. The
prediction was made on a napkin, before any point had been asked: bytes of the weights
over 8 TB/s and bytes of the tokens over a port or over NVLink, nothing else.
"""

import sys
from pathlib import Path
from typing import Any

import host_common as common

from stacklib.frontier import codesign
from stacklib.roofline.host import measure as host

STEM = "codesign"
# What the napkin said, by what it is of.
NAPKIN: dict[str, tuple[float, str]] = {
    "format": (2.6, "4.5 bits of 16 in weights and dispatch; combine stays"),
    "network": (1.24, "28 us each way over a port, next to none over NVLink"),
    "experts": (1.0, "smaller ones save 50 us of weights and add 56 us of tokens"),
    "tile": (1.05, "a few per cent of padding and waves"),
    "product": (3.4, "of the four"),
    "joint": (4.5, "FP4, a switch, four or eight experts a token"),
    "ratio": (1.3, "above one: smaller experts pay only where the network is fast"),
    "greedy_loss": (0.15, "in the worst order, with experts before the network"),
    "settled_loss": (0.0, "going round again finds the optimum"),
}


def predict(folder: Path) -> None:
    """Write the napkin down."""
    about = {
        "kind": STEM,
        "device": host.read_machine().text(),
        "model": "a napkin: bytes over bandwidths, no point asked",
    }
    rows = [
        {"id": name, "value": value, "because": because}
        for name, (value, because) in NAPKIN.items()
    ]
    common.foretell(folder, STEM, about, rows)


@common.measures(STEM)
def measure(forecast: dict[str, Any]) -> dict[str, Any]:
    """Ask every point, unless the prediction is not committed as it stands."""
    found = codesign()
    best = found.best.seconds
    values = {name: each.gain for name, each in found.alone.items()} | {
        "product": found.product,
        "joint": found.gain,
        "ratio": found.ratio,
        "greedy_loss": found.loss,
        "settled_loss": found.settled.seconds / best - 1,
    }
    told = {row["id"]: row["value"] for row in forecast["rows"]}
    rows: list[dict[str, Any]] = []
    for name, value in values.items():
        rows.append({"id": name, "value": float(f"{value:.6g}")})
        print(f"{name}: predicted {told[name]:g}, found {value:.4g}")
    return {
        "note": f"{found.best.paid} points; start {found.start}",
        "best": found.best.point,
        "worst_order": found.worst,
        "stuck": len(found.stuck),
        "searches": {
            name: float(f"{each.seconds / best:.6g}")
            for name, each in found.searches.items()
        },
        "rows": rows,
    }


if __name__ == "__main__":
    sys.exit(common.command(__doc__ or "", predict, measure))
