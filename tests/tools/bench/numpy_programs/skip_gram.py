"""Vectors of words by skip-gram with negative samples: gathers, and `add.at`."""

import numpy as np

WORDS, SIZE, PAIRS, NEGATIVE, RATE = 500, 32, 256, 5, 0.5


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def make_pairs(steps):
    k = np.arange(steps * PAIRS)
    words = (k * k // 7 + 31 * k) % WORDS
    return words.reshape(steps, PAIRS), ((words + 1 + k % 3) % WORDS).reshape(steps, PAIRS)


def train_step(vectors, contexts, centre, context, negative):
    v, c, n = vectors[centre], contexts[context], contexts[negative]
    right = sigmoid((v * c).sum(axis=1))
    wrong = sigmoid(np.einsum("pd,pnd->pn", v, n))
    loss = -np.log(right).mean() - np.log(1 - wrong).sum(axis=1).mean()
    slope = (right - 1)[:, None]
    gradient = slope * c + np.einsum("pn,pnd->pd", wrong, n)
    np.add.at(contexts, context, -RATE / PAIRS * slope * v)
    np.add.at(contexts, negative, -RATE / PAIRS * wrong[:, :, None] * v[:, None, :])
    np.add.at(vectors, centre, -RATE / PAIRS * gradient)
    return loss


def main():
    k = np.arange(WORDS * SIZE).reshape(WORDS, SIZE)
    vectors, contexts = 0.3 * np.sin(1.7 * k), 0.3 * np.cos(2.3 * k)
    centres, around = make_pairs(20)
    for step, (centre, context) in enumerate(zip(centres, around)):
        negative = (context[:, None] * 17 + np.arange(NEGATIVE) * 101 + step) % WORDS
        loss = train_step(vectors, contexts, centre, context, negative)
        if step % 5 == 4:
            print(f"step {step + 1}: loss {loss:.6f}")
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    print("most alike to word 7:", np.argsort(-(unit @ unit[7]))[:4].tolist())


if __name__ == "__main__":
    main()
