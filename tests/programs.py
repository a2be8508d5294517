"""The programs that a reader edits and runs in a page."""

import io
import json
import re
from contextlib import redirect_stdout
from dataclasses import dataclass

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


@dataclass(frozen=True)
class loop_of:
    """The one program of a page, read when it is called."""

    page: str

    def __call__(self) -> str:
        return program(self.page)

    def prints(self, old: str = "", new: str = "") -> str:
        """What it prints, with ``old`` in it written as ``new``."""
        text, said = self(), io.StringIO()
        assert old in text
        with redirect_stdout(said):
            exec(text.replace(old, new) if old else text, {})
        return said.getvalue()
