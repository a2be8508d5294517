"""The report of a chapter counts against true totals and fails when one is short."""

import json
from pathlib import Path

import nbformat
import pytest
from _tools import (
    bars,
    chapter,
    chapter_code,
    chapter_pages,
    chapter_size,
    coverage_map,
    durations,
    tree,
)
from _tools.lines import Count, Line, Most

from stacklib.evidence import ledger

CHAPTERS = list(chapter.CHAPTERS)
SLACK = 0.01  # by which a ceiling may be above what a chapter holds


def wants(line: Line) -> dict[str, int]:
    return {count.what: count.want for count in line.counts}


def test_the_totals_of_chapter_1_are_those_of_its_lists():
    covered = wants(chapter_code.covered(1, tree.ROOT))
    assert covered == {
        "systems": 17,
        "projects": 5,
        "insights": 1,
        "advice": 3,
        "pitfalls": 2,
        "checklist": 4,
        "contradictions": 1,
    }
    assert wants(chapter_code.ways(1, tree.ROOT)) == {"three ways": 2, "two ways": 15}
    own = [c for c in ledger.load() if c.chapter == 1]
    assert wants(chapter_code.claims(1, tree.ROOT))["claims"] == len(own) >= 34


def test_no_id_is_left_without_a_chapter():
    totals = [wants(chapter_code.covered(n, tree.ROOT)) for n in CHAPTERS]
    assert sum(sum(t.values()) for t in totals) == len(coverage_map.systems())
    assert sum(t["systems"] for t in totals) == 203
    assert sum(t["projects"] for t in totals) == 52


def test_every_chapter_has_rooms_and_owes_a_comparison_or_none():
    assert set(chapter_code.ROOMS) == set(CHAPTERS)
    assert set(map(int, bars.table(tree.ROOT))) <= set(CHAPTERS)


def test_a_line_is_short_when_a_count_is_or_something_is_missing():
    enough, few = Count("a", 2, 2), Count("b", 1, 2)
    assert Line("x", (enough,)).ok
    assert str(Line("x", (enough,), "note")) == "ok      x: a 2/2, note"
    assert str(Line("x", (enough, few))) == "short   x: a 2/2, b 1/2"
    assert not Line("x", (enough,), missing=("c",)).ok


@pytest.mark.parametrize(("lines", "code"), [([True, True], 0), ([True, False], 1)])
def test_the_command_prints_each_line_and_fails_if_one_is_short(
    lines, code, monkeypatch, capsys
):
    makers = [lambda n, root, ok=ok: Line("x", (Count("a", ok, 1),)) for ok in lines]
    monkeypatch.setattr(chapter, "MAKERS", makers)
    assert chapter.main(["3"]) == code
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed] == ["1", "2"]
    assert chapter.main(["3", "--json"]) == code
    report = json.loads(capsys.readouterr().out)
    assert (report["chapter"], report["done"]) == (3, code == 0)


def test_there_are_ten_lines():
    assert len(chapter.MAKERS) == 10


@pytest.fixture
def page(notebook, repo: Path):
    """A chapter of one notebook: Markdown with an output beside it."""

    def make(markdown: str, html: str) -> Path:
        made = notebook("show()")
        made.cells[0].outputs = [
            nbformat.v4.new_output("display_data", {"text/html": html})
        ]
        made.cells.insert(0, nbformat.v4.new_markdown_cell(markdown))
        path = repo / "chapters" / "01-roofline" / "index.ipynb"
        nbformat.write(made, str(path))
        return repo

    return make


LIVE = (
    '<div class="st-live" id="a" {}><script type="application/json">[]</script>'
    '<div class="st-live-static">drawn</div></div>'
)


def test_predictions_and_live_figures_are_counted(page):
    repo = page(":::{predict} t\nHow long?\n:::", LIVE.format("data-test='{}'") * 2)
    line = chapter_pages.alive(1, repo)
    assert [count.have for count in line.counts] == [1, 2] and line.ok


def test_a_live_figure_that_asserts_nothing_does_not_count(page):
    line = chapter_pages.alive(1, page("No prediction.", LIVE.format("")))
    assert [count.have for count in line.counts] == [0, 0]
    assert line.missing == ("index.ipynb: a live figure asserts no value",)


def test_what_is_typed_in_the_chapter_is_counted(page):
    line = chapter_pages.clean(1, page("It takes 3 ms.", "<p>text</p>"))
    assert "typed quantities 1" in line.note and not line.ok


def test_an_unregistered_figure_is_counted(page):
    line = chapter_pages.clean(1, page("Text.", "<svg></svg>"))
    assert "guard 1" in line.note


def test_a_notebook_that_differs_is_told_from_one_that_is_slow(page, monkeypatch):
    repo, name = page("Text.", "<p>text</p>"), "chapters/01-roofline/index.ipynb"
    found = [(name, "3")], {name: 16.2}
    monkeypatch.setattr(chapter_pages, "compared", lambda paths, root: found)
    missing = chapter_pages.notebooks(1, repo).missing
    assert f"{name}: cell 3 differs or fails" in missing
    assert f"{name}: slow, 16 CPU s; at most 15" in missing


