"""Linear algebra of the solvers: sparse factorization of saddle point systems, rank."""
