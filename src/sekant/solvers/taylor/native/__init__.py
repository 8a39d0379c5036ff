"""Taylor recurrences of one system as LLVM IR: the operations of the interpreter, without its dispatch.

Runs take a third to three fifths of the interpreter's processor time: for 10 s of motion, 48 ms instead of 114 (the
governor), 2.4 instead of 4.4 (Bricard's mechanism), 1.3 instead of 4.0 (a double pendulum; November 2026). The
interpreter serves systems for which the code would take long to compile, see `kernel.is_small`.
"""
