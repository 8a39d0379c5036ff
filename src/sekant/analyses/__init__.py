"""Analyses: questions to a system whose answers are results. Each is imported from its own module."""
