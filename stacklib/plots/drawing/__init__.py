"""Drawings: parts laid out by relation, arrows as wide as a bandwidth.

``draw`` lays a scene out on a wide canvas and on a phone's, and refuses words, parts
and lines that are cut or lie on one another. A scene is made of nodes (``nodes``,
``marks``) placed by ``right_of``, ``below``, ``flow`` and ``grid``, or anywhere by
``board``, ``ring``, ``tree`` and ``mesh``; ``joined`` draws edges between any two. The
parts of machines, defined once, are in ``parts``, finished drawings in ``scenes``.
"""

# ruff: noqa: F401 (what `d.` finds)

from __future__ import annotations

from .edges import Edge, joined
from .marks import Bar, Clip, Measured, Note, Opened, Pipe
from .nodes import Box, Cells, Layers, Node, Nothing, Words, with_
from .picture import Drawing, draw
from .relate import Either, below, chain, flow, grid, right_of, turned
from .spread import around_ring, board, mesh, ring, tree
from .words import Name, Shown, line
