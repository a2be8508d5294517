"""From matplotlib's SVG file to inline SVG: small, themed, safe beside others."""

from __future__ import annotations

import html
import re

from . import theme

_HEAD = re.compile(r"^.*?(?=<svg)", re.S)
_DROP = (
    re.compile(r"\s*<metadata>.*?</metadata>", re.S),
    re.compile(r"\s*<style[^>]*>.*?</style>", re.S),  # `*` would style the page
    re.compile(r"<!--.*?-->", re.S),
    re.compile(r"\s*<defs>\s*</defs>|\s*<g/>"),
    re.compile(r' transform="rotate\(-0 [^)]*\)"'),
    re.compile(r' (?:width|height)="[\d.]+pt"'),
    re.compile(r' xmlns:xlink="[^"]*"| version="1\.1"'),
)
_FONT = re.compile(r"(?:font: |font-family: )[^;\"]*")
_HALO = (
    "paint-order: stroke; stroke: {paper}; stroke-width: 4px; stroke-linejoin: round; "
)


_DRAWN = re.compile(r'(?<= )d="[^"]*"')
_PIECE = re.compile(r"([MLQCz])([^MLQCz]*)")
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
PAGE = "43rem"  # a figure's width at most: that of a page's text


def _font(match: re.Match[str]) -> str:
    size = re.search(r"(?:(?:bold|[5-9]00) )?[\d.]+px", match[0])
    family = "var(--st-sans, system-ui, sans-serif)"
    return f"font: {size[0]} {family}" if size else f"font-family: {family}"


def _ids(svg: str, name: str) -> str:
    """Prefix ids that are referred to; drop the rest."""
    used = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', svg))
    wanted = {part for pair in used for part in pair if part}

    def one(match: re.Match[str]) -> str:
        return f' id="{name}-{match[1]}"' if match[1] in wanted else ""

    svg = re.sub(r' id="([^"]+)"', one, svg)
    svg = re.sub(r"url\(#", f"url(#{name}-", svg)
    return re.sub(r'(?:xlink:)?href="#', f'href="#{name}-', svg)


def _halo(svg: str) -> str:
    """Text over lines gets an outline in the colour of the paper."""
    style = _HALO.format(paper=theme.variable("paper"))
    pattern = r'(<g id="st-label-[^"]*">\s*<text style=")'
    return re.sub(pattern, lambda m: m[1] + style, svg)


def _small(drawn: re.Match[str]) -> str:
    """A path in steps of a tenth of a point, each from where the last one ended."""
    at, found = (0, 0), []
    for kind, numbers in _PIECE.findall(drawn[0][3:-1]):
        tenths = [round(float(n) * 10) for n in numbers.split()]
        ends = list(zip(tenths[::2], tenths[1::2], strict=True))
        steps = [(x - at[0], y - at[1]) for x, y in ends]
        at = ends[-1] if ends else at
        if kind == "M":
            found.append("M" + _joined(tenths))
        elif kind == "L" and 0 in steps[0]:
            (x, y) = steps[0]
            found.append(f"h{x / 10:g}" if y == 0 else f"v{y / 10:g}")
        elif kind == "z":
            found.append("z")
        else:
            found.append(kind.lower() + _joined([n for step in steps for n in step]))
    return f'd="{"".join(found)}"'


def _joined(tenths: list[int]) -> str:
    """Numbers beside each other, without what a browser does not need."""
    told = " ".join(f"{n / 10:g}" for n in tenths)
    return re.sub(r"(?<!\d)0(?=\.)", "", told).replace(" -", "-")


def tidy(svg: str, name: str, alt: str) -> str:
    """Inline SVG for a page."""
    for pattern in (_HEAD, *_DROP):
        svg = pattern.sub("", svg)
    svg = _DRAWN.sub(_small, svg)
    svg = _FONT.sub(_font, _halo(svg))
    svg = theme.to_variables(_ids(svg, name))
    svg = re.sub(r"\n\s*", "\n", svg).strip()
    root = (
        f'<svg role="img" aria-label="{html.escape(alt)}" '
        f'style="width: 100%; max-width: {PAGE}; height: auto; '
        'stroke-linejoin: round; stroke-linecap: butt"'
    )
    return svg.replace("<svg", root, 1)


def both(wide: str, phone: str) -> str:
    """Two layouts in one image; the page shows the one that fits, others the wide one.

    The phone's is as wide as the image and stands in its middle. Where it is shown the
    page makes the image as high as it (``figures.css``).
    """
    (w, h), (pw, ph) = (map(float, _SIZE.search(svg).groups()) for svg in (wide, phone))  # type: ignore[union-attr]
    scale = w / pw
    moved = f"translate(0 {(h - ph * scale) / 2:.1f}) scale({scale:.4f})"
    inner = [svg[svg.index(">") + 1 : -len("</svg>")] for svg in (wide, phone)]
    head = wide[: wide.index(">") + 1].replace(" style=", ' data-phone="" style=', 1)
    hidden = f'<g class="st-chart-phone" display="none" transform="{moved}">'
    return f'{head}<g class="st-chart-wide">{inner[0]}</g>{hidden}{inner[1]}</g></svg>'
