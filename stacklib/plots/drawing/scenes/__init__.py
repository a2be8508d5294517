"""Finished drawings: each a function of a device that returns a ``Drawing``."""

from .chip import sm_opened, tiles_in_waves
from .machine import whole_machine
from .memory import cache_set, dram_bank, hbm_opened
from .model import gemv_beside_gemm, transformer_layer
from .package import package_above, package_section
from .rack import chip_to_rack

__all__ = [
    "cache_set",
    "chip_to_rack",
    "dram_bank",
    "gemv_beside_gemm",
    "hbm_opened",
    "package_above",
    "package_section",
    "sm_opened",
    "tiles_in_waves",
    "transformer_layer",
    "whole_machine",
]
