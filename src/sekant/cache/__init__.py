"""Data that later processes reuse.

Entries on disk (`store`), values as plain data (`plain`), answers about files (`files`), and answers about models
with the last answers of this process (`content`).
"""
