"""What is coming: one small simulator a topic, each with an outcome that can lose."""
"""What is coming, and one token through all layers: the room of the frontier.

``journey("llama-3-70b", "h100-sxm", "bf16", tp=8)`` is the account of a token in time,
joules and dollars, with the gap to what the boards may draw named. ``binding_layer``
moves each input in turn, ``topology_fit`` the network, ``factors`` multiplies gains and
``codesign`` says when they do; ``watch`` is what the models bet on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib import offer

if TYPE_CHECKING:
    from .layout.placing import place
    from .layout.routing import route
    from .layout.rules import rules
    from .layout.supply_grid import ir_drop
    from .layout.timing import timing
    from .binding import binding_layer
    from .factor_tree import factors
    from .fits import topology_fit
    from .hardened import hardening
    from .joint import codesign
    from .watching import watch
    from .waterfall import journey
else:
    __all__, __getattr__, __dir__ = offer(__name__)
