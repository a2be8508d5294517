"""Functions that numba compiles and never copies into their callers.

The machine's loop calls dozens of functions; copied into it, they would make one whose
compiling takes two minutes. Called, the whole takes seconds and runs as fast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stacklib.memory.warp._fast import compiled

__all__ = ["apart", "inner"]


def inner(function: Callable[..., Any]) -> Any:
    """A part of the machine: compiled where numba is there."""
    return _jitted(function)


def apart(function: Callable[..., Any]) -> Any:
    """A part that stays a function of its own."""
    if not compiled():
        return function
    return _jitted(function, pipeline_class=_pipeline())


def _jitted(function: Callable[..., Any], **options: Any) -> Any:
    if not compiled():
        return function
    import numba

    return numba.njit(
        cache=True, error_model="numpy", no_cfunc_wrapper=True, _nrt=False, **options
    )(function)


_MADE: list[Any] = []


def _pipeline() -> Any:
    """Numba's way of compiling, with a mark on the function that it is not copied."""
    if _MADE:
        return _MADE[0]
    from numba.core.compiler import Compiler, DefaultPassBuilder
    from numba.core.compiler_machinery import register_pass
    from numba.core.lowering import Lower
    from numba.core.typed_passes import BaseNativeLowering, NativeLowering

    class Marked(Lower):  # type: ignore[misc]
        def setup_function(self, fndesc: Any) -> None:
            super().setup_function(fndesc)
            self.function.attributes.add("noinline")

    @register_pass(mutates_CFG=True, analysis_only=False)
    class MarkedLowering(BaseNativeLowering):  # type: ignore[misc]
        _name = "marked_lowering"

        @property
        def lowering_class(self) -> Any:
            return Marked

    class Apart(Compiler):  # type: ignore[misc]
        def define_pipelines(self) -> Any:
            made = DefaultPassBuilder.define_nopython_pipeline(self.state)
            made.add_pass_after(MarkedLowering, NativeLowering)
            made.passes.remove(next(p for p in made.passes if p[0] is NativeLowering))
            made._finalized = False
            made.finalize()
            return [made]

    _MADE.append(Apart)
    return Apart
