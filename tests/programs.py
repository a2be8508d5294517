"""The programs that a reader edits and runs in a page."""

import inspect
import io
import json
import linecache
import re
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

from _tools import tree

BLOCK = re.compile(r"^:::\{pyrun\}\n(.*?)\n:::$", re.S | re.M)


def programs(page: str) -> list[str]:
    """All of a page, in its order: ``programs("04-kernels/experts")``."""
    path = tree.ROOT / "chapters" / f"{page}.ipynb"
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return BLOCK.findall("\n".join("".join(cell["source"]) for cell in cells))


KERNELS = "from stacklib.pages.kernels.texts import run, tl"


def program(page: str) -> str:
    """The loop of a page that has one; a kernel's text is no loop of the page."""
    (found,) = (text for text in programs(page) if not text.startswith(KERNELS))
    return found


@dataclass(frozen=True)
class loop_of:
    """The one program of a page, or that at a place, read when it is called."""

    page: str
    at: int | None = None

    def __call__(self) -> str:
        return program(self.page) if self.at is None else programs(self.page)[self.at]

    def prints(self, old: str = "", new: str = "") -> str:
        """What it prints, with ``old`` in it written as ``new``."""
        text, said = self(), io.StringIO()
        assert old in text
        with redirect_stdout(said):
            exec(text.replace(old, new) if old else text, {})
        return said.getvalue()


def with_tl(kernel: Callable[..., Any], tl: Any) -> Callable[..., Any]:
    """A kernel of a page with another machine's names for ``tl``."""
    source, file = inspect.getsource(kernel), f"<{kernel.__name__} of {tl.__name__}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    names = {"tl": tl, "__name__": file}
    exec(compile(source, file, "exec"), names)
    return names[kernel.__name__]
