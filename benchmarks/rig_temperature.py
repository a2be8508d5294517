"""Eight hours of a machine in a closed room: how long a curve takes, and scipy's.

    python benchmarks/rig_temperature.py   # -> results/rig_temperature.json

``diy.temperature`` steps the chain of heat by an exponential; scipy's ``solve_ivp``
integrates the same balance of watts, written anew here. Where a die meets its limit, an
event ends scipy's first part, and in the second the die stays where it is.
"""

import sys
import time
from typing import Any

import host_common
import host_power

from stacklib.diy import Build, breaker, temperature
from stacklib.roofline.host import measure as host

STEM = "rig_temperature"
ROUNDS = 9
HOURS = 8
CASES = {  # cards, circuits, degrees outside, watts of a card, square metres
    "one card": ("rtx_3090", 1, 22, None, 12),
    "six at 193 W": ("6 x rtx_3090", 1, 22, 193, 12),
    "four, warm": ("4 x rtx_3090", 2, 30, None, 12),
    "four, in a closet": ("4 x rtx_3090", 2, 22, None, 6),
}


def built(name: str) -> tuple[Build, dict[str, Any]]:
    """The machine of a case, and what its curve is asked with."""
    cards, circuits, outside, limit, room = CASES[name]
    build = Build(
        gpus=cards,
        cpu="7960x",
        board="trx50_aero_d",
        memory="renegade_pro_128",
        psu=["evga_1600_p2"] * 2,
        storage="990_pro_4tb",
        case="enthoo_pro_2_server",
        cooling="xe360_tr5",
        circuits=circuits,
    )
    return build, {"ambient": outside, "limit": limit, "room": room}


def by_scipy(
    build: Build, ambient: float, limit: float | None, room: float
) -> list[Any]:
    """Degrees of die, sink, case and room at each time of our curve, by scipy."""
    from scipy.integrate import solve_ivp

    heat, end = breaker, HOURS * 3600.0
    board = sum(float(card["power"]) for card in build.gpus)
    drawn = sum(heat.power(str(card.device), limit).draw for card in build.gpus)
    rest = heat.HOST * float(build.cpu["power"])
    lost = heat.wall(build, drawn + rest) - drawn - rest
    inner, outer = heat.INNER * heat.RISE / board, (1 - heat.INNER) * heat.RISE / board
    across = inner, outer, heat.CASE, heat.ROOM * heat.SQUARE / room
    air = heat.ROOM_AIR * room / heat.SQUARE
    stores = heat.DIE * board, heat.SINK * board, heat.CASE_AIR, air

    def flows(_: float, at: Any, held: bool = False) -> list[float]:
        """Kelvins a second of each part: watts in less watts out, over its store."""
        out = [
            (here - there) / r
            for here, there, r in zip(at, (*at[1:], ambient), across, strict=True)
        ]
        into = (drawn, out[0], out[1] + rest, out[2] + lost)
        each = [(i - o) / c for i, o, c in zip(into, out, stores, strict=True)]
        return [0.0, *each[1:]] if held else each

    def meets(_: float, at: Any) -> float:
        return float(at[0] - heat.LIMIT)

    meets.terminal = True  # type: ignore[attr-defined]
    asked = {"method": "LSODA", "rtol": 1e-9, "atol": 1e-9, "dense_output": True}
    times = temperature(build, HOURS, ambient).times
    first = solve_ivp(flows, (0, end), [ambient] * 4, events=meets, **asked)
    met = first.t[-1]
    found = [first.sol(t) for t in times if t <= met]
    if met < end:
        stays = solve_ivp(flows, (met, end), first.y[:, -1], args=(True,), **asked)
        found += [stays.sol(t) for t in times if t > met]
    return found


def measure() -> dict[str, Any]:
    """Every case: seconds of our curve, its hottest die, kelvins from scipy's."""
    watch, rows = host.Watch(), []
    for name in CASES:
        build, told = built(name)
        times = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            ours = temperature(build, HOURS, **told)
            times.append(time.perf_counter() - began)
        parts = zip(ours.die, ours.sink, ours.case, ours.room, strict=True)
        pairs = zip(parts, by_scipy(build, **told), strict=True)
        off = max(abs(a - b) for pair in pairs for a, b in zip(*pair, strict=True))
        found = {"off_k": off, "held_s": ours.held, "die": max(ours.die)}
        rows.append({"id": name, "times_s": times, **found})
    why = "the peer's curve is the prediction: the same degrees within .2 K"
    power = host_power.told(lambda: [by_scipy(build, **told) for _ in range(4)])
    more = {"rows": rows, "why_no_prediction": why, "host_power": power}
    return host_common.head(STEM, None, watch, **more)


def main() -> int:
    """Measure, show and write."""
    result = measure()
    for row in result["rows"]:
        print(row["id"], min(row["times_s"]), row["off_k"], row["held_s"], row["die"])
    host_common.save(host_common.HERE, STEM, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