def test_the_index_counts_the_claims_and_the_evidence_page_has_them(page):
    root = page(":::{claims-count} 1\n:::", "")
    assert chapter_code.claims_table(1, root) == 1
    evidence = root / "book" / "evidence" / "chapter-1.md"
    evidence.parent.mkdir(parents=True)
    evidence.write_text(":::{claims-table} 1\n:::\n")
    assert chapter_code.claims_table(1, root) == 2
    assert chapter_code.claims_table(1, page(":::{claims-table} 1\n:::", "")) == 1


def write_bars(repo: Path, text: str) -> None:
    (repo / "book" / "_tools").mkdir()
    (repo / "book" / "_tools" / "bars.toml").write_text(f"[1]\n{text}\n")


def test_a_comparison_counts_once_its_result_is_there(repo: Path):
    write_bars(repo, 'fit = { what = "fit" }')
    assert bars.measured(1, repo).missing == ("fit: no fit.json",)
    (repo / "benchmarks" / "results").mkdir(parents=True)
    (repo / "benchmarks" / "results" / "fit.json").write_text("{}")
    assert bars.measured(1, repo).ok


def test_a_comparison_that_is_not_owed_is_told_and_never_missed(repo: Path):
    write_bars(repo, '"gpu_*" = { what = "card", owed = false }')
    line = bars.measured(1, repo)
    assert line.ok and line.as_dict()["word"] == "not run"
    assert str(line) == "not run measured: benchmarks 0/0, card: not measured yet"
    (repo / "benchmarks" / "results").mkdir(parents=True)
    (repo / "benchmarks" / "results" / "gpu_nvidia-h200.json").write_text("{}")
    line = bars.measured(1, repo)
    assert str(line) == "ok      measured: benchmarks 0/0, card: measured"


RESULT = {
    "others": 1.5,
    "exact": {"hits": 7, "winner": "2 x TP4, batch 48", "differ": []},
    "rows": [
        {"id": "ours a", "times_s": [1, 2, 9], "ratio": 4.0, "bar": 3, "equal": True},
        {"id": "ours b", "times_s": [4], "ratio": 0.5, "bar": 1},
        {"id": "peer", "times_s": [2], "ratio": None},
    ],
}


@pytest.mark.rows(
    ("bar", "fault"),
    [
        ("exact/hits == 7", ""),
        ("exact/hits == 8", "7, must be 8"),
        ("exact/winner == * TP4, *", ""),
        ("rows/*/equal == True", ""),
        ("exact/differ == []", ""),
        ("rows/ours*/ratio >= rows/ours*/bar", "1 of 2, ours b: 0.5"),
        ("rows/*/ratio >= 0.5", ""),
        ("rows/*/ratio <= 0.1", "2 of 2, ours a: 4, at most 0.1"),
        ("median rows/*/ratio <= 2", "2.25, at most 2"),
        ("p90 rows/*/ratio <= 2", "4, at most 2"),
        ("rows/ours*/times_s over rows/peer/times_s <= 2", ""),
        ("rows/*/times_s over rows/o*/times_s <= 2", "2 numbers"),
        ("off rows/ours b/ratio <= 1.9", "2, at most 1.9"),
        ("rows/theirs/ratio >= 1", "nothing stands at rows/theirs"),
    ],
)
def test_a_bar_is_compared_with_what_the_result_file_holds(bar, fault, tmp_path):
    path = tmp_path / "fit.json"
    path.write_text(json.dumps(RESULT))
    said = "".join(bars.faults(bar, path))
    assert said.startswith(fault) and bool(said) == bool(fault)
    if ", at " in fault or "must" in fault:
        assert said.endswith("others had 1.5 cores: measure again")
    with pytest.raises(ValueError, match="is no bar"):
        list(bars.faults(bar.replace("=", "~"), path))
    path.write_text(json.dumps(RESULT)[:-9])
    assert "".join(bars.faults(bar, path)).startswith("no JSON: ")


def test_a_missed_bar_leaves_the_line_short(repo: Path):
    write_bars(
        repo,
        """fit = { what = "fit", held = ["exact/hits >= 7", "exact/hits <= 6"] }""",
    )
    (repo / "benchmarks" / "results").mkdir(parents=True)
    (repo / "benchmarks" / "results" / "fit.json").write_text(json.dumps(RESULT))
    line = bars.measured(1, repo)
    assert str(line) == "short   measured: benchmarks 1/1, bars 1/2"
    assert line.missing[0].startswith("fit, fit: 7, at most 6")
    profile = {"device": "Chip, 2 cores", "rows": [{"id": "fit", "why": "it waits"}]}
    (repo / "benchmarks" / "results" / "profiles.json").write_text(json.dumps(profile))
    (told,) = bars.measured(1, repo).missing
    assert told.endswith("again; profiled on Chip: it waits")


