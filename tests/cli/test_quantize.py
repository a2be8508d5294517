"""``stacklib quantize`` and ``stacklib formats``."""

import json

import pytest

from stacklib.cli import main
from stacklib.quantizers import FORMATS, Format, read_gguf


def test_a_model_becomes_a_file(tmp_path, capsys):
    path = tmp_path / "m.gguf"
    assert main(["quantize", "draft", "--scheme", "q8_0", "--out", str(path)]) == 0
    said = capsys.readouterr().out
    assert f"{path.stat().st_size:,} B" in said and "q8_0" in said
    assert read_gguf(path).metadata["general.architecture"] == "llama"
    before = path.read_bytes()
    assert main(["quantize", "draft", "--scheme", "q4_0", "--out", str(path)]) == 2
    assert "--force" in capsys.readouterr().err and path.read_bytes() == before
    again = ["quantize", "draft", "--scheme", "q4_0", "--out", str(path), "--force"]
    assert main([*again, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["file_bytes"] == path.stat().st_size < len(before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scheme", "q4k9"], "did you mean"),
        (["--out", "m.bin"], ".gguf or .safetensors"),
        (["--scheme", "nf4", "--out", "{}/m.gguf"], "no type for nf4"),
        (["--method", "best"], "method='best'"),
        (["--out", "{}/none/m.gguf"], "none"),
    ],
)
def test_what_cannot_be_written(tmp_path, capsys, arguments, message):
    filled = [each.format(tmp_path) for each in arguments]
    assert main(["quantize", "draft", *filled]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_formats_are_listed_and_one_is_shown(capsys):
    assert main(["formats", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["formats"]
    assert [row["name"] for row in rows] == list(FORMATS)
    assert all(row["largest"] == Format(row["name"]).largest for row in rows)
    assert main(["formats", "e4m3fn", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["codes"]
    assert len(shown) == 256 and shown[126] == [126, 448.0] and shown[127][1] == "nan"
    assert main(["formats", "bf16"]) == 0
    assert "16 bits" in capsys.readouterr().out
    assert main(["formats", "nvfp4", "--json"]) == 0  # no format, but a scheme
    assert json.loads(capsys.readouterr().out)["bits"] == 4.5
    assert main(["formats", "q4_k"]) == 0 and "block_q4_k" in capsys.readouterr().out
    assert main(["formats", "e4m4"]) == 2
    assert "did you mean" in capsys.readouterr().err
