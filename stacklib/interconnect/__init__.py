"""Interconnect: collectives as schedules that are proved, priced, simulated and run.

``all_reduce`` and its siblings write a ``Schedule``: steps of sends, each of a chunk
from one rank to another, added or copied. ``verify`` proves it or names what is wrong,
``run`` runs it on arrays, ``cost`` prices it, ``simulate`` runs it over the links of a
``Topology``. ``select`` chooses as NCCL does, ``fit_line`` finds latency and bandwidth
from times. ``write_wqe`` and ``Queue`` are the way of an RDMA write to its port,
``dispatch_bytes`` and ``dispatch_time`` the exchange of experts. ``run_fabric`` sends
frames through switches one by one. ``pipeline`` orders the work of stages, and
``run_pipeline`` says how long they wait; a ``Layout`` splits a training,
``step_time`` prices its step and ``plan`` ranks all layouts. All but arrays (NumPy) and
processes (torch) needs the standard library only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib import offer

if TYPE_CHECKING:
    from .experts.dispatch import dispatch_bytes, dispatch_time
    from .experts.route import route_experts
    from .networks.price import cost
    from .networks.read_topo import read_topo
    from .networks.simulate import simulate
    from .networks.topology import Topology
    from .parallelism.layout import Layout
    from .parallelism.plan import plan
    from .parallelism.step import step_time
    from .pipelines.order import pipeline
    from .pipelines.run import run_pipeline
    from .queues.queue import Queue
    from .queues.wqe import write_wqe
    from .schedules.algorithms import (
        all_gather,
        all_reduce,
        all_to_all,
        broadcast,
        reduce_scatter,
    )
    from .schedules.run import run
    from .schedules.verify import verify
    from .selection.line import fit_line
    from .selection.select import select
    from .switches.engine import run_fabric
else:
    __all__, __getattr__, __dir__ = offer(__name__)
