"""Training: the same from the same seed, and a stopped run goes on as if it had not."""

import json

import numpy as np
import pytest
import torch

from stacklib.tinylm import corpus, recipes
from stacklib.tinylm import train_torch as tt
from stacklib.tinylm.config import read_config, shapes
from stacklib.tinylm.corpus import Document
from stacklib.tinylm.muon_torch import Muon, orthogonal
from stacklib.tinylm.recipes import LAST, Recipe, pace
from stacklib.tinylm.weights import read_weights


@pytest.fixture(autouse=True)
def little_text(monkeypatch):
    """A corpus that is read in no time, held-out documents among it."""
    text = "The function returns a list of the names that it was given.\n" * 40
    documents = [
        Document(f"d{i}", text.replace("list", f"list {i}")) for i in range(60)
    ]
    assert any(d.is_held_out for d in documents)
    monkeypatch.setattr(corpus, "corpus", lambda: documents)
    monkeypatch.setattr(recipes, "PROBED", 2)


RECIPE = Recipe(steps=6, batch=2, tokens=64, warmup=2)


def run(out, resume=False, name="draft_plain", recipe=RECIPE, teacher=None):
    """One short training."""
    result = tt.train(name, out, recipe=recipe, resume=resume, teacher=teacher, every=2)
    config = read_config(out / "config.json")
    return result, read_weights(out, shapes(config))


def equal(a: dict, b: dict) -> bool:
    """Whether every weight is bit for bit the same."""
    return all(np.array_equal(a[name], b[name]) for name in a)


def test_the_same_seed_gives_the_same_weights_and_another_gives_others(tmp_path):
    one, first = run(tmp_path / "a")
    _, second = run(tmp_path / "b")
    assert equal(first, second)
    other = Recipe(steps=6, batch=2, tokens=64, warmup=2, seed=1)
    assert not equal(first, run(tmp_path / "c", recipe=other)[1])
    losses = [point["loss"] for point in one["curve"]]
    assert [point["step"] for point in one["curve"]] == [2, 4, 6]
    assert losses[-1] < losses[0]
    assert one["parameters"] == sum(w.size for w in first.values()) == 229_696


def test_a_run_that_was_stopped_ends_with_the_weights_it_would_have_had(
    tmp_path, monkeypatch
):
    _, whole = run(tmp_path / "whole")
    saved = tt.save_checkpoint

    def stopping(*arguments):
        saved(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(tt, "save_checkpoint", stopping)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "cut")
    monkeypatch.setattr(tt, "save_checkpoint", saved)
    result, resumed = run(tmp_path / "cut", resume=True)
    assert equal(whole, resumed)
    assert [point["step"] for point in result["curve"]] == [2, 4, 6]


def test_a_checkpoint_of_another_recipe_is_not_resumed(tmp_path, monkeypatch):
    run(tmp_path / "a")
    (tmp_path / "a" / "model.safetensors").unlink()
    other = Recipe(steps=8, batch=2, tokens=64, warmup=2)
    with pytest.raises(SystemExit, match="another recipe"):
        run(tmp_path / "a", resume=True, recipe=other)


def test_a_finished_run_is_not_trained_over(tmp_path, capsys):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "training.json").write_text("{}")
    with pytest.raises(SystemExit):
        tt.main(["tiny", "--out", str(tmp_path / "x")])
    assert "choose another --out" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        tt.main(["tiny", "--out", str(tmp_path / "y"), "--steps", "0"])
    assert "--steps 0" in capsys.readouterr().err


def test_the_command_writes_a_run(tmp_path):
    out = tmp_path / "run"
    assert tt.main(["draft_plain", "--out", str(out), "--steps", "2"]) == 0
    run_of = json.loads((out / "training.json").read_text())
    assert run_of["recipe"]["steps"] == 2 and run_of["seconds"] > 0
    names = {path.name for path in out.iterdir()}
    assert {"model.safetensors", "weights.json", "config.json"} <= names


def test_a_teacher_that_is_the_student_has_nothing_to_teach():
    logits = torch.randn(2, 3, 11)
    assert tt.teacher_loss(logits, logits).item() == pytest.approx(0, abs=1e-6)
    p, q = logits.softmax(-1), torch.randn(2, 3, 11)
    by_hand = (p * (p.log() - q.log_softmax(-1))).sum(-1).mean()
    assert tt.teacher_loss(q, logits).item() == pytest.approx(by_hand.item(), rel=1e-5)


def test_an_epoch_reads_every_sequence_once():
    stream = np.arange(64 * 21 + 1)
    recipe = Recipe(steps=9, batch=2, tokens=64)
    per_epoch = (len(stream) - 65) // 64 // 2
    starts = []
    for step in range(per_epoch):
        batch = tt.batch_at(stream, recipe, step).numpy()
        assert (np.diff(batch, axis=1) == 1).all()
        starts += batch[:, 0].tolist()
    assert len(set(starts)) == 2 * per_epoch
    assert len({start % 64 for start in starts}) == 1
    again = tt.batch_at(stream, recipe, per_epoch).numpy()[:, 0]
    assert again.tolist() != starts[:2]


def test_learning_rates_rise_stay_and_fall():
    recipe = Recipe(steps=1000)
    shares = [pace(recipe, step) for step in range(1000)]
    assert shares[0] == pytest.approx(1 / recipe.warmup)
    assert shares[recipe.warmup - 1] == shares[400] == 1
    assert shares[-1] == pytest.approx(LAST, abs=0.002)
    assert shares[400:] == sorted(shares[400:], reverse=True)


@pytest.mark.rows("shape", [(8, 8), (8, 24), (24, 8)])
def test_muon_lifts_every_singular_value_near_one(shape):
    torch.manual_seed(0)
    values = torch.linalg.svdvals(orthogonal(torch.randn(shape)))
    assert values.min() > 0.5 and values.max() < 1.3
    # and keeps the directions
    matrix = torch.randn(shape)
    u, _, v = torch.linalg.svd(matrix, full_matrices=False)
    cosine = torch.nn.functional.cosine_similarity
    near = cosine(orthogonal(matrix).flatten(), (u @ v).flatten(), dim=0)
    assert near > 0.95


def test_muon_takes_a_first_step_of_its_size():
    weight = torch.zeros(6, 6, requires_grad=True)
    u, _ = torch.linalg.qr(torch.randn(6, 6))
    v, _ = torch.linalg.qr(torch.randn(6, 6))
    # Five rounds lift what is not far below the largest; 1 to 6 is near enough.
    weight.grad = u @ torch.diag(torch.arange(1.0, 7)) @ v
    Muon([weight], lr=0.5).step()
    values = torch.linalg.svdvals(weight.detach())
    assert 0.25 < values.min() and values.max() < 0.65
