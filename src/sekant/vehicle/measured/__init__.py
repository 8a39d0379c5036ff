"""Suspensions that are known by their measured curves: files of rigs to axles of a car."""
