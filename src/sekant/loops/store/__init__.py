"""Object code of procedures: from the package, from the cache, or from the compiler."""
