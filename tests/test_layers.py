"""No room leans on its own floor or a higher one, wherever the import stands."""

from pathlib import Path

import pytest
from _tools import layers


def test_every_import_leans_downwards():
    faults = layers.faults()
    assert faults == [], "\n".join(faults)


def test_no_modules_of_a_room_need_one_another():
    assert layers.circles() == []


def test_no_folder_is_crowded():
    crowded = layers.crowded()
    assert crowded == {}, "\n".join(crowded.values())


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
    ("evidence/a.py", "from stacklib import plots", "only pages and cli do"),
    ("plots/a.py", "from stacklib.pages import claims", "higher floor"),
    ("memory/warp/a.py", "from ..cache import walk", "a folder above it"),
    ("memory/warp/a.py", "from ..cache.walk import Walk", "a folder above it"),
    ("gpu/issue/a.py", "def f():\n    from ..simt import kernels", "folder above it"),
    ("gpu/simt/a.py", "import stacklib.gpu.tensor.peaks", "a folder above it"),
    ("roofline/work/a.py", "from .. import journey", "a folder above it"),
    ("roofline/work/a.py", "from .. import matmul", "imports what roofline offers"),
    ("memory/new/a.py", "from ..warp import banks", "memory/new stands in no order"),
    ("new_room/a.py", "from stacklib import quantity", "stands on no floor"),
    ("kernels/matmul.py", "import torch", "only files named *_torch.py do"),
    ("kernels/matmul.py", "def f():\n    import torch.nn", "named *_torch.py do"),
    ("kernels/matmul_torch.py", "import triton", "only files named *_triton.py do"),
    ("tinylm/model.py", "import onnx", "only files named *_onnx.py do"),
    ("accelerators/rtl/array.py", "import amaranth", "named *_amaranth.py do"),
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
    ("memory/tile/a.py", "from ..warp import banks\nfrom . import tiling"),
    ("memory/__init__.py", "from .warp import banks\nfrom .ladder.rungs import ladder"),
    ("plots/a.py", "import pandas\nfrom stacklib.evidence import guard"),
    ("pages/memory/caches.py", "from stacklib import plots, memory, evidence"),
    ("cli/a.py", "from stacklib import plots, evidence"),
    ("kernels/matmul_torch.py", "import torch"),
    ("kernels/matmul_triton.py", "import triton.language as tl"),
    ("accelerators/rtl/array_amaranth.py", "from amaranth.hdl import Module"),
    ("plots/__init__.py", "if TYPE_CHECKING:\n    from stacklib.cli import main"),
    ("__main__.py", "from stacklib.cli import main"),
]


@pytest.mark.parametrize(("file", "source"), SOUND)
def test_a_sound_import_passes(tmp_path: Path, file: str, source: str):
    assert fault(tmp_path, file, source) == []


def test_a_planted_circle_is_named(tmp_path: Path):
    folder = tmp_path / "stacklib" / "gpu" / "chip"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("from . import b")
    (folder / "b.py").write_text("def f():\n    from .c import g")
    (folder / "c.py").write_text("from ..chip.a import h")
    (found,) = layers.circles(tmp_path)
    assert sorted(found.split(" needs ")[1:]) == [
        f"stacklib.gpu.chip.{n}" for n in "abc"
    ]


def test_a_crowded_folder_is_named(tmp_path: Path):
    folder = tmp_path / "stacklib" / "gpu" / "chip"
    folder.mkdir(parents=True)
    for number in range(layers.MODULES):
        (folder / f"part_{number}.py").touch()
    (folder / "__init__.py").touch()
    assert layers.crowded(tmp_path) == {}
    (folder / "one_more.py").touch()
    (found,) = layers.crowded(tmp_path).values()
    assert found == "stacklib/gpu/chip: 25 modules; at most 24, make folders"
