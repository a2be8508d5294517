"""Colours by role. The page decides what they are; the drawing only names them.

matplotlib wants a colour, so each role is drawn in a colour nobody else uses and
renamed to its CSS variable afterwards. The fallback serves readers who open the
notebook outside the book: mid-tones that read on light and dark.
"""

from __future__ import annotations

from .spec import SERIES

_FALLBACK = {
    "ink": "currentColor",
    "muted": "#7a828c",
    "grid": "#8886",
    "paper": "transparent",
    "this-machine": "#d9570f",
    "impossible": "#d03b2e",
    "series-0": "#3b7dd0",
    "series-1": "#3f9150",
    "series-2": "#9a63c9",
    "series-3": "#a07d0a",
    "series-4": "#cc4a86",
    "series-5": "#6d8599",
    "layer-1": "#c0562f",
    "layer-2": "#a07416",
    "layer-3": "#668f2a",
    "layer-4": "#1f9186",
    "layer-5": "#4a7fdc",
    "layer-6": "#8b62d0",
    "layer-7": "#c4488d",
    "over": "#ffffff",  # text on a full colour
}
ROLES = tuple(_FALLBACK)


def sentinel(role: str) -> str:
    """The colour that stands for ``role`` until ``to_variables``."""
    return f"#fe01{ROLES.index(role):02x}"


def series(index: int) -> str:
    """Sentinel of the n-th series; colours repeat after six."""
    return sentinel(f"series-{index % SERIES}")


def variable(role: str) -> str:
    """CSS for ``role``."""
    return f"var(--st-{role}, {_FALLBACK[role]})"


def to_variables(svg: str) -> str:
    """Replace every sentinel by its CSS variable."""
    for role in ROLES:
        svg = svg.replace(sentinel(role), variable(role))
    return svg
