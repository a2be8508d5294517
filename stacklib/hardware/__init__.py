"""Devices, every field with its source.

``get("h100-sxm")`` finds a device by name, ``names()`` lists them. Fields are
quantities: ``get("h100").memory_bandwidth``. What is not known raises when
asked for and is never a guess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib import offer

if TYPE_CHECKING:
    from .accelerator import Accelerator, UnknownSpec
    from .devices import THIS_MACHINE, get, names
    from .errors import ErrorBand, error_band
    from .factors import efficiency, efficiency_override, efficiency_quantity
    from .level_table import level, levels
    from .links import link, link_names
    from .load import SpecError
    from .memories import memory, memory_names
    from .microarchitectures import microarchitecture
    from .nvidia_smi import read_smi, smi_sample
    from .stacks import stack_fact, stack_generation, stack_generations
else:
    __all__, __getattr__, __dir__ = offer(__name__)
