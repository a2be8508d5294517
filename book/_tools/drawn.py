"""Every drawing of the book: the finished ones and those of single pages.

`python -m _tools.drawn` writes them as a contact sheet, `_build/drawings.html`, each in
both layouts, with its alternative text.
"""

import html
import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from _tools import tree
from stacklib import pages
from stacklib.plots import drawing
from stacklib.plots.drawing import scenes

DEVICE = "h100-sxm"
STYLES = tree.ROOT / "book" / "_static"
CARD = """<section><h2>{module}</h2>{drawing}
<p>{alt}</p></section>
"""
SHEET = """<!doctype html><html data-theme="light"><meta charset="utf-8">
<title>Drawings</title><style>{styles}
body {{ margin: 2rem; background: var(--st-paper); color: var(--st-ink); }}
main {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(44rem, 1fr)); }}
main {{ gap: 2rem; }} section {{ max-width: 44rem; }} section p {{ font-size: 0.8rem; }}
</style><main class="bd-article">{cards}</main></html>
"""


def modules() -> Iterator[str]:
    """Modules of pages that hold drawings: ``drawings``, ``drawings_x``."""
    prefix = f"{pages.__name__}."
    for found in pkgutil.walk_packages(pages.__path__, prefix):
        if found.name.rpartition(".")[2].startswith("drawings"):
            yield found.name


def drawings() -> Iterator[tuple[str, Callable[[], drawing.Drawing]]]:
    """Each with the name it is called by: module and function."""
    for name in scenes.__all__:
        yield f"scenes.{name}", partial(getattr(scenes, name), DEVICE)
    for module in modules():
        made = importlib.import_module(module)
        for name in made.__all__:
            short = module.removeprefix(f"{pages.__name__}.")
            yield f"{short}.{name}", getattr(made, name)


def card(name: str, made: drawing.Drawing) -> str:
    """One of them with its name and its alternative text."""
    return CARD.format(module=name, drawing=made.html, alt=html.escape(made.alt))


def sheet() -> str:
    """The contact sheet."""
    styles = "\n".join(p.read_text("utf-8") for p in sorted(STYLES.glob("*.css")))
    cards = [card(name, make()) for name, make in drawings()]
    return SHEET.format(styles=styles, cards="".join(cards))


def main(path: Path = tree.ROOT / "_build" / "drawings.html") -> int:
    """Write it."""
    path.parent.mkdir(exist_ok=True)
    text = sheet()
    path.write_text(text, "utf-8")
    print(f"{text.count('<section>')} drawings: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
