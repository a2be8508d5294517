"""Drawings: parts laid out by relation, arrows as wide as a bandwidth.

``draw`` lays a scene out on a wide canvas and on a phone's, and refuses words or parts
that are cut or lie on one another. A scene is made of nodes (``nodes``, ``marks``)
placed by ``right_of``, ``below``, ``flow`` and ``grid``; the parts of machines, defined
once, are in ``parts``, finished drawings in ``scenes``.
"""

from __future__ import annotations

from .marks import (
    Clip as Clip,
)
from .marks import (
    Measured as Measured,
)
from .marks import (
    Note as Note,
)
from .marks import (
    Opened as Opened,
)
from .marks import (
    Pipe as Pipe,
)
from .nodes import (
    Box as Box,
)
from .nodes import (
    Cells as Cells,
)
from .nodes import (
    Layers as Layers,
)
from .nodes import (
    Node as Node,
)
from .nodes import (
    Nothing as Nothing,
)
from .nodes import (
    Words as Words,
)
from .nodes import (
    with_ as with_,
)
from .picture import (
    Drawing as Drawing,
)
from .picture import (
    draw as draw,
)
from .relate import (
    Either as Either,
)
from .relate import (
    below as below,
)
from .relate import (
    chain as chain,
)
from .relate import (
    flow as flow,
)
from .relate import (
    grid as grid,
)
from .relate import (
    right_of as right_of,
)
from .words import (
    Name as Name,
)
from .words import (
    Shown as Shown,
)
from .words import (
    line as line,
)
