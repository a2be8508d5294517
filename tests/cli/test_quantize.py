"""``stacklib quantize`` and ``stacklib formats``."""

import json

import pytest

from stacklib.cli import main
from stacklib.quantizers import FORMATS, Format, read_gguf

from ..quantizers.hugging_face import folder


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


def test_a_folder_becomes_a_file_or_a_folder(tmp_path, capsys):
    """As its loaders run it: tests/quantizers/test_checkpoints.py."""
    path = str(folder(tmp_path / "hf", "qwen2"))
    ask = ["quantize", path, "--scheme"]
    assert main([*ask, "q8_0"]) == 0
    assert "no tokenizer.json" in capsys.readouterr().out
    for scheme, out in (("q8_0", "m.gguf"), ("int4_g128", "Qwen-2.5")):
        line = [*ask, scheme, "--out", str(tmp_path / out)]
        assert main([*line, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["tensors"][scheme] >= 14 and told["file_bytes"] > told["bytes"]
        assert main(line) == 2 and "--force" in capsys.readouterr().err
        assert main([*line, "--force"]) == 0 and capsys.readouterr()
    for more, says in (
        (["nf4"], "one of mxfp4"),
        (["q8_0", "--method", "gptq"], "--method gptq"),
        (["q8_0", "--out", str(tmp_path / "m.safetensors")], "ends in .gguf"),
        (["q4_k", "--out", str(tmp_path / "m")], "known are int4_g128"),
        (["nvfp4", "--out", path], "--force"),
        (["nvfp4", "--out", path, "--force"], "the folder that is read"),
    ):
        assert main([*ask, *more]) == 2
        assert says in capsys.readouterr().err
    (tmp_path / "Qwen-2.5" / "other.safetensors").write_bytes(b"")
    line = [*ask, "nvfp4", "--out", str(tmp_path / "Qwen-2.5"), "--force"]
    assert main(line) == 2 and "other.safetensors" in capsys.readouterr().err
    kept = {"hf", "m.gguf", "Qwen-2.5"}
    assert {each.name for each in tmp_path.iterdir()} == kept


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
