"""Data that later processes reuse.

Entries on disk (`store`), values as plain data (`plain`), answers about files (`files`) and models (`content`), and
the last answers of this process (`recent`).
"""
