"""Small motions: `linearize.py` returns a `LinearModel` with modes, responses, root loci and exact sensitivities."""
