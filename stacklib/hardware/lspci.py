"""What ``lspci -vv`` says of the links of NVIDIA cards: now, and at most."""

from __future__ import annotations

import re

SPEEDS = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6}  # GT/s: generation
_DEVICE = re.compile(r"^((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.\d) (.+)$")
_CARD = re.compile(r"(?:VGA compatible|3D) controller.*?: (.*NVIDIA.*)")
_STATE = re.compile(r"Speed ([\d.]+) ?GT/s.*?Width x(\d+)")
Link = tuple[int, int]  # generation and lanes


class LspciError(ValueError):
    """Text in which a card or its link is not told; names the line."""


def read_lspci(text: str) -> list[tuple[str, Link, Link]]:
    """Name, link now and link at most of every NVIDIA card in ``lspci -vv``.

    - raises ``LspciError`` for text without a card, or a card without its link
    """
    found: list[tuple[str, Link, Link]] = []
    name, at = "", 0
    seen: dict[str, Link] = {}
    for number, line in [*enumerate(text.splitlines(), 1), (0, "00:00.0 end")]:
        if head := _DEVICE.match(line.strip()):
            if name and {*seen} != {"Cap", "Sta"}:
                says = "tells no LnkCap and LnkSta; run sudo lspci -vv"
                raise LspciError(f"line {at}: {name!r} {says}")
            if name:
                found.append((name, seen["Sta"], seen["Cap"]))
            card = _CARD.search(head[2])
            name, at, seen = (card[1] if card else ""), number, {}
        for which in ("Cap", "Sta") if name else ():
            if f"Lnk{which}:" in line and which not in seen:
                state = _STATE.search(line)
                if not state or float(state[1]) not in SPEEDS:
                    raise LspciError(f"line {number}: {line.strip()!r} tells no link")
                seen[which] = SPEEDS[float(state[1])], int(state[2])
    if not found:
        raise LspciError("no NVIDIA card in it: paste sudo lspci -vv")
    return found
