"""``stacklib claims``: filters, one claim, errors that say what to type."""

import json

import pytest

from stacklib import pages
from stacklib.evidence.kinds import KINDS


def test_every_filter_counts_what_the_ledger_counts(run):
    for filters in (
        {},
        {"chapter": "1"},
        {"source": "003", "verdict": "open"},
        {"search": "hbm bandwidth"},
        {"chapter": "3", "search": "HBM", "verdict": "cited"},
    ):
        words = [word for k, v in filters.items() for word in (f"--{k}", v)]
        code, out, _ = run("claims", *words, "--json")
        found = json.loads(out)
        assert code == 0 and found["claims"] == [
            row.row for row in pages.claims(**filters)
        ]
        assert sum(found["counts"].values()) == len(found["claims"])
        _, out, _ = run("claims", *words)
        assert f"{len(found['claims'])} claims: " in out.splitlines()[-1]


def test_nothing_found_is_said(run):
    code, out, _ = run("claims", "--search", "no such words")
    assert code == 0 and out == "0 claims: none\n"


def test_one_claim_shows_document_condition_reason_review_and_derivation(run):
    _, out, _ = run("claims", "h200-vs-ddr5")
    assert "claimed 33 ×; The Whole Stack: Everything Between" in out
    said = f"\nclose (quantity: {KINDS['quantity'].rule})\nIf the chip is an H100 and "
    assert f"{said}the DDR5 a desktop's two DIMMs: 32.71 ×" in out
    _, out, _ = run("claims", "rubin-hbm-capacity")
    assert "A first review called it wrong." in out
    assert "capacity on the box = 288 GB" in out
    _, out, _ = run("claims", "tier-sram-latency")
    assert "claimed 0.5 to 2 ns" in out and "\nwrong (range: " in out
    code, out, _ = run("claims", "--verdict", "Agrees-with-its_source", "--json")
    found = json.loads(out)["claims"]
    assert code == 0 and {row["verdict"] for row in found} == {"agrees with its source"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--chapter", "11"], "no chapter '11': 1 to 10"),
        (["--source", "5"], "no document '5': 000, 001"),
        (["--verdict", "right"], "no verdict 'right': reproduced, close"),
        (["--search", " "], "write a word"),
        (["h200-rigde"], "h200-ridge"),
        (["h200-ridge", "--chapter", "1"], "with an id leave it out"),
    ],
)
def test_a_wrong_word_is_named(run, words, says):
    code, out, err = run("claims", *words)
    assert code == 2 and says in err and not out
