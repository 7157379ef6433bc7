"""The facet "backing" of Mats that are so large that copies of parts of them are made."""

import pytest

import mat


@pytest.mark.host
@pytest.mark.parametrize("direction", ["input", "io", "output"])
def test_backing_through_a_part_has_the_rest_where_copies_are_of_parts(direction):
    with mat.use_device("emulated"):
        x = mat.zeros(100_000)
        x += 7
        with x[:10].facet("backing", direction) as whole:
            assert (whole[10:] == 7).all()
            assert direction == "output" or (whole[:10] == 7).all()
            if direction != "input":
                whole[:10] = 1
        x[5_000:] += 1  # on the device
        with x[:10].facet("array", "input"), x[20:30].facet("backing", "input") as whole:
            assert whole[9999] == 8
            assert whole[10] == 7
        with (x[50_000:].facet("emulated", "io"),
              pytest.raises(mat.ConflictError, match="it conflicts with the access to"),
              x[:10].facet("backing", "input")):
            pass
