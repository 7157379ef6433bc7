"""Heat in a plate, by slices in place, until it rests."""

import numpy as np


def main():
    plate = np.zeros((120, 120))
    plate[0], plate[:, 0] = 100.0, 50.0
    for step in range(200):
        inner = 0.25 * (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:])
        change = np.abs(inner - plate[1:-1, 1:-1]).max()
        plate[1:-1, 1:-1] = inner
        if change < 1e-3:
            break
    print(f"step {step}: change {change:.6f}, mean {plate.mean():.6f}")
    print(plate[60, 10:60:10].round(4).tolist())


if __name__ == "__main__":
    main()
