"""Which Python makes the environment, and notebooks under those that are at hand."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from _tools import suite, tree

SCRIPT = tree.ROOT / "book" / "_tools" / "python.sh"
SH = shutil.which("sh")
pytestmark = pytest.mark.skipif(SH is None, reason="make: not run (no sh)")


def fake(path: Path, version: str, serves: bool = True) -> str:
    """A command that stands for a Python."""
    path.parent.mkdir(parents=True, exist_ok=True)
    says = f'[ "$1" = -V ] && echo Python {version} && exit\nexit {int(not serves)}\n'
    path.write_text(f"#!/bin/sh\n{says}")
    path.chmod(0o755)
    return str(path)


def chosen(folder: Path, named: str = "") -> subprocess.CompletedProcess[str]:
    """What the script says where nothing but `folder` is on the path."""
    (folder / "cat").unlink(missing_ok=True)
    (folder / "cat").symlink_to(str(shutil.which("cat")))
    return subprocess.run(
        [str(SH), str(SCRIPT), ".venv", named],
        cwd=folder,
        env={"PATH": str(folder)},
        capture_output=True,
        text=True,
    )


def test_the_first_that_serves_is_taken(tmp_path):
    fake(tmp_path / "python3", "3.10.4", serves=False)
    fake(tmp_path / "python3.11", "3.11.2", serves=False)  # a Debian without venv
    fake(tmp_path / "python3.13", "3.13.0")
    assert chosen(tmp_path).stdout == "python3.13\n"


def test_an_environment_that_is_there_stays(tmp_path):
    fake(tmp_path / "python3.11", "3.11.2")
    fake(tmp_path / ".venv/bin/python", "3.13.0")
    assert chosen(tmp_path).stdout == ".venv/bin/python\n"
    other = fake(tmp_path / "elsewhere/python", "3.12.1")
    assert chosen(tmp_path, other).stdout == f"{other}\n"


@pytest.mark.parametrize(
    ("place", "named", "said"),
    [
        ("python3", "", "python3 is Python 3.10.4."),
        (".venv/bin/python", "", ".venv/bin/python is Python 3.10.4."),
        ("python3", "/nowhere/python", "/nowhere/python is not there."),
    ],
)
def test_what_cannot_serve_is_refused_with_a_line_that_makes_one(
    tmp_path, place, named, said
):
    fake(tmp_path / place, "3.10.4", serves=False)
    done = chosen(tmp_path, named)
    assert done.returncode == 1 and not done.stdout
    assert said in done.stderr and "uv venv" in done.stderr


@pytest.mark.parametrize("module", ["", "ensurepip", "venv"])
def test_a_real_one_serves_unless_it_lacks_a_module(tmp_path, module):
    (tmp_path / f"{module}.py").write_text("raise ImportError\n")
    done = subprocess.run(
        [str(SH), str(SCRIPT), ".venv", sys.executable],
        env={**os.environ, "PYTHONPATH": str(tmp_path) if module else ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == bool(module)


OTHERS = sorted(tree.ROOT.glob(".venv-*/bin/python"))


@pytest.mark.slow
@pytest.mark.parametrize("python", OTHERS or [None], ids=str)
def test_notebooks_are_equal_under_another_python(python):
    if python is None:
        pytest.skip(
            "another Python: not run "
            "(make setup VENV=.venv-3.13 PY=python3.13 makes an environment)"
        )
    options = ("-n", str(suite.workers()), "--dist=loadfile", "-p", "no:cacheprovider")
    command = [str(python), *suite.command(tree.notebooks(), *options)[1:]]
    done = subprocess.run(command, cwd=tree.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-6000:]
