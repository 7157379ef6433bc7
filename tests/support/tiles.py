"""Tiles that are carried out on the host: what their results are does not depend on the memory."""

from mat.ops.tiling import TileTooLarge


def run_in_tiles(operation, args, budget, **kwargs):
    """Carry out a call in tiles for that many bytes, one ahead of the other as on a device; return
    how many there were, or None if there is no room for one.
    """
    operation.check(*args, **kwargs)
    count, waiting = 0, None
    try:
        for tile in operation.cutter(args, kwargs, budget):
            if waiting is not None:
                waiting.run()
            waiting, count = tile, count + 1
    except TileTooLarge as error:
        if count or error.needed <= budget:
            raise
        return None
    if waiting is not None:
        waiting.run()
    return count
