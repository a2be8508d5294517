"""The matrix: what is shipped, and every command or every notebook in each.

The quick half types every line in the wheel alone, in one process. The whole types each
as a program of its own in every artefact and runs every notebook of the zip, with
`STACKLIB_ROOT` and without, printing how many were run and how many failed.
"""

import functools
import os
import re
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from _tools import layers, outputs, release_archives, tree

from .. import typed
from ..typed import CHECKOUT, EXERCISES, LINES, NUMPY
from . import shipped
from .shipped import Artefact

ROOT = tree.ROOT
MAKE = shutil.which("make")
SPACED = "Bücher im Regal"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    return release_archives.wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """A folder that holds nothing but the installed wheel."""
    target = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as opened:  # plain Python: to unpack is to install
        opened.extractall(target)
    return target


@pytest.fixture(scope="module")
def numpy_alone(tmp_path_factory) -> Path:
    """A folder that holds NumPy and no other package."""
    folder = tmp_path_factory.mktemp("numpy")
    spec = find_spec("numpy")
    assert spec is not None and spec.origin is not None
    for place in Path(spec.origin).parents[1].glob("numpy*"):
        (folder / place.name).symlink_to(place)
    return folder


@pytest.fixture(scope="module")
def zipped(wheel, tmp_path_factory) -> Path:
    """The notebooks zip."""
    goal = tmp_path_factory.mktemp("zip") / "notebooks.zip"
    return release_archives.notebooks_zip(wheel, goal, "notebooks")


def unzipped(archive: Path, folder: Path) -> Path:
    """Extract; the one folder that an archive holds."""
    with zipfile.ZipFile(archive) as opened:
        assert opened.testzip() is None
        opened.extractall(folder)
    (top,) = folder.iterdir()
    return top


# ---- every command ----


def test_every_documented_flag_is_typed():
    words = {(t.words[0], word) for t in LINES if t.words for word in t.words}
    assert set(typed.documented()) <= words
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(typed.cli.COMMANDS, "doctor", "")
        assert ("doctor", "--csv") in set(typed.documented())


def test_every_line_in_the_wheel_alone(installed, tmp_path):
    alone = Artefact("wheel alone", (installed,), typed.written(tmp_path))
    where = alone.run("-c", "import stacklib as s; print(s)")
    assert str(installed) in where.stdout
    assert shipped.in_one_process(alone, shipped.QUICK) == []
    page = "from stacklib.pages.diy import tapeout; tapeout.by_gates()"
    assert (read := alone.run("-c", page)).returncode == 0, read.stderr  # a kept file


def test_a_command_that_fails_is_told(tmp_path):
    """Two lines of the matrix itself: a wrong status, and a missing word of advice."""
    here = Artefact("here", (ROOT,), typed.written(tmp_path))
    planted = [typed.Typed("claims --chapter 11"), typed.Typed("fit x", 0, NUMPY)]
    first, second = shipped.in_one_process(here, planted)
    assert "status 2, not 0" in first and "does not say what it needs" in second


ARTEFACTS = ("wheel alone", "wheel with NumPy", "notebooks zip", "checkout, spaced")


@pytest.fixture
def artefact(request, tmp_path, installed, numpy_alone, zipped) -> Artefact:
    """One of `ARTEFACTS`, in a folder of its own."""
    name = request.param
    path = (installed, numpy_alone)
    if name == "wheel alone":
        return Artefact(name, path[:1], typed.written(tmp_path))
    if name == "wheel with NumPy":
        return Artefact(name, path, typed.written(tmp_path), frozenset({NUMPY}))
    has = frozenset({NUMPY, EXERCISES})
    if name == "notebooks zip":
        top = typed.written(unzipped(zipped, tmp_path / "notebooks"))
        return Artefact(name, path, top, has)
    top = typed.written(shipped.copied(tmp_path / SPACED / "buch"))
    return Artefact(name, (top, numpy_alone), top, has | {CHECKOUT})


@pytest.mark.slow
@pytest.mark.parametrize("artefact", ARTEFACTS, indirect=True)
def test_every_line_as_a_program(artefact, capsys):
    faults = shipped.one_by_one(artefact, LINES)
    with capsys.disabled():
        print("\n" + shipped.told(artefact.name, len(LINES), faults))
    assert faults == []


# ---- what is in the wheel and in the zip ----


def test_the_wheel_holds_every_source_and_data_file_and_no_test(wheel):
    kinds = {".py", ".c", ".toml", ".csv", ".json", ".md", ".typed", ".txt"}
    kinds |= {".safetensors", ".cu", ".netlist"}
    package = ROOT / "stacklib"
    files = (p for p in package.rglob("*") if "__pycache__" not in p.parts)
    ours = {p.relative_to(ROOT).as_posix() for p in files if p.suffix in kinds}
    measured = [p for f in release_archives.MEASURED for p in (ROOT / f).glob("*.json")]
    ours |= {f"stacklib/{p.relative_to(ROOT).as_posix()}" for p in measured}
    with zipfile.ZipFile(wheel) as opened:
        held = {n for n in opened.namelist() if ".dist-info/" not in n}
        packed = [i for i in opened.infolist() if "/benchmarks/" in i.filename]
    assert (ROOT / "stacklib" / "py.typed").exists()
    assert held == ours | {"stacklib/py.typed"}
    assert 0 < sum(i.compress_size for i in packed) < 400_000  # what is downloaded
    assert not [name for name in held if Path(name).match("*test*.py")]


