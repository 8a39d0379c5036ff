"""Native functions of a system that analyses share: motion, outputs, linear terms, tapes of series, residuals."""
