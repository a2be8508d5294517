"""Block tables with copy on write.

level: build

A memory has `count` blocks, numbered from 0, of `size` tokens each. Write who may use
which. A sequence has any name, and begins with its first token.

- `append(who)`: the sequence has one token more. Returns what has to be copied before
  that token is written: an empty list, or one pair `[(source, target)]` of blocks,
  where the token would go into a block that another sequence reads, too. Returns
  `None` where a block is needed and none is free; then nothing has changed.
- `fork(who, twin)`: a second sequence with the same tokens, in the same blocks. It
  takes none.
- `free(who)`: the sequence is done. Blocks that nobody reads any more are free again.
- `table(who)`: its blocks' numbers, in the order of its tokens.
- `left()`: how many blocks are free.

A block is taken when a token needs it, not before. Which free block is taken is up to
you. The tests keep the memory itself: they write and copy as you say, and read every
sequence back.

hint: Count for each block how many tables name it. The last block of a table is full
when the length is a multiple of `size`; only otherwise does the next token go into it.
"""

import random

from stacklib.grading import expect

# ---- your answer ----


class Blocks:
    """Tables over one pool of blocks."""

    def __init__(self, count, size):
        """All blocks are free, and nobody is there."""
        self.size = size
        self.unused = list(range(count))
        self.readers = [0] * count
        self.tables = {}
        self.lengths = {}

    def append(self, who):
        """One token more; what to copy first, or None where no block is left."""
        table = self.tables.setdefault(who, [])
        length = self.lengths.setdefault(who, 0)
        copies = []
        full = length % self.size == 0
        if full or self.readers[table[-1]] > 1:
            if not self.unused:
                return None
            block = self.unused.pop()
            self.readers[block] = 1
            if full:
                table.append(block)
            else:
                copies = [(table[-1], block)]
                self.readers[table[-1]] -= 1
                table[-1] = block
        self.lengths[who] += 1
        return copies

    def fork(self, who, twin):
        """The same tokens in the same blocks."""
        self.tables[twin] = list(self.tables[who])
        self.lengths[twin] = self.lengths[who]
        for block in self.tables[twin]:
            self.readers[block] += 1

    def free(self, who):
        """Give back what nobody else reads."""
        for block in self.tables.pop(who):
            self.readers[block] -= 1
            if self.readers[block] == 0:
                self.unused.append(block)
        del self.lengths[who]

    def table(self, who):
        """Its blocks, in order."""
        return list(self.tables[who])

    def left(self):
        """Free blocks."""
        return len(self.unused)


# ---- tests ----


