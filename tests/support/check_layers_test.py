#!/usr/bin/env python3
"""Shows that check_layers.py finds what it is there to find."""

import pathlib
import tempfile
import unittest

import check_layers


class CheckLayersTest(unittest.TestCase):
    def check(self, path, *lines):
        """The violations of a tree with one file of these lines."""
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            file = root / path
            file.parent.mkdir(parents=True)
            file.write_text("\n".join(lines), encoding="utf-8")
            violations, count = check_layers.check_tree(root)
            self.assertEqual(count, 1)
            return violations

    def test_accepts_what_the_table_allows(self):
        self.assertEqual(
            self.check(
                "core/gp/a.cc",
                '#include "core/gp/a.h"',
                "#include <vector>",
                "#include <Eigen/Core>",
                '#include "absl/status/statusor.h"',
                '#include "core/kernel/stationary.h"',
            ),
            [],
        )

    def test_names_file_line_and_rule(self):
        (violation,) = self.check("core/gp/a.cc", "", '#include "core/dgp/moments/mf_dgp.h"')
        self.assertTrue(violation.startswith('core/gp/a.cc:2: core/gp may not include core/dgp/moments ("core/dgp/moments/mf_dgp.h")'))

    def test_refuses_every_upward_or_sideways_dependency(self):
        for path, header in [
            ("core/base/a.h", "core/linalg/cholesky.h"),
            ("core/kernel/a.h", "core/gp/conditioning.h"),
            ("core/emulator/a.h", "core/kernel/stationary.h"),
            ("core/design/a.h", "core/dgp/moments/mf_dgp.h"),
            ("core/dgp/moments/a.h", "core/design/dpp.h"),
            ("core/data/a.h", "core/gp/conditioning.h"),
            ("core/dgp/sparse/a.h", "core/dgp/moments/recipe.h"),
            ("core/registry/a.h", "fidelio/v1/emulator.pb.h"),
            ("core/registry/a.h", "core/dgp/moments/mf_dgp.h"),
            ("core/gp/a.h", "core/registry/emulator_method.h"),
            ("core/dgp/sparse/a.h", "server/model/model.h"),
            ("core/dgp/sparse/a.h", "tests/support/naive_gp.h"),
            ("server/store/a.h", "core/dgp/moments/mf_dgp.h"),
            ("server/store/a.h", "grpcpp/grpcpp.h"),
            ("server/model/a.h", "proto/fidelio/v1/emulator.pb.h"),
            ("server/model/a.h", "core/neighbour/neighbour_dgp.h"),
            ("server/rpc/a.h", "server/store/store.h"),
            ("server/rpc/a.h", "sqlite3.h"),
            ("client/cpp/a.h", "core/base/types.h"),
            ("client/cli/a.h", "server/rpc/service.h"),
        ]:
            with self.subTest(path=path, header=header):
                self.assertEqual(len(self.check(path, f'#include "{header}"')), 1)

    def test_refuses_input_and_output_in_core(self):
        for header in ["iostream", "fstream", "unistd.h", "absl/synchronization/mutex.h"]:
            with self.subTest(header=header):
                self.assertEqual(len(self.check("core/dgp/sparse/a.cc", f"#include <{header}>")), 1)

    def test_a_header_may_be_allowed_without_its_module(self):
        self.assertEqual(self.check("core/emulator/a.h", '#include "core/kernel/kernel_family.h"'), [])

    def test_refuses_paths_that_do_not_start_at_the_root(self):
        (violation,) = self.check("core/gp/a.cc", '#include "conditioning.h"')
        self.assertIn("neither a path from the root", violation)

    def test_refuses_a_module_without_a_row(self):
        (violation,) = self.check("core/misc/a.cc", "")
        self.assertIn("core/misc has no row", violation)

    def test_every_name_in_the_table_exists(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        known = {"proto", *check_layers.EXTERNAL, *check_layers.RULES}
        for module, allowed in check_layers.RULES.items():
            headers = {name for name in allowed if name.endswith(".h") and (root / name).is_file()}
            self.assertLessEqual(set(allowed) - headers, known, module)


if __name__ == "__main__":
    unittest.main()
