"""Threads of tests that begin at the same time."""

import threading


def in_threads(count, work):
    """Run ``work(k)`` in so many threads, begun together; raise what any raised."""
    start, failures = threading.Barrier(count), []

    def one(k):
        try:
            start.wait()
            work(k)
        except BaseException as error:
            failures.append(error)
    threads = [threading.Thread(target=one, args=(k,)) for k in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failures:
        raise failures[0]
