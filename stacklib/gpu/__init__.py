"""A GPU from the inside: warps that hide latency, lanes that share an instruction.

``schedule`` runs warps through a scheduler cycle by cycle and ``utilisation`` says in
closed form what it should find; ``pipelines`` runs one program on a core built for
latency and on one built for throughput. Standard library only.
"""

from __future__ import annotations

from .schedule import KERNELS, Schedule, schedule, utilisation, warps_needed

__all__ = ["KERNELS", "Schedule", "schedule", "utilisation", "warps_needed"]
