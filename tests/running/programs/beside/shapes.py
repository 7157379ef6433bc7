"""Shapes."""

import numpy as np
from numpy import ndarray


def ring(points: int) -> ndarray:
    """Return points on a circle."""
    angle = np.linspace(0, 2 * np.pi, points, endpoint=False)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)
