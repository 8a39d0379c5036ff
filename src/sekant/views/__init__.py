"""User interfaces: the command line (`cli.py`, `commands/`), pictures, reports, and the player (`player/`)."""
