"""PageRank, by power iteration on a dense matrix of links."""

import numpy as np


def make_links(pages):
    i, j = np.indices((pages, pages))
    links = (np.sin(12.9898 * i + 78.233 * j + 0.1 * i * j) > 0.98).astype(float)
    np.fill_diagonal(links, 0)
    return links


def pagerank(links, damping=0.85, tolerance=1e-10):
    pages = len(links)
    out = links.sum(axis=1)
    chances = np.where(out[:, None] > 0, links / np.maximum(out, 1)[:, None], 1 / pages)
    rank = np.full(pages, 1 / pages)
    for step in range(100):
        new = (1 - damping) / pages + damping * (rank @ chances)
        new /= new.sum()
        if np.linalg.norm(new - rank, 1) < tolerance:
            return new, step
        rank = new
    return rank, step


def main():
    rank, steps = pagerank(make_links(300))
    best = np.argsort(rank)[::-1][:5]
    print(f"{steps} steps; sum {rank.sum():.6f}, from {rank.min():.3e} to {rank.max():.3e}")
    for page in best:
        print(f"page {page}: {rank[page]:.8f}")


if __name__ == "__main__":
    main()
