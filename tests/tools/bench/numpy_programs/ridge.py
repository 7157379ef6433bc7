"""Ridge regression on powers of the features, with its penalty chosen on parts of the data."""

import numpy as np


def make_data(rows):
    t = np.arange(rows)
    x = np.sin(np.outer(t, [0.37, 0.91, 1.73]) + 0.3)
    y = 1.5 * x[:, 0] - 2 * x[:, 1] ** 2 + x[:, 0] * x[:, 2] + 0.3 * np.sin(12.9898 * t)
    return x, y


def features(x):
    columns = [np.ones(len(x))] + [x[:, i] ** p for p in (1, 2, 3) for i in range(x.shape[1])]
    columns += [x[:, i] * x[:, j] for i in range(3) for j in range(i)]
    return np.column_stack(columns)


def fit(x, y, penalty):
    return np.linalg.solve(x.T @ x + penalty * np.eye(x.shape[1]), x.T @ y)


def main():
    x, y = make_data(2000)
    x = features(x)
    part = np.arange(len(y)) % 5
    for penalty in np.logspace(-3, 3, 7):
        errors = []
        for k in range(5):
            w = fit(x[part != k], y[part != k], penalty)
            errors.append(np.mean((x[part == k] @ w - y[part == k]) ** 2))
        print(f"penalty {penalty:8.3f}: error {np.mean(errors):.6f} +- {np.std(errors):.6f}")
    w = fit(x, y, 0.1)
    fraction = 1 - ((y - x @ w) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    print(f"explained: {fraction:.6f}; weights", w.round(3).tolist())


if __name__ == "__main__":
    main()