def test_a_wheel_that_cannot_be_built_says_why(tmp_path):
    held = ("README.md", "LICENSE", "setup.py", "stacklib/__init__.py")
    for name in (*held, *(f"{folder}/a.json" for folder in release_archives.MEASURED)):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).touch()
    with pytest.raises(release_archives.ReleaseError, match=r"needs pyproject\.toml"):
        release_archives.wheel(tmp_path, root=tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project\n")
    with pytest.raises(release_archives.ReleaseError, match="pip wheel failed"):
        release_archives.wheel(tmp_path, root=tmp_path)


def test_every_notebook_opens(zipped, tmp_path):
    top = unzipped(zipped, tmp_path)
    names = sorted(p.relative_to(top).as_posix() for p in top.rglob("*.ipynb"))
    assert names == sorted(p.relative_to(ROOT).as_posix() for p in tree.notebooks(ROOT))
    for name in names:
        nbformat.validate(nbformat.read(top / name, as_version=4))


def test_the_notebooks_readme_names_files_that_are_there(zipped, tmp_path):
    top = unzipped(zipped, tmp_path)
    readme = (top / "README.txt").read_text()
    named = re.findall(r"\./([\w.-]+\.whl)|\b(chapters|exercises)\b", readme)
    assert len(named) >= 3
    assert all((top / (a or b)).exists() for a, b in named)
    assert not [p for p in top.rglob("*") if {"wrong", "my"} & set(p.parts)]


@pytest.mark.slow
def test_an_exercise_is_graded_beside_the_notebooks(zipped, installed, tmp_path):
    top = unzipped(zipped, tmp_path)
    first = sorted(top.glob("exercises/*/*.py"))[0]
    beside = Artefact("zip", (installed,), top)
    check = functools.partial(beside.run, "-m", "stacklib", "check", "1.1")
    assert check().returncode == 1
    shutil.copy(first, top / "my" / first.parent.name / first.name)
    assert check().returncode == 0


# ---- what a notebook needs ----

INSTALLED = re.compile(r'pip install "\./(stacklib[\w.-]+\.whl)\[([\w,]+)\]"')


def packages(extras: str) -> set[str]:
    """What the extras of the package bring, as it is imported."""
    project = tree.read_toml(ROOT / "pyproject.toml")["project"]
    asked = project["optional-dependencies"]
    return {re.split(r"\W", one)[0] for e in extras.split(",") for one in asked[e]}


def beyond(path: Path, brought: set[str]) -> set[str]:
    """What the cells of a notebook import and nobody brought."""
    cells = nbformat.read(path, as_version=4).cells
    code = "\n".join(c.source for c in cells if c.cell_type == "code")
    used = {i.module.split(".")[0] for i in layers.imports(code, "notebook", False)}
    return used - brought - {"stacklib", *sys.stdlib_module_names}


def told(top: Path) -> set[str]:
    """The notebooks whose first cell asks for torch."""
    return {
        "/".join(path.parts[-2:])
        for path in top.rglob("*.ipynb")
        if "pip install torch" in nbformat.read(path, as_version=4).cells[0].source
    }


TORCH = {"04-kernels/fusion.ipynb", "04-kernels/launches.ipynb"}


def test_what_notebooks_import_is_in_the_readmes_line(zipped, tmp_path):
    top = unzipped(zipped, tmp_path)
    ((_, extras),) = INSTALLED.findall((top / "README.txt").read_text())
    brought = packages(extras)
    assert "numba" in brought  # without it three notebooks take minutes
    assert not {
        p.name: lack for p in top.rglob("*.ipynb") if (lack := beyond(p, brought))
    }
    assert told(top) == TORCH
    (page,) = top.glob("chapters/02-gpu/simt.ipynb")
    assert beyond(page, brought - {"numpy"}) == {"numpy"}


MOST_SECONDS = 60  # of the processor, for one notebook


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_every_notebook_runs_in_the_environment_of_the_readme(
    zipped, tmp_path, capsys, version
):
    python = shutil.which(f"python{version}")
    if python is None:
        pytest.skip(f"notebooks zip: not run (no Python {version})")
    top = unzipped(zipped, tmp_path / "zip")
    bare = tmp_path / "bare"
    subprocess.run([python, "-m", "venv", bare], check=True)
    ((wheel, extras),) = INSTALLED.findall((top / "README.txt").read_text())
    line = ["-m", "pip", "install", "-q", f"./{wheel}[{extras}]", "jupyterlab"]
    done = subprocess.run([bare / "bin/python", *line], cwd=top, capture_output=True)
    if done.returncode:
        pytest.skip("notebooks zip: not run (pip reaches no packages)")
    rows = shipped.notebooks(bare / "bin/python", sorted(top.rglob("*.ipynb")))
    slowest = sorted(rows, key=lambda row: -row["seconds"])[:5]
    with capsys.disabled():
        print(f"\nnotebooks zip, Python {version}: {len(rows)} run; CPU seconds:")
        print("".join(f"  {row['seconds']:6.1f} {row['name']}\n" for row in slowest))
    stopped = {row["name"]: row["error"] for row in rows if row["error"]}
    assert stopped.keys() == told(top), stopped
    assert all("pip install torch" in error for error in stopped.values())
    assert slowest[0]["seconds"] < MOST_SECONDS


# ---- every notebook ----


def differs(stored: nbformat.NotebookNode, fresh: nbformat.NotebookNode) -> str:
    """The first cell that nbval would refuse, measured ones left out."""
    masks = outputs.patterns()
    for old, new in zip(stored.cells, fresh.cells, strict=True):
        measured = "nbval-ignore-output" in old.metadata.get("tags", [])
        if old.cell_type != "code" or measured:
            continue
        for fault in outputs.differences(old.outputs, new.outputs, masks):
            return f"{old.id}: {fault}"
    return ""


def notebook_fault(path: Path, package: Path, env: dict[str, str]) -> str:
    """What is wrong with a notebook run against an installed wheel, if anything."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError
    from nbclient.util import run_sync

    stored, fresh = (nbformat.read(path, as_version=4) for _ in range(2))
    probe = nbformat.v4.new_code_cell("import stacklib; print(stacklib.__file__)")
    fresh.cells.append(probe)
    where = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(fresh, timeout=3600, resources=where)
    try:
        run_sync(client.async_execute)(env=env)
    except CellExecutionError as error:
        return f"{path.name}: {str(error).strip().splitlines()[-1]}"
    if not probe.outputs[0].text.startswith(str(package)):
        return f"{path.name}: ran {probe.outputs[0].text.strip()}"
    fresh.cells.pop()
    differ = differs(stored, fresh)
    return f"{path.name}: {differ}" if differ else ""


@pytest.mark.slow
@pytest.mark.parametrize("named", [False, True], ids=["bare", "with STACKLIB_ROOT"])
def test_every_notebook_gives_its_stored_outputs_with_the_wheel(
    zipped, installed, tmp_path, capsys, named
):
    top = unzipped(zipped, tmp_path)
    env = {k: v for k, v in os.environ.items() if not k.startswith("STACKLIB_")}
    env |= {"PYTHONPATH": str(installed), "HOME": str(tmp_path / "home")}
    env |= {"STACKLIB_ROOT": str(top)} if named else {}
    (tmp_path / "home").mkdir()
    paths = sorted(top.rglob("*.ipynb"))
    run = functools.partial(notebook_fault, package=installed, env=env)
    with ThreadPoolExecutor(2) as two:
        faults = [fault for fault in two.map(run, paths) if fault]
    with capsys.disabled():
        name = f"notebooks zip, {'with' if named else 'without'} STACKLIB_ROOT"
        print("\n" + shipped.told(name, len(paths), faults))
    assert faults == []


# ---- make, under a path with a space and an umlaut ----

# Stands for the environment's Python: says where it would look and what it would run.
ECHO = '#!/bin/sh\nprintf "%s|%s\\n" "$PYTHONPATH" "$*"\n'
TARGETS = (
    "book open test test-all execute links chapter numbers bench calibrate train "
    "release size"
).split()


@pytest.mark.skipif(MAKE is None, reason="make: not run (no make)")
def test_every_target_finds_the_tree_under_a_path_with_a_space(tmp_path):
    here = tmp_path / SPACED / "it's mine"
    (here / ".venv/bin").mkdir(parents=True)
    for name in ("Makefile", "requirements.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, here / name)
    python = here / ".venv/bin/python"
    python.write_text(ECHO)
    python.chmod(0o755)
    (here / ".venv/.stamp").touch()
    for target in TARGETS:
        # Below another make it would say which folder it enters.
        command = [str(MAKE), "--no-print-directory", target]
        done = subprocess.run(command, cwd=here, capture_output=True, text=True)
        assert done.returncode == 0, (target, done.stderr)
        for line in done.stdout.splitlines():
            assert line.startswith(f"{here}:{here}/book|"), (target, line)


@pytest.mark.slow
@pytest.mark.skipif(MAKE is None, reason="make: not run (no make)")
def test_make_works_under_a_path_with_a_space(tmp_path):
    top = shipped.copied(tmp_path / SPACED / "buch")
    (top / ".venv").symlink_to(Path(sys.prefix))
    (top / "_build/html").mkdir(parents=True)
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    run = functools.partial(subprocess.run, cwd=top, env=env, text=True)
    for target in ("links", "numbers", "execute NB=01-roofline/counting"):
        assert run([str(MAKE), "-o", ".venv/.stamp", *target.split()]).returncode == 0
    command = run(
        [str(MAKE), "-n", "-o", ".venv/.stamp", "calibrate"], stdout=subprocess.PIPE
    ).stdout.strip()
    assert run(["sh", "-c", f"{command} --help"]).returncode == 0
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-n0"]
    assert run([sys.executable, *words, "tests/roofline/work"]).returncode == 0
