"""No room leans on its own floor or a higher one, wherever the import stands."""

from pathlib import Path

import pytest
from _tools import layers


def test_every_import_leans_downwards():
    faults = layers.faults()
    assert faults == [], "\n".join(faults)


def fault(tmp_path: Path, file: str, source: str) -> list[str]:
    """The faults of a package with one file in it."""
    path = tmp_path / "stacklib" / file
    path.parent.mkdir(parents=True)
    path.write_text(source)
    return layers.faults(tmp_path)


PLANTED = [
    ("roofline/a.py", "from stacklib import kernels", "higher floor"),
    ("roofline/a.py", "import stacklib.serving as s", "higher floor"),
    ("roofline/a.py", "from ..evidence import guard", "higher floor"),
    ("roofline/a.py", "def f():\n    from stacklib.cli import main", "higher floor"),
    ("roofline/__init__.py", "from ..gpu import mma", "higher floor"),
    ("roofline/a.py", "import_module('stacklib.kernels')", "higher floor"),
    ("models/a.py", "from stacklib.hardware import get", "on its own floor"),
    ("sweep.py", "from stacklib.quantity import Quantity", "on its own floor"),
    ("evidence/a.py", "from stacklib import plots", "only cli does"),
    ("new_room/a.py", "from stacklib import quantity", "stands on no floor"),
    ("kernels/matmul.py", "import torch", "only files named *_torch.py do"),
    ("kernels/matmul.py", "def f():\n    import torch.nn", "named *_torch.py do"),
    ("kernels/matmul_torch.py", "import triton", "only files named *_triton.py do"),
    ("serving/a.py", "import pandas as pd", "imports pandas; only plots does"),
    ("cli/a.py", "from matplotlib import pyplot", "only plots does"),
]


@pytest.mark.parametrize(("file", "source", "message"), PLANTED)
def test_a_planted_import_is_named(tmp_path: Path, file, source, message: str):
    (found,) = fault(tmp_path, file, source)
    assert found.startswith(f"stacklib/{file}:") and message in found


SOUND = [
    ("roofline/a.py", "from stacklib import hardware, models, quantity"),
    ("roofline/a.py", "from . import work\nfrom .work import matmul"),
    ("plots/a.py", "import pandas\nfrom stacklib.evidence import guard"),
    ("cli/a.py", "from stacklib import plots, evidence"),
    ("kernels/matmul_torch.py", "import torch"),
    ("kernels/matmul_triton.py", "import triton.language as tl"),
    ("plots/__init__.py", "if TYPE_CHECKING:\n    from stacklib.cli import main"),
    ("__main__.py", "from stacklib.cli import main"),
]


@pytest.mark.parametrize(("file", "source"), SOUND)
def test_a_sound_import_passes(tmp_path: Path, file: str, source: str):
    assert fault(tmp_path, file, source) == []
