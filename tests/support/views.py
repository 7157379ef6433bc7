"""Random chains of views, applied to a NumPy array and to a `Layout` or `Mat`.

The array counts up from 0, so its elements are their own storage indices: NumPy's strides are the
reference.
"""

from hypothesis import strategies as st

shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)
full_shapes = st.lists(st.integers(1, 4), max_size=4).map(tuple)


@st.composite
def slices(draw):
    ends = st.none() | st.integers(-6, 6)
    return slice(draw(ends), draw(ends), draw(st.none() | st.sampled_from([-3, -2, -1, 1, 2, 3])))


@st.composite
def basic_indices(draw, shape):
    """Draw an index of integers, slices, None and one ``...`` that NumPy accepts for `shape`."""
    items = [draw(st.integers(-n, n - 1) | slices() if n else slices()) for n in shape]
    used = draw(st.integers(0, len(items)))
    front = draw(st.integers(0, used))
    index = items[:front]
    if used < len(items) or draw(st.booleans()):
        index.append(Ellipsis)
    index += items[len(items) - (used - front):] if used > front else []
    for _ in range(draw(st.integers(0, 2))):
        index.insert(draw(st.integers(0, len(index))), None)
    return index[0] if len(index) == 1 and draw(st.booleans()) else tuple(index)


@st.composite
def factorings(draw, size):
    """Draw a shape of `size` elements."""
    if size == 0:
        shape = [0, *draw(st.lists(st.integers(0, 3), max_size=2))]
    else:
        shape, rest = [], size
        while rest > 1:
            n = draw(st.sampled_from([d for d in range(2, rest + 1) if rest % d == 0]))
            shape.append(n)
            rest //= n
    shape += [1] * draw(st.integers(0, 2))
    return tuple(draw(st.permutations(shape)))


@st.composite
def steps(draw, shape):
    """Draw one view: the name of a method and its arguments, which NumPy accepts for an array of
    `shape`.
    """
    ndim = len(shape)
    axes = st.integers(-ndim, ndim - 1)
    makers = [
        st.tuples(st.just("index"), basic_indices(shape)),
        st.tuples(st.just("permute"), st.permutations(range(ndim)).map(tuple)),
        st.tuples(st.just("expand_dims"), st.integers(-ndim - 1, ndim)),
        st.tuples(st.just("broadcast_to"), broadcasts(shape)),
        st.tuples(st.just("squeeze"), st.none()),
    ]
    if ndim >= 2:
        pairs = st.tuples(st.integers(-4, 4), axes,
                          axes).filter(lambda t: t[1] % ndim != t[2] % ndim)
        makers.append(st.tuples(st.just("diagonal"), pairs))
    return draw(st.one_of(makers))


@st.composite
def broadcasts(draw, shape):
    """Draw a shape that `shape` broadcasts to."""
    stretched = [draw(st.integers(1, 3)) if n == 1 else n for n in shape]
    return (*draw(st.lists(st.integers(1, 2), max_size=1)), *stretched)


def on_array(np, a, step):
    """Return the view of an array that `step` names."""
    name, argument = step
    if name == "index":
        index = argument if isinstance(argument, tuple) else (argument,)
        # with ... always an array, never a scalar
        return a[index if Ellipsis in index else (*index, Ellipsis)]
    if name == "diagonal":
        return np.diagonal(a, *argument)
    return {"permute": np.transpose, "expand_dims": np.expand_dims, "broadcast_to": np.broadcast_to,
            "squeeze": np.squeeze}[name](a, argument)


def on_views(v, step):
    """Return the view of a `Layout` or a `Mat` that `step` names."""
    name, argument = step
    if name == "index":
        index = argument if isinstance(argument, tuple) else (argument,)
        return v[index if Ellipsis in index else (*index, Ellipsis)]
    if name == "diagonal":
        return v.diagonal(*argument)
    return getattr(v, name)(argument)
