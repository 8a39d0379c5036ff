"""Taylor recurrences of one system as LLVM IR: the operations of the interpreter, without its dispatch."""
