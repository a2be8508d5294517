"""Which tokens may come next in an answer of a grammar: automata over bytes.

JSON or a JSON schema becomes automata; a mask says for each of their states which
tokens of a vocabulary go on from it.
"""
