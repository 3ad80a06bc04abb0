"""Build backend: setuptools, after the generated files were written (generate.py)."""

from __future__ import annotations

import generate
from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403  (all that is not overridden here)


def _tools() -> list[str]:
    return [generate.GRPC_TOOLS] if generate.in_repository() and generate.protoc() is None else []


def get_requires_for_build_wheel(config_settings=None):
    return [*build_meta.get_requires_for_build_wheel(config_settings), *_tools()]


def get_requires_for_build_sdist(config_settings=None):
    return [*build_meta.get_requires_for_build_sdist(config_settings), *_tools()]


def get_requires_for_build_editable(config_settings=None):
    return [*build_meta.get_requires_for_build_editable(config_settings), *_tools()]


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    generate.generate()
    return build_meta.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    generate.generate()
    return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    generate.generate()
    return build_meta.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    generate.generate()
    return build_meta.build_sdist(sdist_directory, config_settings)
