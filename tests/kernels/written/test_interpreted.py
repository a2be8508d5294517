"""What runs in Triton's interpreter, in a process of its own that sets it up first."""

import ast
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FILES = [
    Path(__file__).with_name(f"interpreted{name}.py")
    for name in ("", "_far", "_shapes", "_torch")
]
NAMES = [
    node.name
    for file in FILES
    for node in ast.parse(file.read_text()).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
]
needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is not installed"
)


@pytest.fixture(scope="module")
def ran() -> str:
    """What pytest says of the files."""
    options = ["-q", "-rA", "--no-header", "-p", "no:cacheprovider", "--tb=short"]
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *map(str, FILES), *options],
        capture_output=True,
        text=True,
        env=environment,
        cwd=FILES[0].parents[3],
    )
    return done.stdout + done.stderr


@needs_triton
@pytest.mark.rows("name", NAMES)
def test_in_the_interpreter(ran, name):
    said = re.findall(rf"^(PASSED|FAILED|ERROR) \S*::{name}\b.*", ran, re.MULTILINE)
    assert said and set(said) == {"PASSED"}, ran[-4000:]
