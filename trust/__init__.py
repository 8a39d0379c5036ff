"""The campaign: it tries to break what Sekant promises. `make trust` runs it."""
