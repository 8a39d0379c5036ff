"""Taylor recurrences of one system as LLVM IR: the same work as the interpreter's, without its dispatch."""
