"""What the prose says is what the specs give today."""

import json
import re

import pytest
from _tools import brackets, leaves, roots, said, sentences, tree
from _tools.prose import Block
from _tools.said import Cell

from stacklib import hardware, models
from stacklib.cli.assumptions import assumptions, value
from stacklib.pages.figures_of import measured, published
from stacklib.pages.kernels import norms
from stacklib.pages.roofline import scaling
from stacklib.plots.live.parts import stand
from stacklib.quantity import (
    Quantity,
    UnknownName,
    assumed,
    chosen,
    counted,
    maximum,
    quoted,
    recorded,
    say,
    stamp,
)
from stacklib.quantity.constants import case
from stacklib.quantity.told import exact_count, of_a_formula

VALUES = {"decode.t_mem": "21.1 ms", "decode.busy": "one part in 300"}
TEXT = """It takes [21.5 ms](#q:decode.t_mem), no less. The units
were busy for [one part in 300](#q:decode.busy) of it. See `[9 ms](#q:decode.t_mem)`.

- A token: [21.1 ms](#q:decode.t_mem).
- Two e.g. tokens: [42 ms](#q:decode.t_mem) and [1 %](#q:decode.busy)
"""


def moved(text: str) -> list[str]:
    block = Block("book/page.md", "", text, "page")
    return [str(m) for m in sentences.moved([block], VALUES.__getitem__)]


def test_the_prose_says_what_the_cells_stored_and_the_specs_give(blocks):
    found = [str(m) for m in sentences.moved(blocks, sentences.present())]
    assert found == [], "\n".join([*found, "run make execute"])


def test_stored_texts_and_leaves_hold(blocks):
    cells = list(said.cells())
    faults = (
        said.faults(said.index(cells)),
        leaves.stale(cells),
        leaves.elsewhere(cells, blocks),
        leaves.turned(cells),
        leaves.unmeasured(cells),
    )
    assert [fault for found in faults for fault in found] == []


def test_a_count_that_is_known_exactly_has_all_its_digits(numbers):
    """Below a million, where no cell asked for two."""
    asked = [n for n in numbers.values() if n.stored.get("digits", 3) > 2]
    plain = [n for n in asked if "unit" not in n.stored and exact_count(n.quantity)]
    wholes = [n for n in plain if abs(n.quantity.si) < 1e6]
    assert len(wholes) > 500
    assert {n.text for n in wholes} >= {"65,504", "57,344"}
    assert [n.name for n in wholes if n.text != f"{n.quantity.si:,.0f}"] == []


def test_each_sentence_that_moves_is_printed_with_old_and_new():
    assert moved(TEXT) == [
        "book/page.md: It takes [21.5 ms -> 21.1 ms], no less.",
        "book/page.md: - Two e.g. tokens: [42 ms -> 21.1 ms] and "
        "[1 % -> one part in 300]",
    ]


def test_a_box_opens_no_sentence():
    box = ":::{takeaway}\n:name: t\nIt takes [21.5 ms](#q:decode.t_mem).\n:::\n"
    assert moved(box) == ["book/page.md: It takes [21.5 ms -> 21.1 ms]."]


def test_a_size_of_the_case_knows_its_row_in_whatever_is_chosen_of_it():
    assert chosen(case("readers"), label="x").key == "case/readers"
    assert leaves.current("case/readers") == case("readers")
    assert counted(pow, chosen(2), case("block")).note == "pow(2, 16)"  # as typed
    with pytest.raises(UnknownName, match="context"):
        case("contexts")


def test_a_number_at_which_a_control_stands_is_held_to_the_control():
    made = stand(norms, "columns", 768)
    assert (made.kind, made.key, made.label) == (
        "chosen",
        "live/kernels.norms/columns",
        "Numbers in a row",
    )
    for control, at in (("columns", 769), ("nosuch", 768)):
        with pytest.raises((ValueError, LookupError), match=control):
            stand(norms, control, at)
    with pytest.raises(ValueError, match="counts in %, not in ''"):
        stand(scaling, "serial", 10)
    share = stand(scaling, "serial", 10, "%")
    stored = say("t", n=(made, "It."), share=(share, "A share.")).stored()
    cell = Cell("chapters/04-kernels/norms.ipynb, cell 8", stored)
    assert [*leaves.stale([cell])] == []
    stored["nodes"] = [node.replace("768", "769") for node in stored["nodes"]]
    (fault,) = leaves.stale([Cell(cell.place, stored)])
    assert "is 769 (SI, of 1), but live/kernels.norms/columns is 768" in fault


