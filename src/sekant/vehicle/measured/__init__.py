"""Suspensions that are known by their measured curves: files of rigs, corners and axles of a car from them."""
