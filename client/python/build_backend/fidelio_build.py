"""Build backend: setuptools, which finds the generated files (generate.py) in every hook."""

from __future__ import annotations

import editable
import generate
from setuptools import build_meta

_HAS_EDITABLE = hasattr(build_meta, "build_editable")  # since setuptools 64


def _requires(hook, config_settings):
    # setuptools reads the version here. The messages come later: what makes them may not be installed yet.
    generate.generate_metadata()
    tools = [generate.GRPC_TOOLS] if generate.in_repository() and generate.protoc() is None else []
    return [*hook(config_settings), *tools]


def get_requires_for_build_wheel(config_settings=None):
    return _requires(build_meta.get_requires_for_build_wheel, config_settings)


def get_requires_for_build_sdist(config_settings=None):
    return _requires(build_meta.get_requires_for_build_sdist, config_settings)


def get_requires_for_build_editable(config_settings=None):
    if _HAS_EDITABLE:
        return _requires(build_meta.get_requires_for_build_editable, config_settings)
    return get_requires_for_build_wheel(config_settings)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    generate.generate_metadata()
    return build_meta.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def prepare_metadata_for_build_editable(metadata_directory, config_settings=None):
    generate.generate_metadata()
    if _HAS_EDITABLE:
        return build_meta.prepare_metadata_for_build_editable(metadata_directory, config_settings)
    return build_meta.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    generate.generate()
    return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    generate.generate()
    if _HAS_EDITABLE:
        return build_meta.build_editable(wheel_directory, config_settings, metadata_directory)
    return editable.build(wheel_directory, generate.PACKAGE.parent, build_meta.prepare_metadata_for_build_wheel)


def build_sdist(sdist_directory, config_settings=None):
    generate.generate()
    return build_meta.build_sdist(sdist_directory, config_settings)
