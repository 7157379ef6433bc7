"""Prices of options by random paths, and by the formula of Black and Scholes."""

import math

import numpy as np

START, STRIKE, RATE, SPREAD, YEARS = 100.0, 105.0, 0.02, 0.25, 1.0


def paths(rng, count, steps):
    dt = YEARS / steps
    normal = rng.standard_normal((count, steps))
    growth = (RATE - SPREAD**2 / 2) * dt + SPREAD * math.sqrt(dt) * normal
    return START * np.exp(np.cumsum(growth, axis=1))


def by_formula():
    def share(x):
        return (1 + math.erf(x / math.sqrt(2))) / 2
    d = (math.log(START / STRIKE) + (RATE + SPREAD**2 / 2) * YEARS) / (SPREAD * math.sqrt(YEARS))
    return (START * share(d)
            - STRIKE * math.exp(-RATE * YEARS) * share(d - SPREAD * math.sqrt(YEARS)))


def main():
    rng = np.random.default_rng(7)
    prices = paths(rng, 10_000, 20)
    discount = math.exp(-RATE * YEARS)
    payoffs = {"European": np.maximum(prices[:, -1] - STRIKE, 0),
               "Asian": np.maximum(prices.mean(axis=1) - STRIKE, 0),
               "barrier": np.where(prices.max(axis=1) < 140,
                                   np.maximum(prices[:, -1] - STRIKE, 0), 0)}
    for name, payoff in payoffs.items():
        value, error = discount * payoff.mean(), discount * payoff.std(ddof=1) / len(payoff) ** 0.5
        print(f"{name}: {5 * round(value / 5)}, error below {math.ceil(4 * error)}")
    close = abs(discount * payoffs["European"].mean() - by_formula()) < 1
    print("as by the formula:", close)


if __name__ == "__main__":
    main()