def test_a_stand_in_a_unit_is_held_to_the_control_in_that_unit():
    made = stand("memory.scratchpad", "ring", 512, "KiB")
    assert (made.si, made.key) == (2**19, "live/memory.scratchpad/ring/KiB")
    assert 2**19 in leaves.ends(made.key)
    stored = say("t", n=(made, "It.")).stored()
    cell = Cell("chapters/03-memory/scratchpad.ipynb, cell 8", stored)
    assert [*leaves.stale([cell])] == []
    stored["nodes"] = [node.replace("524288", "512") for node in stored["nodes"]]
    assert len([*leaves.stale([Cell(cell.place, stored)])]) == 1


HBM = hardware.get("h100-sxm").memory_bandwidth
IDLE = {
    "times nothing": 0 * HBM / HBM + chosen(4.53),
    "to the power of nothing": (HBM / HBM) ** 0 * chosen(4.53),
    "the larger one": maximum(chosen(9, "TB/s per_chip"), HBM),
}


@pytest.mark.rows("lie", IDLE)
def test_a_number_that_shows_a_record_which_does_not_move_it_is_named(lie):
    (fault,) = leaves.idle([planted(IDLE[lie])])
    assert fault.endswith("and nothing read moves it")
    assert [*leaves.idle([planted(chosen(3, "GB") / HBM * 2)])] == []


def planted(number) -> Cell:
    """A cell that says a number."""
    stored = json.loads(json.dumps(say("t", a=(number, "A.")).stored()))
    return Cell("chapters/03-memory/x.ipynb, cell 2", stored)


def test_every_number_that_is_told_as_read_is_moved_by_what_was_read():
    assert [*leaves.idle(said.cells())] == []


def test_nothing_moves_after_a_refresh():
    fresh = brackets.refresh(TEXT, VALUES.__getitem__)
    assert moved(fresh) == []
    assert "`[9 ms](#q:decode.t_mem)`" in fresh


def test_a_changed_spec_moves_every_sentence_that_uses_it():
    text = brackets.refresh(TEXT, VALUES.__getitem__)
    block = Block("book/page.md", "", text, "page")
    faster = {**VALUES, "decode.t_mem": "10.5 ms"}
    assert len(sentences.moved([block], faster.__getitem__)) == 3


def test_the_command_counts_and_passes_but_check_fails(repo, capsys):
    (repo / "README.md").write_text("It takes [21.5 ms](#q:decode.t_mem).")
    assert sentences.main([], repo, VALUES.__getitem__) == 0
    assert capsys.readouterr().out == (
        "README.md: It takes [21.5 ms -> 21.1 ms].\n"
        "1 sentence changes; 1 computed numbers in use\n"
    )
    assert sentences.main(["--check"], repo, VALUES.__getitem__) == 1


def test_an_unknown_number_names_its_page(repo, capsys):
    (repo / "README.md").write_text("It takes [21.5 ms](#q:no.such).")
    assert sentences.main([], repo) == 2
    assert "README.md: no cell says a number 'no.such'" in capsys.readouterr().err


def said_of(quantity) -> str:
    """A number that rests on the bandwidth of an H100, as a cell would store it."""
    return json.dumps(say("decode", t_mem=(quantity, "A time")).stored())


BANDWIDTH = "h100-sxm.memory_bandwidth"
WIRES = hardware.get("h100-sxm").memory_bandwidth


def test_a_moved_spec_is_put_through_the_stored_derivation(repo, monkeypatch, capsys):
    (repo / "README.md").write_text("It takes [20.9 ms](#q:decode.t_mem).")
    (repo / "book" / "said.json").write_text(said_of(chosen(70, "GB") / WIRES))
    assert sentences.main(["--check"], repo) == 0
    now = leaves.current
    twice = {BANDWIDTH: 2 * WIRES.si}
    monkeypatch.setattr(leaves, "current", lambda key: twice.get(key) or now(key))
    assert sentences.main(["--check"], repo) == 1
    assert "It takes [20.9 ms -> 10.4 ms]." in capsys.readouterr().out


def pace(bandwidth):
    """A run on a bandwidth."""
    return bandwidth.si


def test_only_runs_on_a_moved_leaf_are_repeated(repo, monkeypatch):
    def notebook(name: str, quantity) -> Cell:
        stored = json.loads(said_of(quantity).replace("decode", name))
        return Cell(f"chapters/01-a/{name}.ipynb, cell 2", stored)

    rows = counted(len, "abcd", label="rows")
    cells = [
        notebook("a", rows * WIRES),  # the bandwidth is beside the run, not under it
        notebook("b", counted(pace, WIRES, label="a run on the bandwidth")),
        notebook("c", counted(len, "h100-sxm", label="a run on the device")),
    ]
    found = sentences._to_run(cells, {BANDWIDTH}, repo)
    assert {path.stem for path in found} == {"b", "c"}


