"""Live figures: ``plots.live(...)`` shows one, its modules hold menus and sliders.

``stacklib.plots.live`` is both the package of what live figures share in the reader's
browser and what a notebook calls. What one of them draws stands with its page. To
import either needs the standard library only.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A package that can be called: importing a submodule binds the package's
    name in ``stacklib.plots``, where the call has to be found too."""

    def __call__(self, **arguments: Any) -> Any:
        from .show import show  # draws the static figure: needs matplotlib

        return show(**arguments)


sys.modules[__name__].__class__ = _Callable
