"""Text as it streams: whole characters, nothing of a stop string, any cut."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.serving.text.stream import TextStream
from stacklib.tinylm import load_tokenizer


def read(pieces, stop=()):
    """What comes out for each piece of bytes, and the stop string that ended it."""
    stream = TextStream(lambda ids: b"".join(pieces[each] for each in ids), stop)
    out = [stream.feed(each) for each in range(len(pieces))]
    return [*out, stream.close()], stream.stopped


def whole(data, stop):
    """The slow version: one character more, until the text ends in a stop string."""
    text = data.decode("utf-8", "replace")
    for end in range(1, len(text) + 1):
        found = [each for each in stop if text[:end].endswith(each)]
        if found:
            return text[: end - len(max(found, key=len))]
    return text


@pytest.mark.parametrize(
    ("pieces", "stop", "expected", "stopped"),
    [
        ([b"\xc3", b"\xa9!"], (), ["", "\u00e9!", ""], None),
        ([b"\xf0\x9f", b"\x98", b"\x80"], (), ["", "", "\U0001f600", ""], None),
        ([b"a\xc3"], (), ["a", "\ufffd"], None),  # the other half never came
        ([b"one\n", b"\ntwo"], ("\n\n",), ["one", "", ""], "\n\n"),
        ([b"one\n", b"two"], ("\n\n",), ["one", "\ntwo", ""], None),
        ([b"one\n"], ("\n\n",), ["one", "\n"], None),
        ([b"ab", b"ac", b"d"], ("abacx",), ["", "", "abacd", ""], None),
        ([b"aab"], ("ab",), ["a", ""], "ab"),
        ([b"xabcd"], ("abcd", "bc"), ["xa", ""], "bc"),  # complete first
        ([b"xab"], ("b", "ab"), ["x", ""], "ab"),  # at once: the longer
        ([b"a", b"STOP", b"b"], ("STOP",), ["a", "", "", ""], "STOP"),
        ([b"\xc3", b"\xa9x"], ("\u00e9",), ["", "", ""], "\u00e9"),
        ([b""], ("a",), ["", ""], None),
    ],
)
def test_each_piece(pieces, stop, expected, stopped):
    assert read(pieces, stop) == (expected, stopped)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from([b"a", b"b", b"ab", b"\xc3", b"\xa9", b"aa\xc3\xa9"])),
    st.lists(st.text("ab\u00e9\ufffd", min_size=1, max_size=4), max_size=3),
)
def test_no_cut_into_tokens_changes_the_text(pieces, stop):
    out, stopped = read(pieces, stop)
    data = b"".join(pieces)
    assert "".join(out) == whole(data, stop)
    assert (stopped is None) == ("".join(out) == data.decode("utf-8", "replace"))
    single = [data[at : at + 1] for at in range(len(data))]
    assert "".join(read(single, stop)[0]) == "".join(out)


def test_the_books_tokens_give_the_text_back():
    tokenizer = load_tokenizer()
    text = "r\u00e9sum\u00e9 \U0001f600 def f(x):\n\n    return"
    stream = TextStream(tokenizer.decode, ["\n\n"])
    out = "".join(stream.feed(each) for each in tokenizer.encode(text))
    assert out == text.split("\n\n")[0] and stream.stopped == "\n\n"


@pytest.mark.parametrize("stop", ["END", [""], ["a", ""], [None], [b"a"]])
def test_a_stop_string_is_text(stop):
    with pytest.raises(ValueError, match="stop ="):
        TextStream(bytes, stop)
