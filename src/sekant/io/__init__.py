"""Files: YAML <-> models."""
