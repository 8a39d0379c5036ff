"""Coefficients of the Radau IIA method of order 5.

Hairer, Wanner: Solving Ordinary Differential Equations II, 2nd ed., table IV.5.6; transformation of the Newton
systems and error estimate as in section IV.8: T^-1 A^-1 T = diag(gamma, [[alpha, -beta], [beta, alpha]]).
"""

from __future__ import annotations

import numpy as np

_S6 = 6.0**0.5

C = np.array([(4.0 - _S6) / 10.0, (4.0 + _S6) / 10.0, 1.0])
A = np.array(
    [
        [(88.0 - 7.0 * _S6) / 360.0, (296.0 - 169.0 * _S6) / 1800.0, (-2.0 + 3.0 * _S6) / 225.0],
        [(296.0 + 169.0 * _S6) / 1800.0, (88.0 + 7.0 * _S6) / 360.0, (-2.0 - 3.0 * _S6) / 225.0],
        [(16.0 - _S6) / 36.0, (16.0 + _S6) / 36.0, 1.0 / 9.0],
    ]
)
A_INV = np.linalg.inv(A)


def _transformation() -> np.ndarray:
    """Columns: the real eigenvector of A^-1, real and imaginary part of a complex one; last row (1, 1, 0)."""
    values, vectors = np.linalg.eig(A_INV)
    vectors = vectors / vectors[2]
    real, pair = vectors[:, np.argmin(np.abs(np.imag(values)))], vectors[:, np.argmax(np.imag(values))]
    return np.stack([np.real(real), np.real(pair), np.imag(pair)], axis=1)


T = _transformation()
TI = np.linalg.inv(T)
_LAMBDA = TI @ A_INV @ T
MU_REAL = float(_LAMBDA[0, 0])
MU_COMPLEX = complex(_LAMBDA[1, 1], _LAMBDA[2, 1])

# h (f0 + E Z / h) / gamma estimates the error (IV.8.18).
E = np.array([-13.0 - 7.0 * _S6, -13.0 + 7.0 * _S6, -1.0]) / 3.0

# Coefficients of theta, theta^2, theta^3 of the collocation polynomial from the increments at the stages.
POWERS = np.linalg.inv(np.stack([C, C**2, C**3], axis=1))
