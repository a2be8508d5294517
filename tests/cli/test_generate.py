"""``stacklib generate``: text as it is made, or one JSON object."""

import json

import pytest

from stacklib.cli import main


def test_text_goes_on_from_the_prompt(capsys):
    assert main(["generate", "Return a list of", "--tokens", "12"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Return a list of") and len(out) > 20
    assert "loaded in" in err and "measured" in err


def test_json_holds_the_same_text(capsys):
    main(["generate", "Return", "--tokens", "12", "--seed", "5"])
    printed = capsys.readouterr().out
    assert main(["generate", "Return", "--tokens", "12", "--seed", "5", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["prompt"] + made["text"] + "\n" == printed
    assert made["model"] == "tiny" and made["load_s"] >= 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x", "--tokens", "0"], "tokens = 0"),
        (["x", "--tokens", "two"], "'two'"),
        (["x", "--temperature", "nan"], "temperature = nan"),
        (["x", "--temperature", "hot"], "hot"),
        (["x", "--top-p", "0"], "top_p = 0"),
        (["x", "--model", "tny"], "did you mean: tiny"),
    ],
)
def test_bad_input_names_the_value(capsys, arguments, message):
    assert main(["generate", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_without_numpy_it_says_what_to_install(monkeypatch, capsys):
    import sys

    for name in [n for n in sys.modules if n.startswith("stacklib.tinylm")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("stacklib.tinylm", raising=False)
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert main(["generate", "x"]) == 2
    assert "pip install numpy" in capsys.readouterr().err
