"""What the author of a loop writes: structs, procedures, calls of native functions, sections of arrays."""
