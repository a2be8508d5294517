"""Byte-level byte-pair encoding: text to token ids and back, without loss.

Ids 0 to 255 are the bytes. Id 256 + i is the i-th merge: two earlier ids side by
side. The last id ends a document and stands for no bytes. Encoding cuts the bytes
into words (`PATTERN`) and, within each word, joins the pair whose merge was learned
first until none is left (Sennrich et al., 2016, section 3.2). Every byte belongs to
some word and every word starts as its bytes, so decoding gives back the input, be
it text or not.

`data/tokenizer.json` holds `format`, `pattern` and `merges`, a list of pairs of ids.
"""

from __future__ import annotations

import codecs
import itertools
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeAlias

from stacklib.sweep import progress

FILE = Path(__file__).parent / "data" / "tokenizer.json"
FORMAT = "stacklib byte-pair encoding, version 1"
# A word with the space before it, a digit, a run of punctuation with the space before
# it, or white space; of several spaces the last goes to the word after them (GPT-2's
# rule). Bytes above 127 count as letters: UTF-8 keeps a character's bytes together.
PATTERN = rb" ?[A-Za-z\x80-\xff]+|[0-9]| ?[^\sA-Za-z0-9\x80-\xff]+|\s+(?!\S)|\s+"
CACHED_WORDS = 1 << 16

Pair: TypeAlias = tuple[int, int]


def joined(ids: Sequence[int], pair: Pair, new: int) -> list[int]:
    """``ids`` with each occurrence of ``pair``, from the left, replaced by ``new``."""
    out: list[int] = []
    at = 0
    while at < len(ids):
        if at + 1 < len(ids) and (ids[at], ids[at + 1]) == pair:
            out.append(new)
            at += 2
        else:
            out.append(ids[at])
            at += 1
    return out


@dataclass(frozen=True)
class Tokenizer:
    """Token ids of a vocabulary of bytes and merges.

    Parameters
    ----------
    merges : tuple of (int, int)
        Pairs of ids, in the order they were learned; the i-th makes id 256 + i.
    pattern : bytes
        Regular expression whose matches, end to end, are any input.

    Raises
    ------
    ValueError
        When a merge joins an id that does not exist yet, or comes twice.
    """

    merges: tuple[Pair, ...]
    pattern: bytes = PATTERN
    spelled: tuple[bytes, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        spelled = [bytes([value]) for value in range(256)]
        for number, (left, right) in enumerate(self.merges):
            if not (0 <= left < len(spelled) and 0 <= right < len(spelled)):
                raise ValueError(f"merge {number} joins {left} and {right}: no such id")
            spelled.append(spelled[left] + spelled[right])
        if len(set(self.merges)) < len(self.merges):
            raise ValueError("a merge is listed twice")
        object.__setattr__(self, "spelled", tuple(spelled))
        rank = {pair: number for number, pair in enumerate(self.merges)}
        split = lru_cache(CACHED_WORDS)(lambda word: joined_word(word, rank))
        object.__setattr__(self, "_split", split)
        object.__setattr__(self, "_words", re.compile(self.pattern).findall)

    @property
    def vocab(self) -> int:
        """Number of ids, the end of a document among them."""
        return len(self.spelled) + 1

    @property
    def end(self) -> int:
        """The id that ends a document."""
        return len(self.spelled)

    def encode(self, text: str | bytes) -> list[int]:
        """Ids of a text, or of any bytes; ``decode`` gives the bytes back.

        Raises
        ------
        TypeError
            For anything else.
        """
        if isinstance(text, str):
            data = text.encode("utf-8", "surrogatepass")
        elif isinstance(text, bytes | bytearray):
            data = bytes(text)
        else:
            raise TypeError(f"text is {type(text).__name__}: str or bytes are needed")
        ids: list[int] = []
        for word in self._words(data):  # type: ignore[attr-defined]
            ids.extend(self._split(word))  # type: ignore[attr-defined]
        return ids

    def decode(self, ids: Iterable[int]) -> bytes:
        """The bytes that ``ids`` stand for; the end of a document stands for none.

        Raises
        ------
        ValueError
            For an id outside the vocabulary.
        """
        spelled = (*self.spelled, b"")
        out = []
        for each in ids:
            if not 0 <= each < len(spelled):
                raise ValueError(f"id {each} is outside 0 to {len(spelled) - 1}")
            out.append(spelled[each])
        return b"".join(out)

    def pieces(self, ids: Iterable[int]) -> Iterator[str]:
        """Text of ``ids`` as it streams: a character once all its bytes are there."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        for each in ids:
            yield decoder.decode(self.decode([each]))
        yield decoder.decode(b"", final=True)

    def save(self, path: Path) -> None:
        """Write the documented file; an existing one is replaced."""
        merges = ",\n".join(json.dumps(pair) for pair in self.merges)
        head = json.dumps({"format": FORMAT, "pattern": self.pattern.decode("latin-1")})
        path.write_text(f'{head[:-1]}, "merges": [\n{merges}\n]}}\n')


def joined_word(word: bytes, rank: dict[Pair, int]) -> tuple[int, ...]:
    """Ids of one word: the earliest merge that applies, until none does."""
    ids = list(word)
    while len(ids) > 1:
        pairs = set(itertools.pairwise(ids))
        first = min(pairs, key=lambda pair: rank.get(pair, len(rank)))
        if first not in rank:
            break
        ids = joined(ids, first, 256 + rank[first])
    return tuple(ids)


@cache
def load_tokenizer(path: Path = FILE) -> Tokenizer:
    """The book's tokenizer, or one saved by ``Tokenizer.save``.

    Parameters
    ----------
    path : Path
        The file; by default the book's.

    Raises
    ------
    ValueError
        When the file is not of this format, naming what is wrong.
    """
    try:
        table = json.loads(path.read_text())
    except ValueError as error:
        raise ValueError(f"{path.name}: not JSON: {error}") from None
    if not isinstance(table, dict) or table.get("format") != FORMAT:
        raise ValueError(f"{path.name}: its format is not {FORMAT!r}")
    try:
        merges = tuple((int(left), int(right)) for left, right in table["merges"])
        return Tokenizer(merges, table["pattern"].encode("latin-1"))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path.name}: {error!r}") from None


def train_tokenizer(texts: Iterable[str], vocab: int) -> Tokenizer:
    """Learn merges: always the pair seen most often, the smallest ids among equals."""
    if vocab < 257:
        raise ValueError(f"vocab = {vocab}: 256 bytes and an end need 257")
    cut = re.compile(PATTERN).findall
    counts = Counter(word for text in texts for word in cut(text.encode()))
    spelled = [list(word) for word in counts]
    weight = list(counts.values())
    pairs: Counter[Pair] = Counter()
    where: defaultdict[Pair, set[int]] = defaultdict(set)

    def note(index: int, sign: int) -> None:
        ids = spelled[index]
        for pair in itertools.pairwise(ids):
            pairs[pair] += sign * weight[index]
            where[pair].add(index)

    for index in range(len(spelled)):
        note(index, 1)
    # Ids: 256 bytes, then the merges, and last the end of a document.
    merges: list[Pair] = []
    for new in progress(range(256, vocab - 1), vocab - 257, "merges"):
        best = max(pairs, key=lambda p: (pairs[p], -p[0], -p[1]), default=None)
        if best is None or pairs[best] < 1:
            raise ValueError(f"vocab = {vocab}: the texts give {new + 1} at most")
        merges.append(best)
        for index in where.pop(best):
            note(index, -1)
            spelled[index] = joined(spelled[index], best, new)
            note(index, 1)
        del pairs[best]
    return Tokenizer(tuple(merges))
