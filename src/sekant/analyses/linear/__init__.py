"""Small motions: `linearize.py` returns a `LinearModel` with modes, responses and exact sensitivities;
`root_locus.py` follows eigenvalues over a parameter."""
