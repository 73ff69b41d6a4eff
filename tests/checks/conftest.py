"""Planted projects as fixtures."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from planted import CHECKS, Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project."""
    (tmp_path / "shop").mkdir()
    return Project(tmp_path / "shop")


@pytest.fixture
def helpdesk(project: Project) -> Project:
    """A project with a copy of the help desk and what its checks use, and no check."""
    leave_out = shutil.ignore_patterns("__pycache__", "*.yaml", "check_*.py")
    shutil.copytree(CHECKS, project.root / "checks", ignore=leave_out)
    return project


@pytest.fixture
def whole(project: Project) -> Project:
    """A project with a copy of the help desk and all of its checks."""
    shutil.copytree(CHECKS, project.root / "checks", ignore=shutil.ignore_patterns("__pycache__"))
    return project
