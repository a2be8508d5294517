"""How numba is told to translate a function and leave the rest to who calls it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import BaseNativeLowering, NativeLowering


class Translated(JITCodeLibrary):
    """Code to link; no machine code is made of it here."""

    def finalize(self) -> None:
        """Join what it calls."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            part = library._get_module_for_linking()
            self._final_module.link_in(part, preserve=True)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Nowhere."""
        return 0

    @property
    def codegen(self) -> Any:
        """Who is told of the function's surroundings: only exceptions need them."""
        return self

    def set_env(self, name: str, env: Any) -> None:
        """Nothing to set."""


class Lowering(BaseNativeLowering):
    """Numba's, into a library of that kind."""

    lowering_class = Lower

    def run_pass(self, state: Any) -> bool:
        """Lower a function."""
        maker = state.targetctx.codegen()
        state.library = Translated(maker, state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


class Marked(Lower):
    """Marks the function, so that it is not copied."""

    def setup_function(self, fndesc: Any) -> None:
        """The function's head."""
        super().setup_function(fndesc)
        self.function.attributes.add("noinline")


@register_pass(mutates_CFG=True, analysis_only=False)
class InnerLowering(Lowering):
    """May be copied."""

    _name = "inner_lowering"


@register_pass(mutates_CFG=True, analysis_only=False)
class ApartLowering(Lowering):
    """Stays apart."""

    _name = "apart_lowering"
    lowering_class = Marked


def _builder(state: Any, lowering: Any) -> list[Any]:
    made = DefaultPassBuilder.define_nopython_pipeline(state)
    made.add_pass_after(lowering, NativeLowering)
    made.passes.remove(next(p for p in made.passes if p[0] is NativeLowering))
    made._finalized = False
    made.finalize()
    return [made]


class InnerCompiler(Compiler):
    """As numba's, but for the end."""

    def define_pipelines(self) -> Any:
        """The passes."""
        return _builder(self.state, InnerLowering)


class ApartCompiler(Compiler):
    """As numba's, but for the end."""

    def define_pipelines(self) -> Any:
        """The passes."""
        return _builder(self.state, ApartLowering)


class Part(CPUDispatcher):
    """A function for compiled callers; Python that calls it runs its source."""

    compiler: Any = InnerCompiler

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        options = {**options, "nopython": True, "no_cpython_wrapper": True}
        super().__init__(function, {}, options, pipeline_class=self.compiler)

    def compile(self, sig: tuple[Any, ...]) -> Any:
        """For any number where a caller gives one that it knows: once, not for each."""
        return super().compile(tuple(map(types.unliteral, sig)))

    def add_overload(self, cres: Any) -> None:
        """Note it for callers that are compiled."""
        self.overloads[tuple(cres.signature.args)] = cres

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        return self.py_func


class Inner(Part):
    """May be copied."""


class Apart(Part):
    """Stays apart."""

    compiler = ApartCompiler
