"""The icons that the pages show, as one small font cut from the theme's.

The theme loads a script that draws every icon there is, 1.5 MB, and holds the same as
fonts. Its style sheet names the glyphs; ``icons.css`` puts this font before them.
"""

import re
from pathlib import Path
from typing import Any

import pydata_sphinx_theme
from fontTools import subset
from sphinx.application import Sphinx

THEME = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme"
STYLE = THEME / "static" / "styles" / "pydata-sphinx-theme.css"
WHOLE = THEME / "static" / "vendor" / "fontawesome" / "webfonts" / "fa-solid-900.ttf"
# What the theme's templates put on a page; its boxes name theirs as variables.
SHOWN = (
    "angle-left angle-right arrow-up bars chevron-down circle-half-stroke download "
    "expand file file-pdf list magnifying-glass moon sun"
).split()
BOXES = re.compile(r'--pst-icon-[\w-]+:"(?:\\([0-9a-f]+)|(.))"')


def codes(style: str, names: list[str] = SHOWN) -> set[int]:
    """Code points of the icons called `names`, and of those in variables."""
    found = {int(code, 16) if code else ord(c) for code, c in BOXES.findall(style)}
    for name in names:
        rule = re.search(rf'\.fa-{name}:before(?:,[^{{]*)?{{content:"([^"]+)"', style)
        if rule is None:
            raise ValueError(f"the theme has no icon {name!r}")
        found.add(int(rule[1][1:], 16) if rule[1][0] == "\\" else ord(rule[1]))
    return found


def cut(goal: Path) -> None:
    """Write the font of our icons to `goal`."""
    options = subset.Options(flavor="woff", layout_features=[], notdef_outline=True)
    font = subset.load_font(str(WHOLE), options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=codes(STYLE.read_text(encoding="utf-8")))
    cutter.subset(font)
    goal.parent.mkdir(parents=True, exist_ok=True)
    subset.save_font(font, str(goal), options)


def write(app: Sphinx, error: Exception | None) -> None:
    """Put the font beside ``icons.css``, once."""
    goal = Path(app.outdir) / "_static" / "icons.woff"
    if error is None and app.builder.format == "html" and not goal.exists():
        cut(goal)


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the font when the book was built."""
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True}
