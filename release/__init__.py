"""What a release builds and checks: `make release`."""
