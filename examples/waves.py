"""Move waves along a string by finite differences: a NumPy program, of which one line differs.

The right third of the string is heavier: a wave that arrives there is reflected in part, and turned
over, and in part goes on, slower. Run: python examples/waves.py
"""

from __future__ import annotations

import mat as np

POINTS, STEPS, HEAVY = 300, 360, 200  # where the heavier part begins
SPEED = np.where(np.arange(POINTS) < HEAVY, 1.0, 0.5)  # in points for each step


def waves() -> np.ndarray:
    """Return the displacements of the string's points, a row for each time."""
    shapes = np.zeros((STEPS, POINTS))
    here = np.arange(POINTS)
    for k in range(2):  # a bump that moves to the right
        shapes[k] = np.exp(-(((here - 60 - k) / 9.0) ** 2))
    for k in range(1, STEPS - 1):
        now = shapes[k]
        bend = now[:-2] - 2 * now[1:-1] + now[2:]
        shapes[k + 1, 1:-1] = 2 * now[1:-1] - shapes[k - 1, 1:-1] + SPEED[1:-1] ** 2 * bend
    return shapes


def energy(shapes: np.ndarray, k: int) -> tuple[float, float]:
    """Return the energy in the light and in the heavy part between two steps."""
    moving = (shapes[k + 1] - shapes[k]) ** 2 / SPEED**2
    stretched = (shapes[k + 1, 1:] - shapes[k + 1, :-1]) * (shapes[k, 1:] - shapes[k, :-1])
    return (float(moving[:HEAVY].sum() + stretched[:HEAVY].sum()),
            float(moving[HEAVY:].sum() + stretched[HEAVY:].sum()))


def main() -> None:
    shapes = waves()
    for k in range(0, STEPS - 1, 60):
        light, heavy = energy(shapes, k)
        print(f"step {k:3d}: highest {shapes[k].max():6.3f}, lowest {shapes[k].min():6.3f}, "
              f"energy {light:.4f} + {heavy:.4f} = {light + heavy:.4f}")


if __name__ == "__main__":
    main()
