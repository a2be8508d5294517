"""What a token costs, and an engine that makes them: the room of serving.

``account("llama-3-70b", "h100", tp=8)`` gives the lines of one token: what each takes,
what binds it, whose section it is, and which operations it covers. ``.total()`` refuses
lines that count the same twice, ``.missing()`` lists what nobody counts, ``a - b`` is
line by line. ``Engine(tinylm.load(), ...)`` serves many requests at once, and
``.explain(id)`` says where a request's time went. ``simulate("llama-2-7b", "h100-sxm",
poisson(10, 1000))`` lets requests come when they like, and says how long they wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib import offer

if TYPE_CHECKING:
    from .agentic.graph import call_graph
    from .agentic.offload import offload
    from .agentic.session import session
    from .agentic.shares import machine_share
    from .agentic.tails import tail
    from .engine.engine import Engine
    from .estimates.estimate import estimate
    from .layouts.search import search
    from .masks.masks import json_mask, schema_mask
    from .prices.contexts import context_multiplier
    from .prices.explain import explain_price
    from .readings.diagnose import diagnose
    from .readings.read import read_log
    from .simulation.files import trace
    from .simulation.sessions import agents, chat
    from .simulation.simulate import simulate
    from .simulation.traffic import bursty, poisson
    from .tiers.file import FileTier
    from .tiers.host import HostTier
    from .token.account import account
    from .token.lines import Account
else:
    __all__, __getattr__, __dir__ = offer(__name__)
