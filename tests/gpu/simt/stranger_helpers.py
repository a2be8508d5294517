"""Functions that random kernels call: with lists, dicts, early returns."""

HELPERS = """
def fill(u, a):
    u[0] = a
    u[1] += 3
    return u[1]

def setc(u):
    u[0] = 9
    u[-1] += 5

def setif(u, a):
    if a % 3 == 1:
        u[0] = 4
        u[1] = a
    else:
        u[1] += 1

def loopadd(u, n, by=2):
    for k in range(n % 4):
        u[k % 2] += by
        u[2] = 7

def first(u, a):
    for k, e in enumerate(u):
        if e > a:
            return k
    return -1

def two(a, b=3):
    if a > b:
        return b, a
    return a, b

def early(a, b):
    if a % 2:
        if b % 3 == 0:
            return a + b
        a += 1
    while a > b:
        a -= 3
        if a % 5 == 0:
            return a
    return a * 2 - b

def bump(u):
    u[0] = (u[0] + 10) % 53
    return u[0]

def dset(d, a):
    d['a'] = a
    d['b'] += 2

def make(a, b):
    return [a, b, a + b]

def total(u):
    s = 0
    for e in u:
        s += e
    return s

def swap(u, j):
    if j > 0:
        u[0], u[2] = u[2], u[0]

def some(u, k, a):
    if k:
        return k
    u[0] = a % 50
    u[1] += 1
    return a

def both(u, v):
    return [a * b % 31 for a, b in zip(u, v)]

def rec(a, n):
    if n == 0:
        return a
    return rec(a + n, n - 1) + 1
"""