def test_a_published_row_is_looked_up_and_a_quoted_figure_is_not():
    row = measured("B-0227")
    cell = json.loads(said_of(row / chosen(2, label="half")))
    assert list(leaves.stale([Cell("a", cell)])) == []
    moved = json.loads(json.dumps(cell).replace(f"{row.si!r}", f"{2 * row.si!r}"))
    (fault,) = leaves.stale([Cell("a", moved)])
    assert "B-0227 is" in fault
    (fault,) = leaves.stale(
        [Cell("a", json.loads(said_of(row).replace("B-0227", "B-9999")))]
    )
    assert "no measurement is called B-9999" in fault
    quoted = published(3.0, "TFLOP/s", "a speed", "somebody's page", "page/speed")
    assert list(leaves.stale([Cell("a", json.loads(said_of(quoted)))])) == []


A100, H100 = hardware.get("a100_sxm_80gb"), hardware.get("h100_sxm")
LAYERS = models.get("llama-3-8b").layer_parameters()
# What is said, of which number, and of what it is told beside what it stands on.
ELSEWHERE = [
    ("What an H100's memory hands over", A100.memory_bandwidth, "H100", "A100"),
    ("What two H100s hand over", A100.memory_bandwidth, "H100", "A100"),
    ("A layer of Llama-3-70B", LAYERS, "Llama-3-70B", "Llama-3-8B"),
    ("A layer of Llama 3 70B", LAYERS, "Llama-3-70B", "Llama-3-8B"),
    ("Bandwidth", A100.tdp.named("design power of a B200"), "B200", "A100"),
]


@pytest.mark.rows(("what", "number", "told", "stands"), ELSEWHERE)
def test_a_number_of_another_device_or_model_is_named(what, number, told, stands):
    (fault,) = leaves.elsewhere([Cell("a", say("t", a=(number, what)).stored())])
    assert fault.endswith(f"is told of {told} and stands on {stands} alone")


def test_a_sentence_that_links_the_number_of_another_device_is_named():
    both = (H100.memory_bandwidth / A100.memory_bandwidth).named("H100 over A100")
    said_ = say("t", a=(A100.memory_bandwidth, "It"), both=(both, "Both")).stored()
    lie, fair = "An H100 reads [2 TB/s](#q:t.a).", "[2](#q:t.both) of an H100 are more."
    told = [
        [*leaves.elsewhere([Cell("a", said_)], [Block("p.md", "", text, "page")])]
        for text in (
            lie,
            fair,
            "Of an A100 [2 TB/s](#q:t.a), of an H100 [2](#q:t.both).",
        )
    ]
    assert [len(faults) for faults in told] == [1, 0, 0]
    assert told[0][0].endswith("is told of H100 and stands on A100 alone")


def test_what_a_model_made_is_not_called_measured():
    row = recorded("benchmarks/results/jit_time.json", "fma-16", "times_s/median")
    share = row * assumed(0.99, "", "a share", why="Software takes the rest.")
    told = [(row, "Measured time"), (share, "Measured time"), (share, "Predicted time")]
    faults = [
        [*leaves.unmeasured([Cell("a", say("t", a=(number, what)).stored())])]
        for number, what in told
    ]
    assert faults == [[], ["a: t.a is called measured and is predicted"], []]


def test_a_link_told_of_the_other_direction_is_named():
    one, both = H100.fields["link"], H100.fields["link"].retag("bidirectional", 2)
    pairs = [(one, "each way"), (one, "both ways"), (both, "one direction"), (both, "")]
    for number, words in pairs:
        cell = Cell("a", say("t", a=(number, f"A link, {words}")).stored())
        faults = list(leaves.turned([cell]))
        assert len(faults) == (words in ("both ways", "one direction")), words


# A record of each kind; its source in a stored leaf is another's.
RECORDS = [
    A100.memory_bandwidth,
    hardware.link("nvlink4").per_direction,
    hardware.memory("hbm3").fields["pins"],
    quoted("llama3.training_share"),
    models.get("llama-3-8b").parameters,
    measured("B-0227"),
    recorded("benchmarks/results/jit_time.json", "fma-16", "times_s/median", unit="s"),
]


@pytest.mark.rows("record", RECORDS)
def test_an_invented_source_is_named(record):
    leaf = next(leaf for leaf in record.leaves() if leaf.source)
    cell = Cell("a", say("t", a=(leaf, "It")).stored())
    assert list(leaves.stale([cell])) == []
    (node,) = cell.nodes
    node["source"][0] = "Somebody et al., 2026"
    (fault,) = leaves.stale([cell])
    assert "is told of 'Somebody et al., 2026', but" in fault
    if leaf.key.startswith("quotes/"):
        node["source"][:2] = [leaf.source.title, "section 9"]
        assert "is told of ['section 9'" in next(leaves.stale([cell]))


