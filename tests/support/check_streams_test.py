#!/usr/bin/env python3
"""Shows that check_streams.py finds what it is there to find."""

import pathlib
import tempfile
import unittest

import check_streams

FUNCTION = "void Step(int n, uint64_t seed, uint32_t stream) { Random random(seed, stream, n); }\n"


class CheckStreamsTest(unittest.TestCase):
    def check(self, text, place="core/gp/a.cc"):
        """The findings in a tree with one source."""
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / place
            path.parent.mkdir(parents=True)
            path.write_text(text, encoding="utf-8")
            return check_streams.check(pathlib.Path(directory))

    def test_finds_numbers_and_what_is_computed_from_them(self):
        for line, shown in (
            ("Random random(seed, 7);", "7"),
            ("Random random{seed, 7u, i};", "7u"),
            ("const double u = Random(options.seed, static_cast<int>(level)).Uniform();", "static_cast<int>(level)"),
            ("Random random(state->seed, kOwnNumber);", "kOwnNumber"),
            ("Random random(seed, StreamOf(RandomUse::kHmc) + 1);", "StreamOf(RandomUse::kHmc) + 1"),
            ("auto random = std::make_unique<Random>(seed, 3);", "3"),
            ("std::vector<Random> all;\nall.emplace_back(seed, 3, i);", "3"),
            ("const uint32_t stream = 3;", "3"),
        ):
            findings = self.check("\n" + line)
            self.assertEqual(len(findings), 1, line)
            self.assertIn(f": {shown} is no stream", findings[0])

    def test_finds_numbers_that_are_given_to_functions(self):
        self.assertEqual(self.check(FUNCTION), [])
        self.assertEqual(
            self.check(FUNCTION + "void F() { Step(1, 2, 3); }"),
            ["core/gp/a.cc:2: 3 is no stream of core/base/random_streams.h"],
        )
        self.assertEqual(len(self.check("void Step(uint64_t seed, uint32_t stream = 0);")), 1)

    def test_accepts_streams_of_the_table_and_their_names(self):
        for line in (
            "Random random(seed, StreamOf(RandomUse::kHmc, static_cast<uint32_t>(256 * stage + c)), i);",
            "const uint64_t bits = Random(options_.seed, DesignStream(static_cast<uint32_t>(level))).NextBits();",
            "const uint32_t stream = StreamOf(RandomUse::kHmc);\nRandom random(seed, stream);",
            "std::vector<Random> all;\nall.emplace_back(seed, StreamOf(RandomUse::kFunction), i);",
            FUNCTION + "void F() { Step(1, 2, StreamOf(RandomUse::kHmc)); }",
        ):
            self.assertEqual(self.check(line), [], line)

    def test_accepts_what_constructs_nothing(self):
        for line in (
            "double Draw(Random& random, int n) { return random.Uniform(); }",
            "Random random(other);",
            "// Random random(seed, 7);",
            'const char* text = "Random(seed, 7)";',
        ):
            self.assertEqual(self.check(line), [], line)
        self.assertEqual(self.check("Random random(seed, 7);", "tests/core/gp/a.cc"), [])


if __name__ == "__main__":
    unittest.main()
