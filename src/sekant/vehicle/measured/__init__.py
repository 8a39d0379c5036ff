"""Suspensions defined by measured curves: files of rigs, and the corners and axles built from them."""
