"""The AI hardware stack, computed: the package under *From Transistor to Token*.

Rooms are imported by name (``from stacklib import hardware, roofline``);
importing the package itself loads none of them.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers read it; `typing` would cost an import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

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
            )
        home = importlib.import_module(homes[name], room)
        value = home if home.__name__ == f"{room}.{name}" else getattr(home, name)
        setattr(sys.modules[room], name, value)
        return value

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[room]), *homes})  # also what is imported later

    return sorted(homes), load, listed


def offered(room: str) -> Iterator[tuple[str, str]]:
    """What a room imports for type checkers from its own modules: (name, module)."""
    import ast
    import inspect
    import sys

    for block in ast.parse(inspect.getsource(sys.modules[room])).body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for line in block.body:
                if isinstance(line, ast.ImportFrom) and line.level == 1:
                    for name in line.names:
                        yield name.name, f".{line.module or name.name}"
