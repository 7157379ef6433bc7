"""Principal axes of correlated features, by SVD."""

import numpy as np


def make_data(rows, columns):
    t = np.arange(rows)[:, None]
    k = np.arange(columns)
    sources = np.sin(t * np.array([0.31, 0.57, 1.13]) + 1)
    mixing = np.cos(np.outer([1, 2, 5], k))
    return sources @ mixing + 0.1 * np.sin(37.0 * t * (k + 1) ** 0.5) + 0.2 * k


def main():
    x = make_data(1000, 24)
    centred = x - x.mean(axis=0)
    scaled = centred / centred.std(axis=0, ddof=1)
    _, s, axes = np.linalg.svd(scaled, full_matrices=False)
    share = s**2 / np.sum(s**2)
    keep = int(np.searchsorted(np.cumsum(share), 0.95)) + 1
    axes = axes[:keep] * np.sign(axes[np.arange(keep), np.abs(axes[:keep]).argmax(axis=1)])[:, None]
    scores = scaled @ axes.T
    again = scores @ axes
    print(f"{keep} axes have {share[:keep].sum():.4f} of the variance")
    print("spread of the scores:", scores.std(axis=0).round(4).tolist())
    print(f"error of what they restore: {np.sqrt(((again - scaled) ** 2).mean()):.6f}")
    print(f"largest correlation left: {np.abs(np.corrcoef(scores.T) - np.eye(keep)).max():.6f}")


if __name__ == "__main__":
    main()
