"""Mechanisms in natural coordinates: points and vectors, energies and constraints, differentiated automatically."""
