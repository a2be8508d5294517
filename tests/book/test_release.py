"""Every download is opened: served, installed, executed, checked."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
from _tools import release, release_archives, release_pdf

from stacklib import __version__

from . import downloads, needs

ROOT = Path(__file__).parents[2]
FIT = ["fit", "llama-3-70b", "--on", "h100-sxm", "--dtype", "bf16", "--tp", "2"]


@pytest.fixture(scope="module")
def built():
    return needs.built_book(tests="release")


@pytest.fixture(scope="module")
def chromium():
    return downloads.chromium_path()


@pytest.fixture(scope="module")
def made(built, tmp_path_factory):
    """The wheel, the notebooks and the book, as a release makes them."""
    return release.archives(tmp_path_factory.mktemp("dist"), built)


@pytest.fixture(scope="module")
def installed(made, tmp_path_factory):
    """A folder that holds nothing but the installed wheel."""
    target = tmp_path_factory.mktemp("installed")
    options = ["--no-deps", "--no-index", "--quiet", "--target", str(target)]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, str(made[0])], check=True
    )
    return target


def unzipped(archive: Path, folder: Path) -> Path:
    """Extract; the one folder that an archive holds."""
    with zipfile.ZipFile(archive) as opened:
        assert opened.testzip() is None
        opened.extractall(folder)
    (top,) = folder.iterdir()
    return top


def clean_python(target: Path, cwd: Path, *words: str) -> subprocess.CompletedProcess:
    """Run Python without site-packages: it can find `target` and nothing else."""
    env = {"PYTHONPATH": str(target), "PATH": os.environ["PATH"], "HOME": str(cwd)}
    command = [sys.executable, "-S", *words]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)


# ---- the wheel ----


def test_the_wheel_runs_outside_the_checkout(installed, tmp_path):
    where = clean_python(installed, tmp_path, "-c", "import stacklib as s; print(s)")
    assert str(installed) in where.stdout
    done = clean_python(installed, tmp_path, "-m", "stacklib", *FIT)
    assert done.returncode == 0, done.stderr
    assert "fits" in done.stdout
    one = clean_python(installed, tmp_path, "-m", "stacklib", *FIT[:-1], "1")
    assert one.returncode == 1


def test_the_wheel_holds_every_source_and_data_file_and_no_test(made):
    kinds = {".py", ".c", ".toml", ".csv", ".json", ".md", ".typed", ".txt"}
    kinds |= {".safetensors", ".cu"}
    package = ROOT / "stacklib"
    files = (p for p in package.rglob("*") if "__pycache__" not in p.parts)
    ours = {p.relative_to(ROOT).as_posix() for p in files if p.suffix in kinds}
    with zipfile.ZipFile(made[0]) as wheel:
        held = {n for n in wheel.namelist() if ".dist-info/" not in n}
    assert (ROOT / "stacklib" / "py.typed").exists()
    assert held == ours | {"stacklib/py.typed"}
    assert not [name for name in held if "test" in Path(name).name]


def test_a_wheel_that_cannot_be_built_says_why(tmp_path):
    for name in ("README.md", "LICENSE", "stacklib/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    with pytest.raises(release.ReleaseError, match=r"needs pyproject\.toml"):
        release_archives.wheel(tmp_path, root=tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project\n")
    with pytest.raises(release.ReleaseError, match="pip wheel failed"):
        release_archives.wheel(tmp_path, root=tmp_path)


# ---- the zips ----


def test_equal_files_give_equal_zips(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    for folder, order in ((first, "xy"), (second, "yx")):
        folder.mkdir()
        for name in order:
            (folder / name).write_text(name * 100)
    os.utime(second / "x", (1e9, 1e9))
    zips = [
        release_archives.write_zip(
            tmp_path / f"{folder.name}.zip",
            "top",
            release_archives.under(folder, folder.iterdir()),
        ).read_bytes()
        for folder in (first, second)
    ]
    assert zips[0] == zips[1]


@pytest.mark.slow
def test_equal_sources_give_equal_artefacts(made, built, tmp_path):
    for one, again in zip(made, release.archives(tmp_path, built), strict=True):
        assert one.read_bytes() == again.read_bytes(), one.name


@pytest.mark.browser
def test_the_book_works_from_its_zip(made, chromium, tmp_path):
    from playwright.sync_api import sync_playwright

    from . import browser as b

    top = unzipped(made[2], tmp_path)
    assert "python3 -m http.server" in (top / "README.txt").read_text()
    with b.serve(top) as base, sync_playwright() as playwright:
        opened = b.launch(playwright, chromium)
        page, faults = b.watched(b.context(opened, **b.DESKTOP), base)
        page.goto(base)
        page.locator("article a", has_text="Why does one token").first.click()
        page.wait_for_url("**/decode.html", wait_until="networkidle")
        assert page.locator("article svg").count()
        opened.close()
    assert faults == []


def test_every_notebook_opens(made, tmp_path):
    top = unzipped(made[1], tmp_path)
    names = sorted(p.relative_to(top).as_posix() for p in top.rglob("*.ipynb"))
    ours = sorted((ROOT / "chapters").rglob("*.ipynb"))
    assert names == [p.relative_to(ROOT).as_posix() for p in ours]
    for name in names:
        nbformat.validate(nbformat.read(top / name, as_version=4))


def test_the_notebooks_readme_names_files_that_are_there(made, tmp_path):
    top = unzipped(made[1], tmp_path)
    readme = (top / "README.txt").read_text()
    named = re.findall(r"\./([\w.-]+\.whl)|\b(chapters|exercises|benchmarks)\b", readme)
    assert len(named) >= 4
    assert all((top / (a or b)).exists() for a, b in named)
    assert not [p for p in top.rglob("*") if {"wrong", "my"} & set(p.parts)]


def shown(notebook: nbformat.NotebookNode) -> list[str]:
    """The text that the cells show, measured ones left out."""
    return [
        output.get("text") or output.data.get("text/plain", "")
        for cell in notebook.cells
        if "nbval-ignore-output" not in cell.metadata.get("tags", [])
        for output in cell.get("outputs", [])
    ]


@pytest.mark.slow
def test_a_notebook_gives_its_stored_outputs_with_the_wheel(
    made, installed, tmp_path, monkeypatch
):
    from nbclient import NotebookClient

    top = unzipped(made[1], tmp_path)
    path = sorted(top.glob("chapters/*/*.ipynb"))[0]
    stored, fresh = (nbformat.read(path, as_version=4) for _ in range(2))
    probe = nbformat.v4.new_code_cell("import stacklib; print(stacklib.__file__)")
    fresh.cells.append(probe)
    monkeypatch.setenv("PYTHONPATH", str(installed))
    monkeypatch.setenv("STACKLIB_ROOT", str(top))
    where = {"metadata": {"path": str(path.parent)}}
    NotebookClient(fresh, timeout=120, resources=where).execute()
    assert probe.outputs[0].text.startswith(str(installed))
    fresh.cells.pop()
    assert shown(fresh) == shown(stored)


@pytest.mark.slow
def test_an_exercise_is_graded_beside_the_notebooks(made, installed, tmp_path):
    top = unzipped(made[1], tmp_path)
    first = sorted(top.glob("exercises/*/*.py"))[0]
    check = functools.partial(
        clean_python, installed, top, "-m", "stacklib", "check", "1.1"
    )
    assert check().returncode == 1
    shutil.copy(first, top / "my" / first.parent.name / first.name)
    assert check().returncode == 0


# ---- the whole release ----


@pytest.mark.slow
def test_the_checksums_hold(built, chromium, tmp_path, monkeypatch):
    dist = tmp_path / "dist"
    monkeypatch.setattr(release, "DIST", dist)
    assert release.main([]) == 0
    rows = [row.split("  ") for row in (dist / "SHA256SUMS").read_text().splitlines()]
    names = sorted(p.name for p in dist.iterdir() if p.name != "SHA256SUMS")
    assert [name for _, name in rows] == names and len(names) == 4
    for digest, name in rows:
        assert hashlib.sha256((dist / name).read_bytes()).hexdigest() == digest
        assert __version__ in name


def test_without_chromium_the_rest_is_made(built, tmp_path, monkeypatch, capsys):
    def archives(folder):
        (folder / "stacklib-0-py3-none-any.whl").write_text("wheel")
        return [folder / "stacklib-0-py3-none-any.whl"]

    dist = tmp_path / "dist"
    dist.mkdir()
    (dist / f"{release.NAME}-0.0.1.pdf").write_text("older")
    (dist / "mine.txt").write_text("kept")
    monkeypatch.setattr(release, "DIST", dist)
    monkeypatch.setattr(release, "archives", archives)
    monkeypatch.setattr(release_pdf, "chromium", lambda: None)
    assert release.main([]) == 1
    names = sorted(p.name for p in dist.iterdir())
    assert names == ["SHA256SUMS", "mine.txt", "stacklib-0-py3-none-any.whl"]
    assert "no Chromium was found" in capsys.readouterr().err


def test_without_a_built_book_nothing_is_made(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(release, "BUILT", tmp_path)
    monkeypatch.setattr(release, "DIST", tmp_path / "dist")
    assert release.main([]) == 1
    assert "run `make book`" in capsys.readouterr().err
    assert not (tmp_path / "dist").exists()
