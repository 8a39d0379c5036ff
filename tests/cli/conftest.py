"""A folder with a model in it."""

from pathlib import Path

import pytest
from command_line import PENDULUM


@pytest.fixture
def model_folder(tmp_path) -> Path:
    (tmp_path / "crane.yaml").write_text(PENDULUM)
    return tmp_path
