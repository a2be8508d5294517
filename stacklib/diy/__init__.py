"""A machine of one's own: parts, and a checker that argues.

``Build(gpus=..., cpu=..., ...)`` names the parts, ``read_build`` reads them from TOML;
``verify(build)`` says which rule is broken, with the sum, and what mends it.
``power(card, limit)`` is what a card does under a limit of power, ``heat`` where its
heat goes, ``temperature(build, hours, ambient)`` both, and ``chain(build)`` all links
from the breaker to the token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib import offer

if TYPE_CHECKING:
    from .breaker import chain, temperature, tokens_per_joule
    from .build import Build, read_build
    from .checker import verify
    from .thermal import heat
    from .voltage import power
else:
    __all__, __getattr__, __dir__ = offer(__name__)
