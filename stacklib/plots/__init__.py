"""House figures, drawings, tables and live figures.

``chart`` makes a spec (a plain dict) of axes and marks, ``figure`` draws it,
``drawing.draw`` a scene of parts and arrows; ``table`` shows rows, ``live`` puts
sliders on a function that returns a spec. All but ``chart`` register what they show
with ``evidence.guard``. Names load on first use, so that the specs behind live figures
need no NumPy, pandas or matplotlib.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib import offer

if TYPE_CHECKING:
    from . import drawing, live
    from .figures import Figure, figure
    from .marks import (
        About,
        axis,
        band,
        bar,
        cells,
        chart,
        diamonds,
        dots,
        line,
        places,
        rows,
        rule,
        sizes,
        years,
    )
    from .rooflines import roofline_spec
    from .spec import SpecError, readout
    from .tables import Table, table
else:
    __all__, __getattr__, __dir__ = offer(__name__)
