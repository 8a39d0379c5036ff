"""Object code: made of LLVM IR, kept on disk, linked into the process. Knows neither models nor solvers."""
