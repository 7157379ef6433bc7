"""Elements that Mats cannot have: texts, dates, objects, fields."""

import numpy as np

names = np.array(["pear", "fig", "apple", "fig"])
weights = np.array([3.0, 1.0, 2.0, 4.0])
order = np.argsort(weights)
print(names, names[order], names[weights > 1.5], np.sort(names), names.dtype)
print(np.unique(names, return_counts=True), np.char.upper(names), (names == "fig").sum())
print(np.where(weights > 2, "heavy", "light"), np.concatenate([names, ["plum"]]))
print(weights.astype(str), weights.astype(int).astype("U2"), weights == "fig")
print(weights != None)  # noqa: E711
print(np.repeat(names, 2), np.tile(names[:2], 2), np.isin(names, ["fig"]))
dates = np.arange("2024-02-27", "2024-03-02", dtype="datetime64[D]")
print(dates, np.diff(dates), dates[1] - dates[0], np.datetime64("2024-01-01") + np.arange(2))
print(np.array(["2024-05-06"], dtype="datetime64"), dates.astype("datetime64[M]"))
objects = np.array([{"a": 1}, None, "x"], dtype=object)
print(objects, objects.shape, np.array([1, 2.5], dtype=object) * 2)
print(np.frompyfunc(lambda a, b: f"{a}-{b}", 2, 1)(np.arange(3), 7))
records = np.zeros(3, dtype=[("name", "U5"), ("size", float)])
records["name"] = ["a", "b", "c"]
records["size"] = np.arange(3.0)
print(records, records["size"].mean(), np.sort(records, order="size")[::-1]["name"])
print(np.array([(1, 2.0)], dtype="i4,f8"), np.rec.array([(1, "a")], names="n,t").t)
print(np.vectorize(lambda v: f"<{v:.0f}>")(weights), np.array(["1", "2"]).astype(float).sum())
print(np.loadtxt(["a 1", "b 2"], dtype=str), np.ma.masked_less(weights, 2).sum())
print(np.matrix([[1, 2], [3, 4]]) * np.matrix([[1], [1]]), np.longdouble(1) + 1)
