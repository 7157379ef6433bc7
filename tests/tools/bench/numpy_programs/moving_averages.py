"""Moving averages of prices by `cumsum`, when they cross, and what that would have earned."""

import numpy as np


def moving_average(prices, width):
    sums = np.cumsum(np.insert(prices, 0, 0.0))
    return (sums[width:] - sums[:-width]) / width


def main():
    t = np.arange(5000)
    prices = 100 + 10 * np.sin(t / 200) + 3 * np.sin(t / 17) + np.sin(12.9898 * t)
    returns = np.diff(prices) / prices[:-1]
    for short, long in ((5, 20), (10, 50), (20, 100), (50, 200)):
        fast = moving_average(prices, short)[long - short:]
        slow = moving_average(prices, long)
        above = fast > slow
        crossings = np.flatnonzero(above[1:] != above[:-1]) + long
        held = np.where(above[:-1], returns[long - 1:], 0.0)
        wealth = np.cumprod(1 + held)
        drop = np.max(1 - wealth / np.maximum.accumulate(wealth))
        print(f"{short:3d}/{long:3d}: {crossings.size} crossings, first {crossings[:3].tolist()}, "
              f"wealth {wealth[-1]:.4f}, largest drop {100 * drop:.2f}%")
    best = np.sort(returns)[-5:][::-1]
    print("best days:", np.round(100 * best, 3).tolist())


if __name__ == "__main__":
    main()
