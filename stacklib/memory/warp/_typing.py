"""Numba asked once what a call gives, while it compiles a loop.

Each time that two integers are added it looks through dozens of implementations of
``+``, and again in each round of its inference: a third of the time that the loop of
the simulated GPU takes to compile. The answer hangs on the types alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import types as numba_types
from numba.core.compiler_lock import global_compiler_lock

__all__ = ["remembered"]

types: Any = numba_types
PLAIN = (types.Number, types.Boolean, types.Array, types.BaseTuple)


@contextmanager
def remembered() -> Iterator[None]:
    """While this lasts, a function of plain types is looked up once."""
    functions = types.functions.BaseFunction
    known: dict[Any, Any] = {}

    def told(self: Any, context: Any, args: tuple[Any, ...], kws: Any) -> Any:
        plain = isinstance(self, types.Function) and not kws
        if not plain or not all(isinstance(one, PLAIN) for one in args):
            return ask(self, context, args, kws)
        key = context, self.typing_key, args
        if key not in known:
            found = ask(self, context, args, kws)
            if found is None:
                return None
            known[key] = found, self.get_impl_key(found)
        found, chosen = known[key]
        self._impl_keys[found.args] = chosen  # where lowering looks
        return found

    with global_compiler_lock:  # who comes meanwhile waits, and finds it undone
        ask = functions.get_call_type
        functions.get_call_type = told
        try:
            yield
        finally:
            functions.get_call_type = ask
