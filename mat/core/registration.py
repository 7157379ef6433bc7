"""`Registration`: the numbers that `register_facet` gives a facet."""

from __future__ import annotations


class Registration:
    """The part of `Facet` that every access reads."""

    __slots__ = ("bit", "chooses", "mask", "of_device", "of_storage", "reading", "writing")

    def register(self, k: int, mask: int, of_device: bool, chooses: bool, of_storage: bool) -> None:
        """Be the facet number `k`, of the memory with the bit `mask`."""
        self.bit: int = 1 << k
        self.mask: int = mask
        self.reading: int = 2 * k  # keys of presented values
        self.writing: int = 2 * k + 1
        self.of_device: bool = of_device
        self.chooses: bool = chooses  # it has a method `chosen`
        self.of_storage: bool = of_storage  # it presents all elements, visible or not
