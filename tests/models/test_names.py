"""Names of models: ids of releases, and what a prefix may leave open."""

import re

import pytest

from stacklib import models
from stacklib.models import rows
from stacklib.models.rows import key_of, row
from stacklib.quantity import UnknownName
from stacklib.quantity.names import fold

IDS = [(one, key) for key in models.names() for one in row(key).get("ids", ())]


@pytest.mark.rows("one, key", IDS)
def test_a_release_answers_to_its_id_with_and_without_its_organisation(one, key):
    assert key_of(one) == key_of(one.upper()) == key_of(one.split("/")[-1]) == key


def test_no_two_rows_have_one_name():
    said = [fold(one.split("/")[-1]) for one, _ in IDS] + [
        fold(k) for k in models.names()
    ]
    twice = {name for name in said if said.count(name) > 1}
    # an id whose last part is the key itself
    assert all(fold(key_of(name)) == name for name in twice)
    assert len({one.lower() for one, _ in IDS}) == len(IDS)


def test_a_prefix_that_resolves_has_every_digit_of_release_and_size():
    """Every prefix of every key: what is found was named to the last word and digit."""
    resolved = 0
    for key in models.names():
        for end in range(1, len(key)):
            try:
                found = key_of(key[:end])
            except UnknownName as told:
                last = str(told).splitlines()[-1]
                assert last.startswith("did you mean: ")
                continue
            if any(
                fold(key[:end]) == fold(o.split("/")[-1]) for o, k in IDS if k == found
            ):
                continue
            plain = re.sub(r"-a[\d.]+b$", "", found)
            digits = [re.findall(r"\d", text) for text in (key[:end], found, plain)]
            assert digits[0] in digits[1:], (key[:end], found)
            words = [
                len(re.split("-+", text.strip("-"))) for text in (key[:end], plain)
            ]
            assert words[0] >= words[1], (key[:end], found)
            resolved += 1
    assert resolved > 80


def test_a_word_not_begun_is_not_left_open(monkeypatch):
    """GLM-4.5 is another model, whether it has a row or not."""
    monkeypatch.setattr(rows, "names", lambda: ("glm-4.5-air",))
    monkeypatch.setattr(rows, "_aliases", dict)
    monkeypatch.setattr(rows, "_keys", dict)
    with pytest.raises(UnknownName, match="leaves release or size open"):
        rows.key_of("glm-4.5")
    assert rows.key_of("glm-4.5-a") == "glm-4.5-air"


@pytest.mark.rows(
    "name, offered",
    [
        ("llama-3.1", "llama-3.1-405b, llama-3.1-70b, llama-3.1-8b"),
        ("qwen2.5", "qwen2.5-0.5b, qwen2.5-1.5b"),
        ("gpt-oss", "gpt-oss-120b, gpt-oss-20b"),
        ("mistral-7b", "mistral-7b-v0.1"),
        ("minimax", "minimax-m2.5"),
        ("gpt3", "gpt3-175b"),
        ("glm-4.", "glm-4.5, glm-4.5-air, glm-4.6, glm-4.7"),
        ("somebody/Llama-3.1-8B-Instruct", "llama-3.1-8b"),
        ("RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic", "llama-3.3-70b"),
        ("lama-3.1-8b", "llama-3.1-8b"),
        ("moonshotai/Kimi-K2-Thinking", "kimi-k2"),  # in INT4, and kimi-k2 in FP8
    ],
)
def test_what_leaves_release_or_size_open_is_refused_with_candidates(name, offered):
    with pytest.raises(UnknownName) as told:
        models.get(name)
    assert str(told.value).splitlines()[-1].startswith(f"did you mean: {offered}")


@pytest.mark.rows(
    "name, key",
    [
        ("mixtral-8x7b", "mixtral-8x7b-v0.1"),  # the only release, a name of its row
        ("qwen3-30b", "qwen3-30b-a3b"),
        ("LLAMA_4_sc", "llama-4-scout"),
        ("glm-4.5", "glm-4.5"),
        ("glm-4.5-a", "glm-4.5-air"),
        ("qwen3 8b", "qwen3-8b"),
    ],
)
def test_what_leaves_neither_open_is_found(name, key):
    assert models.get(name).key == key
