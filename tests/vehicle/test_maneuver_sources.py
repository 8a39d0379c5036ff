"""Every maneuver says where it and its measures are defined."""

import pytest

from sekant.vehicle.maneuvers import MANEUVERS
from sekant.vehicle.maneuvers.sources import SOURCES


@pytest.mark.parametrize("name", MANEUVERS)
def test_maneuvers_cite_known_sources(name):
    cls = MANEUVERS[name]
    assert cls.source
    assert cls.cites
    assert set(cls.cites) <= set(SOURCES)


def test_sources_name_year_or_number():
    for name, text in SOURCES.items():
        assert any(character.isdigit() for character in text), name
