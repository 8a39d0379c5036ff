"""Builds and checks a release: `make release`."""
