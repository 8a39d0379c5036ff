"""What the author of a loop writes: structs, procedures and calls of native functions."""
