"""A step of the optimiser Adam as one kernel of three lines of C, compared with single operations.

Both must give the same weights; the fused kernel needs less memory traffic. Run:
python examples/adam.py
"""

from time import perf_counter

import mat

RATE, BETA1, BETA2 = 0.01, 0.9, 0.999

adam = mat.kernel("""
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    w -= rate * m / (sqrt(v) + 1e-8);
""", rate="number", beta1="number", beta2="number", g="input", m="io", v="io", w="io", name="adam")


def stepwise(g, m, v, w):
    """Make the same step with one operation after another, in place where possible."""
    m.scal_(BETA1).axpy_(1 - BETA1, g)
    mat.geem(1 - BETA2, g, g, BETA2, v)
    w.subtract_(mat.divide(m, mat.sqrt(v).add_(1e-8)).scal_(RATE))


def run(step, n, steps):
    """Minimise ``sum (w - 3)^2 / 2`` from 0; return the weights and the seconds for each step."""
    w, m, v, g = (mat.zeros(n) for _ in range(4))
    begin = perf_counter()
    for _ in range(steps):
        mat.subtract(w, 3, out=g)
        step(g, m, v, w)
    return w, (perf_counter() - begin) / steps


def main(n=1_000_000, steps=20):
    # compile now, not while the time is measured
    adam(0.0, 0.0, 0.0, mat.zeros(1), mat.zeros(1), mat.zeros(1), mat.zeros(1))
    fused, fast = run(lambda g, m, v, w: adam(RATE, BETA1, BETA2, g, m, v, w), n, steps)
    single, slow = run(stepwise, n, steps)
    print(f"{n} weights: one kernel {fast * 1e3:.1f} ms a step, single operations {slow * 1e3:.1f} "
          "ms")
    print(f"the same weights: {mat.allclose(fused, single)}")


if __name__ == "__main__":
    main()
