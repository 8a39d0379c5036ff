"""The campaign: what Sekant promises, attacked. `make trust` runs it."""
