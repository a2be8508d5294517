"""Parts of machines, each defined once and drawn in one hand.

One module a family: ``gpu``, ``memory``, ``package``, ``model``, ``machine``. A part is
a node; ``lit=True`` marks the one in question, ``opened=True`` shows what is in it.
"""
