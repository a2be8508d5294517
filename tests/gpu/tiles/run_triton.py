"""Runs the corpus in Triton's interpreter; a process of its own, started by the test.

``python run_triton.py OUT.npz PICK``: PICK names a function of `cases` that gives them.
Triton takes arguments that say where their bytes are; here these are NumPy's, so that
no tensor library is needed.
"""

import sys
import tempfile
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import cases  # noqa: E402
import numpy as np  # noqa: E402

SAME = (
    ("from stacklib.gpu import tiles as tl", "import triton.language as tl"),
    ("from stacklib.gpu.tiles import jit", "from triton import jit"),
)


class Bytes:
    """A NumPy array as Triton's interpreter wants its tensors."""

    def __init__(self, values):
        self.values = values
        self.dtype = values.dtype.name

    def data_ptr(self):
        return self.values.ctypes.data

    def untyped_storage(self):
        return self

    def cpu(self):
        return self

    def new_empty(self, size, device=None):
        return Bytes(self.values)

    def set_(self, storage, offset, size, stride):
        self.values = storage.values

    def storage_offset(self):
        return 0

    def size(self):
        return self.values.shape

    def stride(self):
        return self.values.strides

    def element_size(self):
        return self.values.itemsize

    def copy_(self, other):
        pass


def corpus():
    """The corpus as Triton's: its text with two other imports."""
    import importlib.util

    text = (HERE / "corpus.py").read_text()
    for ours, theirs in SAME:
        assert ours in text
        text = text.replace(ours, theirs)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corpus_triton.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location("corpus_triton", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module


def results(module, case):
    """Arrays of a case as Triton leaves them."""
    args = [Bytes(a.copy()) if isinstance(a, np.ndarray) else a for a in case.args]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(module, case.program)[case.grid](*args, **case.words)
    return [a.values for a in args if isinstance(a, Bytes)]


def meetings():
    """The type any two operands meet at, or an error: by pair, weakness, division."""
    import triton.language as tl
    from triton.language.semantic import TritonSemantic

    rule = TritonSemantic(None).computation_type_impl
    found = []
    for a in TYPES:
        for b in TYPES:
            for weak in ((False, False), (True, False), (False, True)):
                for divides in (False, True):
                    pair = (getattr(tl, a), weak[0], getattr(tl, b), weak[1])
                    try:
                        found.append(rule(*pair, divides).name)
                    except TypeError:
                        found.append("error")
    return np.array(found)


TYPES = (
    *("int1", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"),
    *("uint64", "float16", "bfloat16", "float32", "float64", "float8e4nv", "float8e5"),
)


def main(out, pick):
    found = {"meetings": meetings()}
    for module in corpus():
        for number, case in enumerate(getattr(cases, pick)()):
            for at, values in enumerate(results(module, case)):
                found[f"{number}.{at}"] = values
    np.savez(out, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
