"""``figure``: a spec as a figure of the book."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stacklib.evidence import guard

from .draw import draw
from .spec import SpecError, check, check_name, digest, guard_entry
from .svg import both, tidy


@dataclass(frozen=True)
class Figure:
    """A drawn figure; notebooks show it by its HTML.

    Attributes
    ----------
    name, alt, title, digest : str
        Anchor, text alternative, caption, digest of the plotted data.
    svg : str
        Inline SVG, colours as CSS variables.
    entry : dict
        What the guard knows of it.
    """

    name: str
    alt: str
    title: str
    digest: str
    svg: str = field(repr=False)
    entry: dict[str, Any] = field(repr=False)

    @property
    def html(self) -> str:
        """The figure with its caption."""
        return (
            f'<figure class="st-figure" id="fig-{self.name}" '
            f'data-digest="{self.digest}">\n{self.svg}\n'
            f"<figcaption>{html.escape(self.title)}</figcaption></figure>"
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {
            "text/plain": f"figure {self.name}: {self.digest}",
            "text/html": self.html,
            guard.MIME: self.entry,
        }


def _with_devices(spec: Mapping[str, Any], devices: Sequence[str]) -> dict[str, Any]:
    """Marks that name no device take the only one; with several each must."""
    marks = [dict(mark) for mark in spec["marks"]]
    for mark in marks if devices else ():
        if len(devices) == 1:
            mark.setdefault("device", devices[0])
        known = mark.get("device") in devices
        if mark["kind"] in ("line", "bar", "dots") and not known:
            raise SpecError(
                f"mark {mark['name']!r}: device {mark.get('device')!r} is not one of "
                f"the figure's devices {list(devices)}"
            )
    return {**spec, "marks": marks}


def figure(
    spec: Mapping[str, Any],
    *,
    name: str,
    alt: str,
    devices: Sequence[str] = (),
) -> Figure:
    """Draw a spec and register it with the guard.

    Parameters
    ----------
    spec : dict
        See ``stacklib.plots.spec``.
    name : str
        Anchor, ``fig-<name>`` on the page; unique on it.
    alt : str
        Text alternative: what the figure shows, for those who cannot see it.
    devices : sequence of str
        Keys of the devices shown. One binds every mark; with several each line
        and each row of dots names its own.

    Raises
    ------
    SpecError
        For a spec outside the grammar, a bad name, or an empty ``alt``.
    """
    check_name(name)
    if not alt.strip():
        raise SpecError(f"figure {name!r} needs an alt text")
    check(spec)
    spec = _with_devices(spec, devices)
    entry = guard_entry(spec, name)
    guard.register(entry)
    layouts = [
        tidy(draw(spec, of, of != name), of, alt) for of in (name, f"{name}-phone")
    ]
    svg = both(*layouts)
    return Figure(name, alt, spec["title"], digest(spec), svg, entry)
