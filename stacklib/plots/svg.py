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


def tidy(svg: str, name: str, alt: str) -> str:
    """Inline SVG for a page."""
    for pattern in (_HEAD, *_DROP):
        svg = pattern.sub("", svg)
    svg = _FONT.sub(_font, _halo(svg))
    svg = theme.to_variables(_ids(svg, name))
    svg = re.sub(r"\n\s*", "\n", svg).strip()
    # Wider than this its words would be larger than the page's.
    root = (
        f'<svg role="img" aria-label="{html.escape(alt)}" '
        'style="width: 100%; max-width: 30rem; height: auto; '
        'stroke-linejoin: round; stroke-linecap: butt"'
    )
    return svg.replace("<svg", root, 1)
