from __future__ import annotations

import pytest

from report import samples
from unveil.assessment import Assessment

NAMES = ("hospital", "baskets", "friends", "linked", "hostile")


@pytest.fixture
def hospital() -> Assessment:
    return samples.hospital()


@pytest.fixture
def baskets() -> Assessment:
    return samples.baskets()


@pytest.fixture
def friends() -> Assessment:
    return samples.friends()


@pytest.fixture
def linked() -> Assessment:
    return samples.linked()


@pytest.fixture
def hostile() -> Assessment:
    return samples.hostile()


@pytest.fixture(params=NAMES)
def sample(request: pytest.FixtureRequest) -> Assessment:
    made: Assessment = getattr(samples, request.param)()
    return made
