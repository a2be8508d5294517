"""Every download is opened: served, installed, executed, checked."""

import contextlib
import hashlib
import os
import shutil
import zipfile

import pytest
from _tools import release, release_archives, release_pdf

from stacklib import __version__

from . import browser as b

LISTED = shutil.ignore_patterns("_modules", "_sources", "hardware", "models", "api")


@pytest.fixture(scope="module")
def book(built, tmp_path_factory, pytestconfig):
    """The book as its zip has it; but for slow tests, without pages of one kind."""
    folder = tmp_path_factory.mktemp("book")
    if pytestconfig.option.markexpr == "not slow":
        few = folder / "few"
        shutil.copytree(built, few, ignore=LISTED)
        built = few
    archive = release_archives.book_zip(built, folder / "book.zip", "book")
    with zipfile.ZipFile(archive) as opened:
        assert opened.testzip() is None
        opened.extractall(folder)
    return folder / "book"


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
def test_equal_sources_give_equal_artefacts(built, tmp_path):
    first, second = (tmp_path / name for name in "ab")
    for folder in (first, second):
        folder.mkdir()
        release.archives(folder, built)
    for path in first.iterdir():
        assert path.read_bytes() == (second / path.name).read_bytes(), path.name


# How a reader opens it: at a file server, or by a click in the folder.
WAYS = ("server", "file")


@pytest.fixture(params=WAYS)
def opened(request, book, fresh):
    """``opened(names)``: what goes wrong on some pages of the book, one way."""

    def look(names):
        file = contextlib.nullcontext(f"{book.as_uri()}/")
        with b.serve(book) if request.param == "server" else file as base:
            page, faults = fresh(base)
            for name in names:
                page.goto(base + name)
                if not page.locator("main h1, main h2, main form").count():
                    faults.append(f"{name}: no page")
        return request.param, faults

    return look


@pytest.mark.browser
def test_the_book_works_from_its_zip(book, opened):
    assert "python3 -m http.server" in (book / "README.txt").read_text()
    _, faults = opened(["book/index.html", "chapters/01-roofline/decode.html"])
    assert faults == []


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("opened", ["file"], indirect=True)  # served: test_browser
def test_every_page_opens_from_the_zip(book, opened, capsys):
    listings = [path for path in b.pages(book) if path.startswith("_modules")]
    names = [*b.texts(book), *listings]
    way, faults = opened(names)
    with capsys.disabled():
        print(f"\nHTML zip by {way}: {len(names)} pages, {len(faults)} faults")
    assert faults == []


# ---- the whole release ----


@pytest.mark.slow
def test_the_checksums_hold(built, chromium, tmp_path, monkeypatch):
    dist = tmp_path / "dist"
    monkeypatch.setattr(release, "DIST", dist)
    assert release.main([]) == 0
    rows = [row.split("  ") for row in (dist / "SHA256SUMS").read_text().splitlines()]
    names = sorted(p.name for p in dist.iterdir() if p.name != "SHA256SUMS")
    assert [name for _, name in rows] == names and len(names) == 3 + len(
        release.VOLUMES
    )
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
