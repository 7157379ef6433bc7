"""Follow a moving point by a Kalman filter: a NumPy program, of which one line differs.

The position of a point is measured with large errors; the filter finds position and velocity.
Run: python examples/kalman.py
"""

from __future__ import annotations

import mat as np

STEPS, DT, ERROR = 120, 0.1, 1.2  # measurements, seconds between them, their standard deviation
MOVE = np.array([[1, DT], [0, 1]])  # of position and velocity, in one step
DRIFT = 0.6 * np.array([[DT**3 / 3, DT**2 / 2], [DT**2 / 2, DT]])  # what they change unforeseen


def measured() -> tuple[np.ndarray, np.ndarray]:
    """Return the positions at all times, and what was measured."""
    k = np.arange(STEPS)
    track = 3 * np.sin(0.05 * k) + 0.03 * k
    errors = sum(((k + 1) * factor % 10007) / 10007 - 0.5 for factor in (7919, 6151, 3571, 9241))
    return track, track + ERROR * errors * np.sqrt(3.0)


def filtered(measurements: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return position and velocity after each measurement, and their covariances."""
    state, spread = np.zeros(2), 10 * np.eye(2)
    states, spreads = np.zeros((STEPS, 2)), np.zeros((STEPS, 2, 2))
    for k in range(STEPS):
        state, spread = MOVE @ state, MOVE @ spread @ MOVE.T + DRIFT  # what is expected
        gain = spread[:, 0] / (spread[0, 0] + ERROR**2)  # how much to trust the measurement
        state = state + gain * (measurements[k] - state[0])
        spread = spread - np.outer(gain, spread[0])
        states[k], spreads[k] = state, spread
    return states, spreads


def main() -> None:
    track, measurements = measured()
    states, spreads = filtered(measurements)
    for k in range(0, STEPS, 20):
        print(f"{k * DT:4.1f} s: measured {measurements[k]:6.2f}, filtered {states[k, 0]:6.2f} "
              f"+- {np.sqrt(spreads[k, 0, 0]):.2f}, in truth {track[k]:6.2f}")
    for name, found in (("measurements", measurements), ("filter", states[:, 0])):
        print(f"error of the {name}: {np.sqrt(((found - track) ** 2)[10:].mean()):.3f}")


if __name__ == "__main__":
    main()