def test_an_end_of_a_claimed_range_stays_and_another_value_moves():
    seen = [sentences._now("claims/breakeven-300-500", x) for x in (300, 500, 400)]
    assert seen == [300, 500, 300]


def test_every_leaf_of_the_book_says_what_it_is(numbers):
    bare = [
        f"{number.cell.place}: {name} rests on {leaf!r}"
        for name, number in numbers.items()
        for leaf in number.quantity.leaves()
        if leaf.kind in ("bare", "computed")
        or (leaf.kind == "assumed") > bool(leaf.note)
    ]
    assert bare == [], "\n".join(bare)


# Numbers with a whole factor that is of no formula and says nothing of itself: what a
# synthesis or a plan counted, as a plain number. They may only become fewer.
UNNAMED = 33


def unnamed(number) -> bool:
    """Whether a number stands on such a factor."""
    return any(
        p.kind == "constant"
        and not (p.label or p.key or p.shown.dims or of_a_formula(p.si))
        for p in roots.nodes(number)
    )


def test_a_factor_says_what_it_counts(numbers):
    held = [name for name, number in numbers.items() if unnamed(number.quantity)]
    assert len(held) == UNNAMED, held
    assert unnamed(HBM * 417) and not unnamed(HBM * chosen(417, label="chips"))


MOST = 77  # judgements of eight chapters; a better source takes one away


def test_the_assumptions_of_the_book_only_become_fewer():
    rows = assumptions(tree.ROOT)
    # What is fitted has rows and an interval, and in test_factors a bound of its own.
    judged = [row for row in rows if not row["why"].startswith("fitted on ")]
    assert len(judged) <= MOST, f"{len(judged)} assumptions; read a source instead"

    short = [row["what"] for row in rows if len(row["why"].split()) < 3]
    assert short == []


def test_an_assumed_whole_number_is_not_rounded():
    assert value(Quantity(2024, "year")) == "2,024 years"
    assert value(Quantity(0.12345, "pJ/bit")) == "0.123 pJ/bit"


def test_a_model_without_a_band_is_named_in_words(numbers):
    """And whose rows have bands by their cell, is stamped with the cell."""
    bars = {said.error_bar(number.quantity) for number in numbers.values()}
    bare = [bar for bar in bars if bar.startswith(said.NOT_VALIDATED)]
    told = {name for bar in bare for name in bar.partition(": ")[2].split(", ")}
    assert told <= {*said.MODELS.values()} and len(told) > 5


def drawn(path) -> set[str]:
    """Names of the numbers that the drawings of a notebook show."""
    cells = tree.read_notebook(path).cells
    outputs = [o for cell in cells for o in cell.get("outputs", ())]
    html = "".join(str(o.get("data", {}).get("text/html", "")) for o in outputs)
    return set(re.findall(r'data-q="([^"]+)"', html))


def test_every_number_is_linked_and_every_link_is_said(numbers, blocks):
    linked = set(sentences.used(blocks))
    assert linked - set(numbers) == set()
    boxes = "".join(block.text for block in blocks)
    shown = set().union(*map(drawn, tree.notebooks()))  # they open in their drawing
    left = set(numbers) - linked - shown
    unused = {n for n in left if not re.search(rf": {n}\b", boxes)}
    assert unused == set()


def test_a_band_goes_with_its_family_and_a_count_has_none(monkeypatch):
    band = hardware.ErrorBand(0.15, 0.5, 70)
    monkeypatch.setattr(hardware, "error_band", {"A": band}.get)
    time = stamp(chosen(3, "s") * 2, "A")
    assert said.error_bar(time * 80) == (
        "half of the predictions are within 15 %, nine in ten within 50 %, "
        "of 70 rows never seen"
    )
    ends = hardware.ErrorBand(0.15, 0.5, 70, 0.8, 1.6, "A")
    monkeypatch.setattr(hardware, "error_band", {"A": ends}.get)
    assert said.error_bar(time) == (
        "half of the predictions are within 15 %, nine in ten measured times are "
        "80 to 160 % of the predicted, of 70 rows never seen"
    )
    assert said.error_bar(stamp(time, "X")) == "not yet validated: X"
    assert said.error_bar(stamp(time, "chase")).endswith(": the pointer chase")
    bandwidth = hardware.get("h100-sxm").memory_bandwidth
    assert said.error_bar(chosen(1, "GB") / bandwidth) == said.NO_MODEL
    assert said.error_bar(chosen(3) * 2) == ""
    assert said.error_bar(counted(len, "abc", label="c") * 2) == ""
