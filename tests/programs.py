"""The programs that a reader edits and runs in a page."""

import json
import re
from collections.abc import Callable
from functools import partial

from _tools import tree

BLOCK = re.compile(r"^:::\{pyrun\}\n(.*?)\n:::$", re.S | re.M)


def programs(page: str) -> list[str]:
    """All of a page, in its order: ``programs("04-kernels/experts")``."""
    path = tree.ROOT / "chapters" / f"{page}.ipynb"
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return BLOCK.findall("\n".join("".join(cell["source"]) for cell in cells))


def program(page: str) -> str:
    """The one of a page that has one."""
    (found,) = programs(page)
    return found


def loop_of(page: str) -> Callable[[], str]:
    """Reads `page`'s when it is called."""
    return partial(program, page)
