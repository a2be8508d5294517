"""A machine of one's own: parts, and a checker that argues.

``Build(gpus=..., cpu=..., ...)`` names the parts, ``read_build`` reads them from TOML;
``verify(build)`` says which rule is broken, with the sum, and what mends it.
``power(card, limit)`` is what a card does under a limit of power, ``heat`` where its
heat goes, ``temperature(build, hours, ambient)`` both, and ``chain(build)`` all links
from the breaker to the token.

``fpga(small_cnn(), "up5k")`` is a network on an FPGA, ``tapeout(cells)`` a design on a
tile of a shared chip and ``checklist(info, verilog)`` what its makers look at;
``realism()`` and ``timeline()`` say what such projects cost and how long they take.
``speed(build, "llama-3-70b:q4_k_m")`` is tokens a second by layers or by tensors,
``plan(5000, ...)`` the fastest machines of a budget, ``read_rig`` the machine that
stands there, and ``diagnose(rig, ...)`` what keeps it slow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib import offer

if TYPE_CHECKING:
    from .ailments import diagnose
    from .breaker import chain, temperature, tokens_per_joule
    from .build import Build, read_build
    from .checker import verify
    from .planning import plan
    from .rig import read_rig
    from .silicon.checklist import checklist
    from .silicon.glyphs import small_cnn
    from .silicon.pipeline import fpga
    from .silicon.realism import realism, timeline
    from .silicon.tapeout import tapeout
    from .splits import speed
    from .thermal import heat
    from .voltage import power
else:
    __all__, __getattr__, __dir__ = offer(__name__)
