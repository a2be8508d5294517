"""What the prose says is what the specs give today."""

from _tools import prose, sentences
from _tools.prose import Block

VALUES = {"decode.t_mem": "21.1 ms", "decode.busy": "one part in 300"}
TEXT = """It takes [21.5 ms](#q:decode.t_mem), no less. The units
were busy for [one part in 300](#q:decode.busy) of it. See `[9 ms](#q:decode.t_mem)`.

- A token: [21.1 ms](#q:decode.t_mem).
- Two e.g. tokens: [42 ms](#q:decode.t_mem) and [1 %](#q:decode.busy)
"""


def moved(text: str) -> list[str]:
    block = Block("book/page.md", "", text, "page")
    return [str(m) for m in sentences.moved([block], VALUES.__getitem__)]


def test_the_prose_says_what_the_specs_give():
    found = [str(m) for m in sentences.moved(prose.blocks())]
    assert found == [], "\n".join([*found, "run make execute"])


def test_each_sentence_that_moves_is_printed_with_old_and_new():
    assert moved(TEXT) == [
        "book/page.md: It takes [21.5 ms -> 21.1 ms], no less.",
        "book/page.md: - Two e.g. tokens: [42 ms -> 21.1 ms] and "
        "[1 % -> one part in 300]",
    ]


def test_a_box_opens_no_sentence():
    box = ":::{takeaway}\n:name: t\nIt takes [21.5 ms](#q:decode.t_mem).\n:::\n"
    assert moved(box) == ["book/page.md: It takes [21.5 ms -> 21.1 ms]."]


def test_nothing_moves_after_a_refresh():
    fresh = sentences.refresh(TEXT, VALUES.__getitem__)
    assert moved(fresh) == []
    assert "`[9 ms](#q:decode.t_mem)`" in fresh


def test_a_changed_spec_moves_every_sentence_that_uses_it():
    text = sentences.refresh(TEXT, VALUES.__getitem__)
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
    assert "README.md: no number named 'no.such'" in capsys.readouterr().err
