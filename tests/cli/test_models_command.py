"""`stacklib models`: the list, one model, a config of one's own."""

import json
from dataclasses import replace

import pytest

from stacklib import models


def test_the_list_holds_counted_to_published(run):
    status, out, _ = run("models")
    assert status == 0
    assert len(out.splitlines()) == 1 + len(models.names())
    assert "405,853,388,800" in out
    status, out, _ = run("models", "--json")
    rows = json.loads(out)["models"]
    assert status == 0 and all(row["holds"] for row in rows)


def test_a_count_that_disagrees_is_an_exit_status(run, monkeypatch):
    rows = models.audit()
    monkeypatch.setattr(models, "audit", lambda: [replace(rows[0], difference=5)])
    assert run("models")[0] == 1


def test_one_model_with_its_work(run):
    status, out, _ = run("models", "deepseek-v3", "--work", "--json")
    found = json.loads(out)
    assert status == 0
    assert found["parameters"] == 671026419200
    assert found["kv_bytes_per_token"] == 70272
    assert len(found["work"]) == 62
    status, out, _ = run("models", "gemma-2-2b", "--work", "--phase", "prefill")
    assert status == 0 and "GQA, window 4096" in out


def test_a_config_file_of_ones_own(run, tmp_path):
    path = tmp_path / "config.json"
    path.write_text(
        json.dumps(
            {
                "model_type": "llama",
                "vocab_size": 32000,
                "hidden_size": 4096,
                "intermediate_size": 11008,
                "num_hidden_layers": 32,
                "num_attention_heads": 32,
                "max_position_embeddings": 4096,
            }
        )
    )
    status, out, _ = run("models", str(path))
    assert status == 0 and "6,738,415,616" in out
    status, out, _ = run("fit", str(path), "--on", "h100", "--json")
    assert status == 0 and json.loads(out)["weights_bytes"] == 2 * 6738415616


@pytest.mark.parametrize(
    "argv, says",
    [
        (["models", "llama-9"], "did you mean"),
        (["models", "absent.json"], "No such file"),
        (["models", "llama-3-8b", "--context", "-1"], "context = -1"),
        (["models", "llama-3-8b", "--dtype", "bf61"], "'bf61'"),
        (["models", "llama-3-8b", "--phase", "train"], "train"),
    ],
)
def test_bad_requests_exit_with_two(argv, says, run):
    status, _, err = run(*argv)
    assert status == 2 and says in err