class Memory:
    """The blocks themselves, written as the reader's tables say."""

    def __init__(self, count, size):
        self.count, self.size = count, size
        self.slots = [[None] * size for _ in range(count)]
        self.blocks = Blocks(count, size)
        self.tokens = {}
        self.tables = {}  # as they were last
        self.next = 0

    def append(self, who):
        """One token; False where it was refused."""
        told = self.tokens.get(who, [])
        before = self.blocks.left()
        copies = self.blocks.append(who)
        if copies is None:
            self.refused(who, before)
            return False
        self.copy(who, copies, len(told))
        self.tokens[who] = [*told, self.next]
        self.check_table(who)
        place = len(told)
        block = self.tables[who][place // self.size]
        self.slots[block][place % self.size] = self.next
        self.next += 1
        self.check_all(f"append({who!r})")
        return True

    def copy(self, who, copies, length):
        """Copy as told, where there is a reason to."""
        pairs = list(copies)
        if not pairs:
            return
        source, target = pairs[0]
        readers = sum(source in table for table in self.tables.values())
        if len(pairs) > 1 or length % self.size == 0:
            raise expect.Mistake(
                "only the block that a token goes into is copied, and no new one"
            )
        if readers < 2:
            raise expect.Mistake(
                f"block {source} is copied although nobody else reads it any more"
            )
        self.slots[target] = list(self.slots[source])

    def refused(self, who, before):
        """A refusal needs a reason, and changes nothing."""
        told = self.tokens.get(who, [])
        used = {block for table in self.tables.values() for block in table}
        if self.count > len(used):
            raise expect.Mistake(
                f"append refused with {self.count - len(used)} of {self.count} blocks "
                "in no table"
            )
        if self.blocks.left() != before:
            raise expect.Mistake("a refused append changed how many blocks are free")
        if told and list(self.blocks.table(who)) != self.tables[who]:
            raise expect.Mistake("a refused append changed the table")

    def fork(self, who, twin):
        """Both read the same."""
        before = self.blocks.left()
        self.blocks.fork(who, twin)
        self.tokens[twin] = list(self.tokens[who])
        self.check_table(twin)
        if self.blocks.left() != before:
            raise expect.Mistake("a fork takes no block; copies come when one writes")
        self.check_all(f"fork({who!r}, {twin!r})")

    def free(self, who):
        """Nobody else loses anything."""
        self.blocks.free(who)
        del self.tokens[who], self.tables[who]
        self.check_all(f"free({who!r})")

    def check_table(self, who):
        """As many blocks as its tokens need."""
        table = list(self.blocks.table(who))
        need = -(-len(self.tokens[who]) // self.size)
        if len(table) != need:
            raise expect.Mistake(
                f"{len(self.tokens[who])} tokens in blocks of {self.size}: a table of "
                f"{len(table)}, where {need} are needed; a block is taken when a token "
                "needs it"
            )
        if any(block not in range(self.count) for block in table):
            raise expect.Mistake(
                f"a table names {table}; there are {self.count} blocks"
            )
        self.tables[who] = table

    def check_all(self, after):
        """Everybody reads his own tokens, and no block is lost or in two hands."""
        used = {block for table in self.tables.values() for block in table}
        for who, told in self.tokens.items():
            table = self.tables[who]
            read = [
                self.slots[table[n // self.size]][n % self.size]
                for n in range(len(told))
            ]
            if read != told:
                raise expect.Mistake(
                    f"after {after}, {who!r} reads another's token: a block was "
                    "written that another sequence reads"
                )
        if self.blocks.left() > self.count - len(used):
            raise expect.Mistake(
                f"after {after}, a block is free that a table still names"
            )
        if self.blocks.left() < self.count - len(used):
            raise expect.Mistake(
                f"after {after}, {self.count - len(used) - self.blocks.left()} blocks "
                "are in no table and not free either: they leak"
            )


def test_one_sequence():
    memory = Memory(4, 4)
    for _ in range(16):
        memory.append("a")
    if memory.append("a"):
        raise expect.Mistake("a seventeenth token fits into four blocks of four")
    memory.free("a")
    memory.append("b")


def test_a_fork_is_copied_when_one_writes():
    memory = Memory(8, 4)
    for _ in range(6):
        memory.append("a")
    memory.fork("a", "b")
    memory.append("b")
    memory.append("a")  # alone in its last block by now
    expect.reading("blocks of two sequences of seven", str(8 - memory.blocks.left()))
    memory.fork("a", "c")
    memory.free("a")
    memory.append("c")  # nobody else reads it any more


def test_a_full_block_is_not_copied():
    memory = Memory(8, 4)
    for _ in range(4):
        memory.append("a")
    memory.fork("a", "b")
    memory.append("b")
    memory.append("a")
    memory.free("b")
    memory.free("a")


def test_a_copy_that_finds_no_block():
    memory = Memory(2, 4)
    for _ in range(6):
        memory.append("a")
    memory.fork("a", "b")
    if memory.append("b"):
        raise expect.Mistake("there was no block to copy into")
    memory.free("a")
    memory.append("b")


def test_a_thousand_steps():
    draw = random.Random(84)
    memory = Memory(12, 3)
    for number in range(1000):
        names = sorted(memory.tokens)
        what = draw.random()
        if not names or what < 0.1:
            memory.append(f"s{number}")
        elif what < 0.75:
            memory.append(draw.choice(names))
        elif what < 0.87 and len(names) < 8:
            memory.fork(draw.choice(names), f"s{number}")
        else:
            memory.free(draw.choice(names))
