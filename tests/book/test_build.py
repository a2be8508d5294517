"""The book is built when anything that it is made from has changed, and not else."""

import pytest
from _tools import build

PAGE = "from pathlib import Path; Path('_build/html').mkdir(exist_ok=True); "
WRITE = PAGE + "Path('_build/html/index.html').write_text('<p>1</p>')"
FAIL = "print('page.md:3: WARNING: no such page'); raise SystemExit(1)"


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A small checkout whose Sphinx writes one page."""
    for name in ("_config.yml", "book/_ext/box.py", "chapters/a.ipynb"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    built = tmp_path / "_build"
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "BUILT", built)
    monkeypatch.setattr(build, "LOG", built / "sphinx.log")
    monkeypatch.setattr(build, "STAMP", built / "built.json")
    monkeypatch.setattr(build, "SPHINX", WRITE)
    return tmp_path


def test_a_book_that_stands_is_left_alone(tree, capsys):
    for said in ("book built in", "book up to date"):
        assert build.build() == 0
        assert capsys.readouterr().out.startswith(said)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("chapters/a.ipynb", "2"),
        ("chapters/b.ipynb", "1"),
        ("_build/html/index.html", "<p>2</p>"),
        ("_build/html/index.html", None),
        ("book/_ext/box.py", None),
    ],
)
def test_what_changed_or_is_gone_is_made_anew(tree, capsys, file, text):
    assert build.build() == 0
    path = tree / file
    path.unlink() if text is None else path.write_text(text)
    capsys.readouterr()
    assert build.build() == 0
    assert capsys.readouterr().out.startswith("book built in")


def test_what_no_page_is_made_from_builds_nothing(tree, capsys):
    assert build.build() == 0
    (tree / "my").mkdir()
    (tree / "my" / "answer.py").write_text("1")
    assert build.build() == 0
    assert capsys.readouterr().out.endswith("book up to date: _build/html/index.html\n")


def test_a_warning_is_told_and_the_next_build_tries_again(tree, capsys, monkeypatch):
    monkeypatch.setattr(build, "SPHINX", FAIL)
    for _ in range(2):
        assert build.build() == 1
        assert "page.md:3: WARNING: no such page" in capsys.readouterr().out


def test_progress_says_what_is_left(monkeypatch):
    clock = iter([100.0, 110.0, 200.0])
    monkeypatch.setattr(build.time, "monotonic", lambda: next(clock))
    lines = [
        "\x1b[01mreading sources... \x1b[39m[ 10%] a\n",
        "loading\n",
        "reading sources... [ 90%] b\n",
    ]
    assert list(build.progress(lines, 0.0)) == [
        "book: reading sources, 10% done, 15.0 minutes left",
        "book: reading sources, 50% done, 3.3 minutes left",
    ]


def test_one_process_where_none_can_be_forked(monkeypatch):
    assert build.processes() >= 1
    monkeypatch.setattr(build.sys, "platform", "darwin")
    assert build.processes() == 1
    monkeypatch.setattr(build.sys, "platform", "win32")
    monkeypatch.setattr(
        build.multiprocessing, "get_all_start_methods", lambda: ["spawn"]
    )
    assert build.processes() == 1
