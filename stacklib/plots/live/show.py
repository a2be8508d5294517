"""The HTML of a live figure: controls as data, and a static figure until then."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stacklib.evidence import guard

from ..figures import Figure, figure
from .controls import Control, check_controls, keyboard_test, resolve


@dataclass(frozen=True)
class Live:
    """A live figure; notebooks show it by its HTML."""

    name: str
    call: str
    controls: list[Control] = field(repr=False)
    test: dict[str, Any] = field(repr=False)
    spec: dict[str, Any] = field(repr=False)
    static: Figure = field(repr=False)
    share: bool = False

    @property
    def html(self) -> str:
        """Controls as JSON, then the figure and readouts of the start values."""
        test = html.escape(_json(self.test))
        shared = ' data-share=""' if self.share else ""
        return (
            f'<div class="st-live" id="live-{self.name}" data-call="{self.call}" '
            f'data-test="{test}"{shared}>\n'
            f'<script type="application/json" class="st-live-controls">'
            f"{_json(self.controls)}</script>\n"
            f'<div class="st-live-static">\n{self.static.html}\n'
            f"{_readouts(self.spec)}{_table(self.spec)}</div>\n</div>"
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {
            "text/plain": f"live figure {self.name}: {self.static.digest}",
            "text/html": self.html,
            guard.MIME: self.static.entry,
        }


def _json(value: Any) -> str:
    """JSON that cannot close the script element it stands in."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True).replace("</", "<\\/")


def _readouts(spec: Mapping[str, Any]) -> str:
    rows = "".join(
        f'<div class="st-readout"><dt>{html.escape(r["label"])}</dt>'
        f"<dd>{html.escape(r['text'])}</dd></div>"
        for r in spec["readouts"]
    )
    message = html.escape(spec.get("message") or "")
    note = f'<p class="st-live-message">{message}</p>\n' if message else ""
    return f'{note}<dl class="st-live-readouts">{rows}</dl>\n'


def _table(spec: Mapping[str, Any]) -> str:
    """The table under the figure, where the spec has one."""
    given = spec.get("table")
    if not given:
        return ""
    heads = "".join(f'<th scope="col">{html.escape(w)}</th>' for w in given["head"])
    rows = "\n".join(map(_row, given["rows"]))
    caption = html.escape(given["caption"])
    return (
        f'<div class="st-live-table" role="region" tabindex="0" aria-label="{caption}">'
        f"<table><caption>{caption}</caption><thead><tr>{heads}</tr></thead>\n"
        f"<tbody>{rows}</tbody></table></div>\n"
    )


def _row(row: Mapping[str, Any]) -> str:
    head, cells = html.escape(row["head"]), "".join(map(_cell, row["cells"]))
    return f'<tr><th scope="row">{head}</th>{cells}</tr>'


def _cell(cell: Mapping[str, Any]) -> str:
    note = cell.get("note")
    text = html.escape(cell["text"])
    more = f'<span class="st-note">{html.escape(note)}</span>' if note else ""
    return f"<td>{text}{more}</td>"


def show(
    *, call: str, controls: Sequence[Control], name: str, alt: str, share: bool = False
) -> Live:
    """A live figure from a function that returns a spec."""
    function = resolve(call)
    check_controls(controls, function)
    spec = function(**{control["name"]: control["value"] for control in controls})
    test = keyboard_test(controls, function)
    static = figure(spec, name=name, alt=alt)
    return Live(name, call, list(controls), test, spec, static, share)
