"""What is coming, and one token through all layers: the room of the frontier.

``journey("llama-3-70b", "h100-sxm", "bf16", tp=8)`` is the account of a token in time,
joules and dollars, with the gap to what the boards may draw named. ``binding_layer``
moves each input in turn, ``topology_fit`` the network, ``factors`` multiplies gains and
``codesign`` says when they do; ``watch`` is what the models bet on.

``place("serial_mac")`` puts a netlist on the sites of an FPGA, ``route`` wires it,
``timing`` finds its worst path, ``rules`` reads the netlist back from the layout and
``ir_drop`` solves its supply. ``supply``, ``growth``, ``campus`` and ``respin`` are
what the world can make and what a mistake costs. ``analog_matmul``, ``in_memory``,
``spiking`` and ``asic_break_even`` are four bets on other machines, each an experiment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib import offer

if TYPE_CHECKING:
    from .analog import analog_matmul
    from .asic import asic_break_even
    from .binding import binding_layer
    from .factor_tree import factors
    from .fits import topology_fit
    from .gigawatt import campus
    from .hardened import hardening
    from .in_dram import in_memory
    from .joint import codesign
    from .layout.placing import place
    from .layout.routing import route
    from .layout.rules import rules
    from .layout.supply_grid import ir_drop
    from .layout.timing import timing
    from .projections import growth
    from .respins import respin
    from .spikes import spiking
    from .supplies import supply
    from .watching import watch
    from .waterfall import journey
else:
    __all__, __getattr__, __dir__ = offer(__name__)
