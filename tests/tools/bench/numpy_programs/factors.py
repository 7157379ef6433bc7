"""Factors of a matrix of ratings, by stochastic gradient descent in batches."""

import numpy as np

USERS, ITEMS, RANK = 200, 150, 8


def make_ratings(count):
    k = np.arange(count)
    user, item = k * 37 % USERS, (k * k + 11 * k) % ITEMS
    rating = 3 + np.sin(0.7 * user) * np.cos(0.3 * item) + 0.5 * np.sin(1.1 * item)
    return user, item, rating + 0.1 * np.sin(12.9898 * k)


def error(users, items, user, item, rating):
    return np.sqrt(np.mean((rating - np.sum(users[user] * items[item], axis=1)) ** 2))


def main():
    user, item, rating = make_ratings(4000)
    mean = rating.mean()
    rating -= mean
    k = np.arange(RANK)
    users = 0.1 * np.sin(np.arange(USERS)[:, None] * (k + 1.0) + 0.5)
    items = 0.1 * np.cos(np.arange(ITEMS)[:, None] * (k + 1.0) + 0.5)
    rate, decay = 0.05, 0.02
    for epoch in range(5):
        order = np.argsort(np.sin(1000.0 * (np.arange(len(rating)) + epoch)))
        for start in range(0, len(order), 100):
            batch = order[start:start + 100]
            u, i = user[batch], item[batch]
            missing = rating[batch] - (users[u] * items[i]).sum(axis=1)
            gradient = missing[:, np.newaxis] * items[i] - decay * users[u]
            np.add.at(items, i, rate * (missing[:, np.newaxis] * users[u] - decay * items[i]))
            np.add.at(users, u, rate * gradient)
        print(f"epoch {epoch + 1}: error {error(users, items, user, item, rating):.6f}")


if __name__ == "__main__":
    main()
