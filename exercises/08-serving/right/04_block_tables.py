# ---- sets: for each block the set of its readers, nothing counted
class Blocks:
    def __init__(self, count, size):
        self.size = size
        self.readers = {block: set() for block in range(count)}
        self.tables, self.lengths = {}, {}

    def append(self, who):
        table, length = self.tables.get(who, []), self.lengths.get(who, 0)
        last = table[-1] if length % self.size else None
        alone = last is not None and self.readers[last] == {who}
        if alone:
            self.lengths[who] = length + 1
            return []
        free = next((b for b, names in self.readers.items() if not names), None)
        if free is None:
            return None
        self.readers[free].add(who)
        if last is not None:
            self.readers[last].remove(who)
            table = table[:-1]
        self.tables[who], self.lengths[who] = [*table, free], length + 1
        return [] if last is None else [(last, free)]

    def fork(self, who, twin):
        self.tables[twin], self.lengths[twin] = self.tables[who], self.lengths[who]
        for block in self.tables[who]:
            self.readers[block].add(twin)

    def free(self, who):
        for block in self.tables.pop(who):
            self.readers[block].discard(who)
        self.lengths.pop(who)

    def table(self, who):
        return self.tables[who]

    def left(self):
        return sum(not names for names in self.readers.values())


# ---- recounted: tables alone; what is free or shared is read from them each time
class Blocks:
    def __init__(self, count, size):
        self.count, self.size, self.held = count, size, {}

    def named(self):
        return [block for table, _ in self.held.values() for block in table]

    def append(self, who):
        table, length = self.held.get(who, ((), 0))
        inside = length % self.size > 0
        if inside and self.named().count(table[-1]) == 1:
            self.held[who] = (table, length + 1)
            return ()
        free = set(range(self.count)) - set(self.named())
        if not free:
            return None
        new = max(free)
        kept = table[:-1] if inside else table
        self.held[who] = ((*kept, new), length + 1)
        return ((table[-1], new),) if inside else ()

    def fork(self, who, twin):
        self.held[twin] = self.held[who]

    def free(self, who):
        del self.held[who]

    def table(self, who):
        return list(self.held[who][0])

    def left(self):
        return self.count - len(set(self.named()))
