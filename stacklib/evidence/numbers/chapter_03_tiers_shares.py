"""Numbers of section 3.9 that compare two accounts of the joules of a step."""

from __future__ import annotations

from stacklib.memory.ladder import energy
from stacklib.memory.tiers.seen import hbm2_energy
from stacklib.memory.tiers.tier import steps
from stacklib.quantity import Quantity, maximum

from .. import ledger as claims
from .chapter_03_tiers import _claim, _column, _path, _put, _stage, _step


def _off() -> Quantity:
    """The largest factor between the claim and what any account says."""
    said = claims.get("data-movement-power-share").quantity()
    board = _step("board")
    path = board.share(*energy.MOVES)
    wide = board.share(*energy.MOVES, "control")
    return maximum(said / path, wide / said).named("farthest reading")


_put(
    "movement_off",
    _off,
    "Factor between the claimed share and the account farthest from it.",
    digits=2,
)
_put(
    "accounts_ratio",
    lambda: _step("board").total / _step("circuit").total,
    "Energy of a token by the board's account over that by circuits.",
    digits=2,
)
_put(
    "control_over_path",
    lambda: _path("board", "control") / _path("board", *energy.MOVES),
    "Control over data path, A100.",
    digits=2,
    evidence="measured",
)
_put(
    "wire_over_stack",
    lambda: _stage("wires across the die").energy / hbm2_energy(),
    "Energy of the way across the die over that of the stack.",
    unit="%",
    digits=2,
)
_put(
    "step_first",
    lambda: steps(_column("latency"))[0],
    "Latency of HBM over that of shared memory, from an SM.",
    digits=2,
)
_claim("step_latency", "tier-step-latency-10x")
_claim("step_energy", "tier-step-energy-10x")
