"""The AI hardware stack, computed: the package under *From Transistor to Token*.

Rooms are imported by name (``from stacklib import hardware, roofline``), or found
where they are used (``stacklib.hardware.get("h100")``); importing the package itself
loads none of them.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers read it; `typing` would cost an import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from . import (
        accelerators,
        cli,
        cost,
        diy,
        evidence,
        frontier,
        gpu,
        grading,
        hardware,
        interconnect,
        kernels,
        memory,
        models,
        paged_kv,
        pages,
        plots,
        quantity,
        quantizers,
        roofline,
        serving,
        sweep,
        tinylm,
    )

__version__ = "0.1.0"


def offer(
    room: str,
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """``__all__``, ``__getattr__``, ``__dir__`` of a room that loads what is asked for.

    What a room offers stands once, in the imports under its ``if TYPE_CHECKING:``. Type
    checkers read them there; here each becomes an import on first use, so that a room
    costs no more than what is used of it, and no NumPy where none is needed.
    """
    import importlib
    import sys

    homes = dict(offered(room))

    def load(name: str) -> Any:
        if name not in homes:
            known = ", ".join(sorted(homes))
            raise AttributeError(
                f"{room} offers no {name!r} but {known}; the rest is in its modules"
                f"{_nearest(name, homes)}"
            )
        home = importlib.import_module(homes[name], room)
        value = home if home.__name__ == f"{room}.{name}" else getattr(home, name)
        setattr(sys.modules[room], name, value)
        return value

    return sorted(homes), load, lambda: sorted(homes)


def offered(room: str) -> Iterator[tuple[str, str]]:
    """What a room imports for type checkers from its own modules: (name, module)."""
    import ast
    import sys

    module = sys.modules[room]
    source = module.__spec__.loader.get_source(room)  # type: ignore[union-attr]
    for block in ast.parse(source).body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for line in block.body:
                if isinstance(line, ast.ImportFrom) and line.level == 1:
                    for name in line.names:
                        yield name.name, f".{line.module or name.name}"


def _nearest(name: str, known: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {near[0]}?" if near else ""


def __getattr__(name: str) -> Any:
    if name.startswith("_"):  # what tools ask any module for
        raise AttributeError(f"stacklib has no {name!r}")
    return offer(__name__)[1](name)


def __dir__() -> list[str]:
    return offer(__name__)[2]()
