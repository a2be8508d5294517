"""What is coming: one small simulator a topic, each with an outcome that can lose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib import offer

if TYPE_CHECKING:
    from .layout.placing import place
    from .layout.routing import route
    from .layout.rules import rules
    from .layout.supply_grid import ir_drop
    from .layout.timing import timing
else:
    __all__, __getattr__, __dir__ = offer(__name__)
