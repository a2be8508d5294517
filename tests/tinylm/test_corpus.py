"""The text the model reads: what is kept, what is refused, what is never repeated."""

import ast
import platform

import pytest

from stacklib.tinylm import corpus
from stacklib.tinylm.corpus import Document

SOURCE = '''"""What it is.

More of it.
"""
import os

# Why this
# is so.
LIMIT = 3  # a remark at the end of a line


@decorated
def area(width,
         height):
    """Their product."""
    # said inside
    return width * height


class Box:
    side = 1

    def volume(self): return 1
'''

KEPT = '''"""What it is.

More of it.
"""

# Why this
# is so.

def area(width,
         height):
    """Their product."""
    # said inside

class Box:

    def volume(self): return 1
'''


def test_a_module_keeps_what_it_says_and_loses_its_code():
    assert corpus.said_by(SOURCE) == KEPT


def test_a_string_that_looks_like_a_comment_is_code():
    assert corpus.said_by('x = """\n# no comment\n"""\n') == ""


def test_the_snapshot_is_whole_and_free_of_paths():
    documents = corpus.own_prose()
    names = [d.name for d in documents]
    assert len(set(names)) == len(names) > 400
    assert all(name.startswith("own/") for name in names)
    whole = "".join(d.text for d in documents)
    assert corpus.SEPARATOR not in whole
    assert len(whole.encode()) > 800_000


def test_evaluation_text_is_held_out_and_the_same_under_every_python():
    documents = corpus.evaluation_text()
    assert len(documents) > 20
    assert all(d.is_held_out for d in documents)
    size = sum(len(d.text.encode()) for d in documents)
    assert 40_000 < size < 80_000
    assert corpus.digest(documents) == (
        "545d98dc87124a406427cce0b01b0f292c24737080c41429069026879e06463b"
    )


def test_no_paragraph_comes_twice_and_held_out_text_comes_first():
    names = [f"d{i}" for i in range(60)]
    held = next(n for n in names if Document(n, "").is_held_out)
    open_ = next(n for n in names if not Document(n, "").is_held_out)
    long = "A paragraph that is long enough to tell something of what is held out."
    short = "Short."
    cleaned = corpus.without_repeats(
        [
            Document(open_, f"{long}\n\n{short}\n\nIts own.\n"),
            Document(held, f"{short}\n\n{long.replace(' is ', chr(10) + ' is ')}\n"),
            Document("only-a-copy", long),
        ]
    )
    assert {d.name: d.text for d in cleaned} == {
        open_: "Short.\n\nIts own.\n",
        held: f"{short}\n\n{long.replace(' is ', chr(10) + ' is ')}\n",
    }


def test_an_unknown_release_is_refused_with_its_digest(monkeypatch):
    strange = [Document("topics/assert", "another text\n")]
    monkeypatch.setattr(corpus, "from_cpython", lambda: strange)
    with pytest.raises(corpus.CorpusError) as error:
        corpus.corpus()
    message = str(error.value)
    assert corpus.digest(strange) in message
    assert platform.python_version() in message and "3.11.7" in message
    assert "evaluation_text()" in message


def test_a_digest_tells_names_texts_and_order_apart():
    a, b = Document("a", "x"), Document("b", "x")
    digests = {
        corpus.digest(each)
        for each in ([a, b], [b, a], [a], [Document("a", "y")], [Document("b", "x")])
    }
    assert len(digests) == 5


@pytest.mark.slow  # it reads the whole standard library
def test_this_python_gives_an_accepted_text_or_says_so():
    found = corpus.from_cpython()
    if corpus.digest(found) not in corpus.accepted().values():
        pytest.skip(f"Python {platform.python_version()} is not among those read")
    documents = corpus.corpus()
    train = [d for d in documents if not d.is_held_out]
    held = [d for d in documents if d.is_held_out]
    assert sum(len(d.text.encode()) for d in train) > 3_000_000
    assert len(held) > 60
    said = {p for d in train for p in paragraphs(d)}
    assert not said & {p for d in held for p in paragraphs(d)}


def paragraphs(document: Document) -> set[str]:
    """Its long paragraphs, whatever their white space."""
    bare = (" ".join(p.split()) for p in document.text.split("\n\n"))
    return {p for p in bare if len(p) >= corpus.SHORT}


def test_the_comments_of_a_module_survive_parsing():
    # Signatures without bodies are no program; what is kept must still read in order.
    text = corpus.said_by("def f():\n    pass\n# end\n")
    assert text == "def f():\n\n# end\n"
    with pytest.raises(SyntaxError):
        ast.parse(text)
