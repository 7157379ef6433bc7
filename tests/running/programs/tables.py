"""Tables, quantiles, histograms, groups."""

import numpy as np

k = np.arange(500)
table = np.column_stack([np.sin(k), np.cos(2 * k), k % 7])
print(table.shape, table.mean(axis=0).round(6), table.std(axis=0, ddof=1).round(6))
print(np.percentile(table[:, 0], [10, 50, 90]).round(6), np.median(table[:, 1]).round(6))
counts, edges = np.histogram(table[:, 0], bins=5, range=(-1, 1))
print(counts, edges, np.digitize([-0.9, 0.1], edges), np.bincount(table[:, 2].astype(int)))
groups = {int(g): table[table[:, 2] == g, 0].mean() for g in np.unique(table[:, 2])}
print({g: round(float(v), 6) for g, v in groups.items()})
print(np.corrcoef(table.T).round(4), np.cov(table[:, :2].T).round(4))
print(np.cumsum(k)[-1], np.diff(k).max(), np.interp(2.5, k, k ** 2), np.sum(k[1:] + k[:-1]) / 4)
best = max(range(3), key=lambda j: table[:, j].var())
print(best, np.sort(table[:, 1])[:3].round(6), np.argsort(-table[:, 0])[:3], np.ptp(table, axis=0))
print(np.nanmean(np.where(table > 0.5, np.nan, table), axis=0).round(6))
