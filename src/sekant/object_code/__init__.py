"""Object code: compiled from LLVM IR, cached on disk, linked into the process. It is independent of models and
solvers."""
