"""``stacklib array``: the closed forms at a prompt."""

import json

import pytest

from stacklib import cli

CUBE = "array --m 512 --n 512 --k 512 --rows 32 --dataflow ws".split()


def test_a_cube_as_json_and_as_text(capsys):
    assert cli.main([*CUBE, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["cycles"], told["folds"], told["cols"]) == (155135, 256, 32)
    assert told["utilisation"] == pytest.approx(0.845, abs=5e-4)
    assert told["sram_reads"] == {"activations": 512 * 512 * 16, "weights": 512**2}
    assert cli.main(CUBE) == 0
    assert "last cycle       155,135\n" in capsys.readouterr().out
    assert cli.main([*CUBE, "--overlap", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cycles"] == 255 * 512 + 606 - 1


@pytest.mark.rows(
    ("words", "says"),
    [("--rows 0", "rows = 0"), ("--m 2.5", "2.5"), ("--dataflow rs", "ws, os, is")],
)
def test_bad_input_is_named(capsys, words, says):
    assert cli.main([*CUBE, *words.split()]) == 2
    assert says in capsys.readouterr().err
