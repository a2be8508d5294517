"""Efficiency factors, fitted once on the public rows and cross-validated.

``python -m stacklib.evidence.calibrate`` refits every declared factor, measures
the error on rows that each fit has not seen (one source left out, then one
device), bootstraps how sure each factor is, and writes the files that lower
rooms read. Nothing is fitted at validation time.
"""

from .files import HeldOut, held_out
from .fit import fit
from .folds import BY, Errors, draw, errors, spans
from .left_out import unseen
from .problem import Case, Factor, Problem, loss, weights
from .public import factors, problem_of, public_problem

__all__ = [
    "BY", "Case", "Errors", "Factor", "HeldOut", "Problem", "draw", "errors", "factors",
    "fit", "held_out", "loss", "problem_of", "public_problem", "spans", "unseen",
    "weights",
]  # fmt: skip
