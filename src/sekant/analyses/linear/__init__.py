"""Small motions: `linearize.py` makes a `LinearModel` with modes, responses, root loci and exact sensitivities."""
