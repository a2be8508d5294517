"""Byte-pair encoding: nothing is lost, and the merges are the learned ones."""

import json
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.tinylm import tokenizer as bpe
from stacklib.tinylm.tokenizer import Tokenizer, load_tokenizer, train_tokenizer

BOOK = load_tokenizer()


@given(st.binary(max_size=300))
@settings(max_examples=400, deadline=None)
def test_any_bytes_come_back(data):
    ids = BOOK.encode(data)
    assert BOOK.decode(ids) == data
    assert all(0 <= each < BOOK.end for each in ids)


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_text_streams_back(text):
    if any("\ud800" <= c <= "\udfff" for c in text):
        return  # a lone surrogate is no text
    assert "".join(BOOK.pieces(BOOK.encode(text))) == text


@pytest.mark.rows(
    "data",
    [
        b"",
        b"\x00",
        bytes(range(256)) * 3,
        b" " * 1000,
        b"a" * 5000,
        "naïve 東京 🚀".encode(),
    ],
)
def test_awkward_inputs_come_back(data):
    assert BOOK.decode(BOOK.encode(data)) == data


def slow_encode(tokenizer: Tokenizer, data: bytes) -> list[int]:
    """Word by word, merge by merge, in the order they were learned."""
    import re

    out = []
    for word in re.findall(tokenizer.pattern, data):
        ids = list(word)
        for number, pair in enumerate(tokenizer.merges):
            ids = bpe.joined(ids, pair, 256 + number)
        out += ids
    return out


@given(st.text(alphabet="the function returns a (x) 12\n\t.é", max_size=60))
@settings(max_examples=60, deadline=None)
def test_encoding_applies_every_merge_in_order(text):
    assert BOOK.encode(text) == slow_encode(BOOK, text.encode())


def slow_train(texts: list[str], merges: int) -> list[tuple[int, int]]:
    """Count every pair anew for each merge."""
    import re

    words = [list(w) for t in texts for w in re.findall(bpe.PATTERN, t.encode())]
    learned = []
    for new in range(256, 256 + merges):
        pairs = Counter(pair for word in words for pair in pairwise(word))
        best = min(pairs, key=lambda p: (-pairs[p], p))
        learned.append(best)
        words = [bpe.joined(word, best, new) for word in words]
    return learned


@given(st.lists(st.text(alphabet="abc d\n", min_size=30, max_size=80), min_size=2))
@settings(max_examples=30, deadline=None)
def test_training_counts_pairs_as_the_slow_way_does(texts):
    try:
        trained = train_tokenizer(texts, 256 + 6 + 1)
    except ValueError as error:
        assert "the texts give" in str(error)
        return
    assert list(trained.merges) == slow_train(texts, 6)


def test_the_vocabulary_of_the_book():
    assert BOOK.vocab == 2048 and BOOK.end == 2047
    assert BOOK.decode([BOOK.end]) == b""
    assert len(set(BOOK.spelled)) == 2047  # no two ids spell the same
    text = "The function returns a list."
    assert len(BOOK.encode(text)) < len(text) / 3


def test_a_saved_tokenizer_is_the_same(tmp_path):
    path = tmp_path / "t.json"
    BOOK.save(path)
    assert load_tokenizer(path) == BOOK
    assert path.read_bytes() == bpe.FILE.read_bytes()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON"),
        ("[]", "its format is not"),
        ('{"format": "other"}', "its format is not"),
        (json.dumps({"format": bpe.FORMAT}), "KeyError"),
        (
            json.dumps({"format": bpe.FORMAT, "pattern": "a", "merges": [[0, 256]]}),
            "merge 0 joins 0 and 256: no such id",
        ),
        (
            json.dumps(
                {"format": bpe.FORMAT, "pattern": "a", "merges": [[1, 2], [1, 2]]}
            ),
            "a merge is listed twice",
        ),
    ],
)
def test_a_broken_file_says_what_is_wrong(tmp_path, content, message):
    path = tmp_path / "broken.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        load_tokenizer(path)


def test_bad_calls_are_named():
    with pytest.raises(ValueError, match="id 2048 is outside"):
        BOOK.decode([2048])
    with pytest.raises(ValueError, match="id -1 is outside"):
        BOOK.decode([-1])
    with pytest.raises(TypeError, match="text is int"):
        BOOK.encode(7)
    with pytest.raises(ValueError, match="need 257"):
        train_tokenizer(["text"], 256)
    with pytest.raises(ValueError, match="the texts give"):
        train_tokenizer(["ab"], 300)


def test_half_a_character_waits_for_its_other_half():
    ids = list("é!".encode())
    assert list(BOOK.pieces(ids)) == ["", "é", "!", ""]
    assert list(BOOK.pieces(ids[:1])) == ["", "\ufffd"]
