"""Procedures in a subset of Python: how they are declared, translated to LLVM IR, and stored as object code."""
