"""The site, which is built once for all tests of it."""

import pytest

from ..support.site import ROOT, built


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    pytest.importorskip("zensical", reason="the packages of the extra `docs` are not installed")
    target = tmp_path_factory.mktemp("site")
    done = built(ROOT / "docs", target)
    assert done.returncode == 0, done.stdout + done.stderr
    return target / "site"
