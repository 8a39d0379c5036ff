"""Procedures in a subset of Python: their declaration, translation to LLVM IR, and storage as object code."""
