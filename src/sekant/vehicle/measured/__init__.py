"""Suspensions defined by measured curves: files from rigs, and corners and axles that are built from them."""
