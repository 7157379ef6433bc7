"""Find the edges of a picture by blurring, gradient and threshold, and print it in a smaller size:
a NumPy program of which only the line that imports differs.

Run: python examples/image_pipeline.py
"""

from __future__ import annotations

import mat as np

SHADES = " .:-=+*#%@"


def make_picture(height: int, width: int) -> np.ndarray:
    """Return a disc before a tilted square, in grey from 0 to 255, with some interference."""
    y, x = np.meshgrid(np.linspace(-1, 1, height), np.linspace(-1, 1, width), indexing="ij")
    grey = 60 + 30 * x
    tilted = np.maximum(np.abs(x + 0.3 * y + 0.25), np.abs(y - 0.3 * x + 0.15)) < 0.45
    grey = np.where(tilted, 150, grey)
    grey[np.hypot(x - 0.35, y - 0.3) < 0.4] = 230
    grey += 12 * np.sin(97 * x) * np.cos(83 * y)
    return np.clip(grey, 0, 255).astype(np.uint8)


def blur(picture: np.ndarray, sigma: float) -> np.ndarray:
    """Return the convolution with a Gaussian, along one axis after the other."""
    radius = int(3 * sigma)
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    weights /= weights.sum()
    for axis in (0, 1):
        pad = [(radius, radius) if a == axis else (0, 0) for a in (0, 1)]
        padded = np.pad(picture, pad, mode="edge")
        view = np.lib.stride_tricks.sliding_window_view(padded, 2 * radius + 1, axis=axis)
        picture = view @ weights
    return picture


def equalize(picture: np.ndarray) -> np.ndarray:
    """Return the picture with its grey levels spread evenly."""
    counts, edges = np.histogram(picture, bins=64, range=(0, 255))
    share = np.cumsum(counts) / picture.size
    return np.interp(picture, edges[1:], 255 * share)


def resize(picture: np.ndarray, height: int, width: int) -> np.ndarray:
    """Return the picture in another size, by linear interpolation."""
    y = np.linspace(0, picture.shape[0] - 1, height)
    x = np.linspace(0, picture.shape[1] - 1, width)
    y0 = np.minimum(y.astype(int), picture.shape[0] - 2)
    x0 = np.minimum(x.astype(int), picture.shape[1] - 2)
    dy, dx = (y - y0)[:, None], x - x0
    rows = picture[y0] * (1 - dy) + picture[y0 + 1] * dy
    return rows[:, x0] * (1 - dx) + rows[:, x0 + 1] * dx


def main() -> None:
    picture = make_picture(240, 320)
    smooth = blur(picture.astype(float), 2.0)
    dy, dx = np.gradient(smooth)
    slope = np.hypot(dy, dx)
    edges = slope > np.percentile(slope, 94)
    print(f"grey levels {picture.min()} to {picture.max()}, {np.unique(picture).size} of them")
    print(f"blurred: mean {smooth.mean():.3f}, standard deviation {smooth.std():.3f}")
    print(f"{np.count_nonzero(edges)} positions of edges, "
          f"mean slope there {slope[edges].mean():.3f}")
    angle = np.degrees(np.arctan2(dy[edges], dx[edges])) % 180
    counts, limits = np.histogram(angle, bins=6, range=(0, 180))
    for count, low in zip(counts, limits, strict=False):
        print(f"{low:5.0f} degrees {'*' * int(count // 20)}")
    small = resize(equalize(smooth), 20, 60)
    shades = np.rint(small / 255 * (len(SHADES) - 1)).astype(int)
    shades[resize(edges.astype(float), 20, 60) > 0.5] = 0
    for row in shades:
        print("".join(SHADES[k] for k in row).rstrip())


if __name__ == "__main__":
    main()
