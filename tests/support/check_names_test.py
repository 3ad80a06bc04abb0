#!/usr/bin/env python3
"""Shows that check_names.py finds what it is there to find."""

import pathlib
import tempfile
import unittest

import check_names


class CheckNamesTest(unittest.TestCase):
    def check(self, first, second, places=("core/gp/a.cc", "core/gp/b.cc")):
        """The findings in a tree whose two sources have these lines in anonymous namespaces."""
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for place, lines in zip(places, (first, second)):
                (root / place).parent.mkdir(parents=True, exist_ok=True)
                text = "namespace fidelio {\nnamespace {\n%s\n}  // namespace\nint Public() { return 1; }\n}\n"
                (root / place).write_text(text % lines, encoding="utf-8")
            return check_names.check(root)

    def test_finds_constants_functions_and_types(self):
        for both, shown in (
            ("constexpr int kSize = 3;", "kSize"),
            ("constexpr int kOne[] = {1}, kTwo = Max(1, 2);", "kTwo"),
            ("const std::map<int, int> kTable = {{1, 2}};", "kTable"),
            ("double Now() { return f([] { return 1; }); }", "Now()"),
            ("template <typename T>\nT Twice(const T& v) { return v + v; }", "Twice(constT&)"),
            ("struct Case { int value; };", "Case"),
            ("enum class Colour { kRed };", "Colour"),
        ):
            findings = self.check(both, both)
            self.assertIn(f"core/gp: {shown} is in the anonymous namespaces of a.cc and b.cc", findings)

    def test_names_of_parameters_do_not_tell_functions_apart(self):
        first, second = "int F(const A& a, int n = 1) { return n; }", "int F(const A& b, int m) { return m; }"
        self.assertEqual(len(self.check(first, second)), 1)

    def test_accepts_overloads_equal_aliases_and_what_is_inside_of_something(self):
        self.assertEqual(self.check("int F(int n) { return n; }", "int F(double n) { return 1; }"), [])
        self.assertEqual(self.check("using A = int;", "using A = int;"), [])
        self.assertEqual(self.check("int F() { int kSize = 1; return kSize; }", "int G() { int kSize = 1; }"), [])
        self.assertEqual(self.check("int A::size_ = 1;\nTEST(A, B) {}", "int B::size_ = 1;\nTEST(A, C) {}"), [])
        self.assertEqual(self.check("class A;", "class A;"), [])
        self.assertEqual(self.check('// int kSize = 1;\nconst char* kA = "int kSize;";', "int kSize = 1;"), [])

    def test_finds_aliases_that_differ(self):
        self.assertEqual(len(self.check("using A = int;", "using A = double;")), 1)

    def test_directories_are_apart(self):
        same = "constexpr int kSize = 3;"
        self.assertEqual(self.check(same, same, ("core/gp/a.cc", "core/dgp/b.cc")), [])


if __name__ == "__main__":
    unittest.main()
