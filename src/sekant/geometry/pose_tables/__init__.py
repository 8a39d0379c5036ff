"""Poses of several bodies over one drive: interpolation, its errors, and files of them."""
