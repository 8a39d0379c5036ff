"""The vocabulary of the author of a loop: structs, procedures and calls of native functions."""
