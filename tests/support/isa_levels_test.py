#!/usr/bin/env python3
"""Checks the built core libraries of all ISA levels and which of them the dynamic loader chooses on this machine.

usage: isa_levels_test.py EXECUTABLE LIB_DIRECTORY BASE_LEVEL [HIGHER_LEVEL…]
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest


def run(*command, **environment):
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **environment}).stdout


def supported_levels():
    """The glibc-hwcaps directories that the loader searches here, best first."""
    loader = re.search(r"interpreter: (\S+)\]", run("readelf", "-l", EXECUTABLE))[1]
    return re.findall(r"^\s+x86-64-(v\d) \(supported, searched\)", run(loader, "--help"), re.MULTILINE)


def exported(library):
    """The mangled names of what a library defines for others."""
    return {line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()}


class IsaLevelsTest(unittest.TestCase):
    def test_all_levels_have_the_same_soname(self):
        for library in LIBRARIES.values():
            self.assertIn(f"[{SONAME}]", run("readelf", "-d", library))

    def test_all_levels_export_the_same_interface(self):
        def interface(library):
            return {name for name in exported(library) if "7fidelio" in name and not re.match("_ZNK?St", name)}

        for library in LIBRARIES.values():
            self.assertEqual(interface(library), interface(LIBRARIES[LEVELS[0]]))

    def test_inline_code_of_eigen_stays_inside(self):
        for library in LIBRARIES.values():
            self.assertEqual([name for name in exported(library) if re.match("_ZNK?5Eigen", name)], [])

    def test_the_loader_prefers_a_better_level_that_this_machine_supports(self):
        better = next(iter(supported_levels()), None)
        if not better:
            self.skipTest("the loader knows no better level here")
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            base, preferred = root / "lib", root / f"lib/glibc-hwcaps/x86-64-{better}"
            for place in (base, preferred):
                place.mkdir(parents=True)
                shutil.copy(LIBRARIES[LEVELS[0]], place / SONAME)
            (root / "bin").mkdir()
            program = shutil.copy(EXECUTABLE, root / "bin")
            loaded = re.search(rf"{re.escape(SONAME)} => (\S+)", run(program, LD_TRACE_LOADED_OBJECTS="1"))[1]
            self.assertTrue(os.path.samefile(loaded, preferred / SONAME), loaded)

    def test_the_loader_chooses_the_best_level_that_this_machine_supports(self):
        best = next((level for level in supported_levels() if level in LEVELS[1:]), LEVELS[0])
        loaded = re.search(rf"{re.escape(SONAME)} => (\S+)", run(EXECUTABLE, LD_TRACE_LOADED_OBJECTS="1"))[1]
        self.assertTrue(os.path.samefile(loaded, LIBRARIES[best]), loaded)


if __name__ == "__main__":
    EXECUTABLE, directory, *LEVELS = sys.argv[1:]
    LIBRARY_DIRECTORY = pathlib.Path(directory)
    SONAME = "libfidelio_core.so.0"
    LIBRARIES = {
        level: LIBRARY_DIRECTORY / (f"glibc-hwcaps/x86-64-{level}" if level != LEVELS[0] else "") / SONAME
        for level in LEVELS
    }
    unittest.main(argv=sys.argv[:1])
