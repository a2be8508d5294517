"""A machine of one's own: parts, and a checker that argues.

``Build(gpus=..., cpu=..., ...)`` names the parts, ``read_build`` reads them from TOML;
``verify(build)`` says which rule is broken, with the sum, and what mends it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib import offer

if TYPE_CHECKING:
    from .build import Build, read_build
    from .checker import verify
else:
    __all__, __getattr__, __dir__ = offer(__name__)
