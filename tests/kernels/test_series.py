"""Each kernel of the published series leaves what NumPy computes."""

import pytest

from ..evidence.test_series import EACH, computes_what_numpy_computes


@pytest.mark.rows(("series", "kernel"), EACH.values(), drawn=24)
def test_a_kernel_computes_what_numpy_computes(series, kernel):
    computes_what_numpy_computes(series, kernel)
