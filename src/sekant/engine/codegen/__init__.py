"""Expressions to native code: `tape.py` (operations in order), `llvm.py` (LLVM IR), `build.py` (calls)."""
