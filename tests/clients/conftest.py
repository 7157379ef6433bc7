"""Warnings of other libraries are no failures of `mat`; its own still are."""

import os
from pathlib import Path

import pytest

FILTERS = [  # what clients themselves warn of, with the versions the table was made with
    "ignore::DeprecationWarning", "ignore::PendingDeprecationWarning", "ignore::FutureWarning",
    "ignore::ResourceWarning",
    "error::DeprecationWarning:mat",
]


def pytest_collection_modifyitems(items):
    here = f"{Path(__file__).parent}{os.sep}"
    for item in items:
        if str(item.path).startswith(here):
            for text in FILTERS:
                item.add_marker(pytest.mark.filterwarnings(text))
