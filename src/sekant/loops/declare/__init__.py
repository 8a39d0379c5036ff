"""The language of compiled loops: structs, procedures and calls of native functions."""
