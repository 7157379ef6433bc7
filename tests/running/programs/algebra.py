"""Linear algebra and transforms."""

import numpy as np

n = 6
a = 1 / (np.arange(n)[:, None] + np.arange(n) + 1) + np.eye(n)
b = np.arange(n, dtype=float)
x = np.linalg.solve(a, b)
print(np.allclose(a @ x, b), x.round(6), np.linalg.cond(a).round(4), np.linalg.matrix_rank(a))
q, r = np.linalg.qr(a)
print(np.allclose(q @ r, a), np.allclose(q.T @ q, np.eye(n)), np.trace(a).round(6))
values, vectors = np.linalg.eigh(a)
print(values.round(6), np.allclose(vectors * values @ vectors.T, a))
u, s, vt = np.linalg.svd(a[:, :3], full_matrices=False)
print(s.round(6), np.allclose(u * s @ vt, a[:, :3]), np.linalg.lstsq(a[:, :2], b, rcond=None)[1])
print(np.einsum("ij,j->i", a, b).round(4), np.outer(b[:2], b[:3]), np.kron(np.eye(2), [1, 2]))
angle = 2 * np.pi * np.arange(64) / 64
signal = np.sin(5 * angle) + 0.5 * np.cos(9 * angle)
spectrum = np.abs(np.fft.rfft(signal))
print(np.argsort(spectrum)[-2:], spectrum.max().round(6))
print(np.allclose(np.fft.ifft(np.fft.fft(b)), b))
print(np.polyfit([0, 1, 2, 3], [1, 3, 7, 13], 2).round(6))
print(np.roots([1, -3, 2]), np.poly1d([1, 2])(3))
print(np.cross([1, 0, 0], [0, 1, 0]), np.linalg.norm(a, 1).round(6), np.triu(np.ones((3, 3))))