UNTIMED = {"prediction_error"}  # rows that came after the fit: no profile tells why
MISSED = {"cache", "flash_attention_numpy_*", *UNTIMED}


def test_what_is_held_to_no_prediction_has_a_bar_that_is_met_or_known_to_be_missed():
    from_here = {"host_roofline"}  # the ceilings that predictions start from
    rows = [row for own in bars.table(tree.ROOT).values() for row in own.items()]
    for name, bar in rows:
        for path in bars.files_of(name, tree.ROOT):
            foretold = json.loads(path.read_text())["prediction"]
            assert bar.get("held") or foretold or path.stem in from_here, path.name
            said = [
                f for asked in bar.get("held", ()) for f in bars.faults(asked, path)
            ]
            assert not [fault for fault in said if "stand" in fault]
            assert not said or name in MISSED, (name, said)
            # a bar that is missed is printed with a profile's line that says why
            why = " profiled on " in bars.because(name, tree.ROOT)
            assert not said or why or name in UNTIMED, name


def test_a_room_of_several_chapters_counts_for_the_first():
    assert chapter_size.rooms(1) == ["roofline", "tinylm"]
    assert chapter_size.rooms(3) == ["memory"]
    every = [room for n in CHAPTERS for room in chapter_size.rooms(n)]
    assert len(every) == len(set(every))


@pytest.fixture
def sized(repo: Path) -> Path:
    """A chapter of seven lines of code, with a budget of five and of eight lines."""
    room = repo / "stacklib" / "roofline"
    tests = repo / "tests" / "pages" / "roofline"
    for folder in (room, tests):
        folder.mkdir(parents=True)
    (room / "a.py").write_text('"""What."""\n\n# Why.\n' + "x = 1\n" * 7)
    (tests / "test_a.py").write_text("x = 1\n" * 2)
    most = {chapter_size.CODE: 5, chapter_size.LINES: 12, chapter_size.SECONDS: 3}
    rows = [f'[[budget]]\nwhat = "{w}"\nmost = {n}\n' for w, n in most.items()]
    (repo / "book" / "budget.toml").write_text("".join(rows))
    return repo


def test_a_chapter_above_its_budget_fails_unless_a_ceiling_is_above_it(sized: Path):
    line = chapter_size.sized(1, sized)
    assert "size: mechanism code 7/5, lines in all 12/12," in str(line)
    assert line.missing == ("mechanism code: 7, 5 at most; make it smaller",)
    budget = sized / "book" / "budget.toml"
    row = '[[ceiling]]\nchapter = {}\nwhat = "mechanism code"\nmost = {}\n'
    budget.write_text(budget.read_text() + row.format(1, 7) + row.format(2, 1))
    line = chapter_size.sized(1, sized)
    assert line.ok and "mechanism code 7/5 (ceiling 7)" in str(line)
    assert str(line).startswith("not run ") and "not measured yet" in str(line)
    (sized / "stacklib" / "roofline" / "b.py").write_text("x = 1\n")
    assert "mechanism code: 8, 7 at most; make it smaller" in (
        chapter_size.sized(1, sized).missing
    )


@pytest.mark.rows("chapter", [4, 6, 8])
def test_a_chapter_over_its_budget_only_shrinks(chapter):
    for count in chapter_size.sized(chapter, tree.ROOT).counts:
        if count.ceiling:
            least = count.ceiling * (1 - SLACK)
            assert least <= count.have <= count.ceiling, (
                f"chapter {chapter}, {count.what}: {count.have:,}; make it smaller, or "
                f"lower its ceiling of {count.ceiling:,} in book/budget.toml"
            )


def test_a_chapter_s_own_budget_goes_before_that_of_all(sized: Path):
    budget = sized / "book" / "budget.toml"
    own = '[[budget]]\nchapter = {}\nwhat = "mechanism code"\nmost = {}\n'
    budget.write_text(own.format(1, 7) + budget.read_text() + own.format(2, 1))
    assert "mechanism code 7/7" in str(chapter_size.sized(1, sized))


def test_the_account_of_a_token_counts_for_no_chapter(sized: Path):
    apart = sized / "stacklib" / "serving" / "token"
    apart.mkdir(parents=True)
    (apart / "a.py").write_text("x = 1\n" * 9)
    (apart.parent / "b.py").write_text("x = 1\n" * 2)
    assert "mechanism code 2/5" in str(chapter_size.sized(8, sized))


def test_seconds_are_those_of_the_chapters_files_in_the_last_run(sized: Path):
    assert "not measured yet" in chapter_size.sized(1, sized).note
    durations.place(sized).parent.mkdir()
    held = {"tests/roofline/test_a.py": 1.5, "chapters/01-roofline/index.ipynb": 0.5}
    held |= {"tests/memory/test_a.py": 9, "tests/roofline_more/test_a.py": 9}
    durations.place(sized).write_text(json.dumps(held))
    assert Most(chapter_size.SECONDS, 2, 3) in chapter_size.sized(1, sized).counts
