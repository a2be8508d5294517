"""``draw``: a scene as a drawing of the book, in a wide layout and one for a phone."""

from __future__ import annotations

import hashlib
import html
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import cached_property
from typing import Any

from stacklib.evidence import guard
from stacklib.quantity.runs import counts, ran
from stacklib.quantity.say import MIME, Said, Saying

from ..spec import SpecError, check_name
from . import ink
from .edges import draw_edges
from .geometry import Rect
from .marks import draw_leaders
from .nodes import Node
from .sheet import Sheet
from .words import Shown

WIDTH = {False: 680.0, True: 336.0}  # of the canvases: text is 11 px on any phone
MARGIN = 5.0
FRAMES = 6  # at most: a reader steps through them by hand
FINE, OFF = 2, 0.07  # parts of a point that a digest tells apart; of such a part
KINDS = {False: "wide", True: "phone"}


@dataclass(frozen=True)
class Drawing:
    """A finished drawing; notebooks show it by its HTML."""

    name: str  # anchor ``fig-<name>``
    title: str  # the sentence it says
    # Words of each step and its two sheets (wide, phone); one where nothing steps.
    frames: tuple[tuple[str, tuple[Sheet, Sheet]], ...] = field(repr=False)
    devices: tuple[str, ...] = ()  # keys of what is drawn, for the guard

    @cached_property
    def numbers(self) -> dict[str, Shown]:
        """Its quantities by the names they open by, in reading order."""
        found: dict[str, Shown] = {}
        for shown in _shown(self.frames):
            found.setdefault(self._called(found, shown), shown)
        return found

    def _called(self, found: Mapping[str, Shown], shown: Shown) -> str:
        """``machine.memory_bandwidth``; a number where another is called so."""
        words = re.findall(r"[a-z0-9]+", shown.quantity.label.lower())
        name = f"{self.name.replace('-', '_')}.{'_'.join(words[:8])}"
        for tail in ("", *(f"_{i}" for i in range(2, 100))):
            if found.get(name + tail, shown).key == shown.key:
                return name + tail
        raise SpecError(f"drawing {self.name!r}: a hundred numbers are called {name}")

    @cached_property
    def alt(self) -> str:
        """What it shows, in words: every part and every arrow."""
        sheet = self.frames[0][1][0]
        counts = Counter(": ".join(dict.fromkeys(filter(None, t))) for t in sheet.told)
        parts = "; ".join(f"{n} of {t}" if n > 1 else t for t, n in counts.items())
        told = Counter(
            ", ".join(filter(None, (_way(a, b), words))) for a, b, words in sheet.arrows
        )
        arrows = "; ".join(f"{n} of {t}" if n > 1 else t for t, n in told.items())
        steps = "; ".join(filter(None, (words for words, _ in self.frames)))
        said = {"Parts": parts, "Arrows": arrows, "Steps": steps}
        all_of_it = " ".join(f"{head}: {text}." for head, text in said.items() if text)
        return f"{self.title.rstrip('.')}. {all_of_it}"

    @cached_property
    def digest(self) -> str:
        """Twelve hex digits that change when anything does that a reader sees.

        Parts, arrows, words and numbers; shapes and texts of both layouts, with their
        look, to half a point. Of a number that a run made only that it is there: the
        guard's row has it.
        """
        told = [
            [words, wide.told, wide.arrows, [t.line.text for t in wide.texts]]
            for words, (wide, _) in self.frames
        ]
        looks = [list(map(_seen, sheets)) for _, sheets in self.frames]
        shown = self.numbers.items()
        made = {
            name: s
            for name, s in shown
            if ran(s.quantity) and not counts(s.quantity.value)
        }
        values = [[n, "" if n in made else f"{s.quantity.si:.6g}"] for n, s in shown]
        text = json.dumps([told, values])
        for name, one in made.items():
            text = text.replace(json.dumps(one.text)[1:-1], name)
        text += json.dumps(looks)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def svg(self, narrow: bool = False, frame: int = 0) -> str:
        """One layout of one step, inline SVG with colours as CSS variables."""
        sheet = self.frames[frame][1][narrow]
        called = {shown.key: name for name, shown in self.numbers.items()}
        names = [[called[s.key] for s in t.line.quantities()] for t in sheet.texts]
        size = (WIDTH[narrow], height(sheet))
        name = f"{self.name}-{KINDS[narrow]}-{frame}"
        # Of several steps the first tells the parts; the others what they are.
        alt = f"{self.title} Step: {self.frames[frame][0]}." if frame else self.alt
        drawn = ink.draw(sheet, size, name, names)
        return ink.finish(drawn, name, alt, WIDTH[narrow])

    @property
    def html(self) -> str:
        """Title, steps, both layouts; the page shows the one that fits."""
        steps = "".join(map(self._step, range(len(self.frames))))
        return (
            f'<figure class="st-figure st-drawing" id="fig-{self.name}" '
            f'data-digest="{self.digest}">\n'
            f"<figcaption>{html.escape(self.title)}</figcaption>\n"
            f"{self._switches()}{steps}</figure>"
        )

    def _switches(self) -> str:
        """A button a step; the page needs no script for them."""
        if len(self.frames) == 1:
            return ""
        one = (
            '<input type="radio" name="{0}-step" id="{0}-step-{1}"{2}>'
            '<label for="{0}-step-{1}">{3}</label>\n'
        )
        return "".join(
            one.format(self.name, at, "" if at else " checked", html.escape(words))
            for at, (words, _) in enumerate(self.frames)
        )

    def _step(self, at: int) -> str:
        """Where styles are not the book's, a step stands under its words, wide."""
        return (
            f'<div class="st-step">\n<div class="st-drawn-wide">{self.svg(False, at)}'
            '</div>\n<div class="st-drawn-phone" style="display: none">'
            f"{self.svg(True, at)}</div></div>\n"
        )

    @property
    def entry(self) -> dict[str, Any]:
        """What the guard knows of it: every number."""
        device = self.devices[0] if len(self.devices) == 1 else None
        rows = [_row(name, s, device) for name, s in self.numbers.items()]
        return guard.entry("figure", self.name, rows)

    @property
    def said(self) -> Saying:
        """Its numbers as the text has them: from any page, by name."""
        return Saying(
            {
                name: Said(s.quantity, _sentence(s.quantity.label), s.unit, _digits(s))
                for name, s in self.numbers.items()
            }
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {
            "text/plain": f"drawing {self.name}: {self.digest}",
            "text/html": self.html,
            guard.MIME: self.entry,
            MIME: self.said.stored(),
        }


def _seen(sheet: Sheet) -> list[Any]:
    """How and where everything on a sheet is inked, in its order."""
    shapes = [
        [*astuple(s.look), [list(map(_near, rect)) for rect in s.rects]]
        + [[list(map(_near, point)) for point in line] for line in s.lines]
        for s in sheet.shapes
    ]
    texts = [
        [*map(_near, t.at), t.size, t.align, bool(t.line.bold), t.line.role]
        for t in sheet.texts
    ]
    return [shapes, texts]


def _near(length: float) -> int:
    """A length in halves of a point. What lies on halves or thirds of those, as middles
    do, is far from where it would turn: another processor's last digit moves none.
    """
    return math.floor(FINE * length + OFF)


def _way(start: str, end: str) -> str:
    """From where to where, in words: cells of an array are not told one by one."""
    ends = filter(None, (start, end))
    return " to ".join(re.sub(r"\[\d+\]$", "", name) for name in ends)


def _digits(shown: Shown) -> int:
    """As many as are printed: a count is whole."""
    return (
        15
        if shown.text != shown.quantity.text(shown.unit, shown.digits)
        else (shown.digits)
    )


def _row(name: str, shown: Shown, device: str | None) -> dict[str, Any]:
    role = "spec" if shown.quantity.kind in ("spec", "claimed") else ""
    cell = guard.cell(shown.quantity, role=role)
    values = {shown.quantity.label: cell}
    run = [shown.quantity.label] if ran(shown.quantity) else []
    of, level, chips = guard.records(shown.quantity), shown.level, shown.chips
    guard.refuse_other(f"drawing, {name!r}", device, of)
    return guard.row(
        name, values, device=device, level=level, chips=chips, of=of, run=run
    )


def _sentence(label: str) -> str:
    return label[:1].upper() + label[1:]


def _shown(
    frames: Sequence[tuple[str, tuple[Sheet, Sheet]]],
) -> Iterator[Shown]:
    for _, sheets in frames:
        for sheet in sheets:
            for text in sheet.texts:
                yield from text.line.quantities()


def height(sheet: Sheet) -> float:
    """Points down to the last part, text or line."""
    boxes = [*sheet.parts.values(), *(text.box for text in sheet.texts)]
    boxes += [stroke.box for stroke in sheet.strokes]
    return float(round(max(box.foot for box in boxes) + MARGIN))


def lay_out(scene: Node, narrow: bool) -> Sheet:
    """A scene on a sheet, as wide as its canvas."""
    sheet, (_, high) = Sheet(narrow), scene.size(narrow)
    scene.put(sheet, Rect(MARGIN, MARGIN, WIDTH[narrow] - 2 * MARGIN, high), ())
    draw_leaders(sheet)
    draw_edges(sheet, WIDTH[narrow])
    return sheet


def _checked(name: str, scene: Node, narrow: bool) -> Sheet:
    sheet = lay_out(scene, narrow)
    frame = Rect(0.0, 0.0, WIDTH[narrow], height(sheet))
    if wrong := sheet.faults(frame):
        raise SpecError(f"drawing {name!r}, {KINDS[narrow]}: {'; '.join(wrong[:4])}")
    return sheet


def draw(
    scene: Node | Sequence[tuple[str, Node]],
    *,
    name: str,
    title: str,
    devices: Sequence[str] = (),
) -> Drawing:
    """Lay a scene out twice and register its numbers with the guard.

    ``scene`` is what is drawn, or steps, six at most, each with the words of its
    button. ``name`` is the anchor, ``fig-<name>``, and the first half of its numbers'
    names: unique in the book. ``title`` is a sentence saying what it shows. Parts or
    words that lie on one another or are cut, on either canvas, are a SpecError.
    """
    check_name(name)
    steps = [("", scene)] if isinstance(scene, Node) else list(scene)
    if not title.strip() or not 0 < len(steps) <= FRAMES:
        raise SpecError(f"drawing {name!r}: a title, and one to {FRAMES} steps")
    frames = tuple(
        (words, (_checked(name, node, False), _checked(name, node, True)))
        for words, node in steps
    )
    made = Drawing(name, title, frames, tuple(devices))
    guard.register(made.entry)
    return made
