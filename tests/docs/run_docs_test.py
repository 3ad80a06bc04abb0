#!/usr/bin/env python3
"""Tests of run_docs.py: each kind of mistake in a document is found, and a good document passes."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

RUNNER = pathlib.Path(__file__).with_name("run_docs.py")


def judge(text):
    """Exit code and output of the runner for a document."""
    with tempfile.TemporaryDirectory() as directory:
        document = pathlib.Path(directory) / "document.md"
        document.write_text(text, encoding="utf-8")
        result = subprocess.run([sys.executable, "-B", RUNNER, "--programs", directory, document], text=True,
                                capture_output=True)
        return result.returncode, result.stdout


def debian_has_pip():
    """Whether commands of pip are run here."""
    found = list(pathlib.Path("/usr/share/python-wheels").glob("wheel-*.whl"))
    return found and subprocess.run(["/usr/bin/python3", "-c", "import ensurepip, grpc"], capture_output=True).returncode == 0


class RunDocsTest(unittest.TestCase):
    def expect_failure(self, text, words):
        code, output = judge(text)
        self.assertEqual(code, 1, output)
        self.assertIn(words, output)

    def test_blocks_share_a_shell_and_a_directory(self):
        code, output = judge("```sh\nx=1\necho a > file\n```\ntext\n```sh\n[ $x = 1 ] && cat file\n```\n")
        self.assertEqual(code, 0, output)
        self.assertIn("2 blocks run", output)

    def test_set_up_that_readers_do_not_see_is_run(self):
        self.assertEqual(judge("<!-- test:\necho 1 > a.csv\n-->\n```sh\ncat a.csv\n```\n")[0], 0)

    def test_a_command_that_fails_names_its_block(self):
        self.expect_failure("one\n\n```sh\ntrue\nfalse\ntrue\n```\n", "document.md:3")

    def test_a_failure_within_a_pipe_counts(self):
        self.expect_failure("```sh\nfalse | true\n```\n", "FAILED")

    def test_a_marked_block_is_not_run_but_parsed(self):
        self.assertEqual(judge("<!-- not run: needs root -->\n```sh\nfalse\n```\n")[0], 0)
        self.expect_failure("<!-- not run: needs root -->\n```sh\nif true\n```\n", "syntax error")
        self.expect_failure("<!-- not run: slow -->\n```sh\ndeploy/no-such-file.sh --keep\n```\n", "no-such-file")

    def test_a_mark_holds_for_the_next_block_alone(self):
        self.expect_failure("<!-- not run: why -->\n```sh\nfalse\n```\n```sh\nfalse\n```\n", "FAILED")

    def test_unknown_languages_and_indented_blocks_are_refused(self):
        self.expect_failure("```shell\ntrue\n```\n", "shell")
        self.expect_failure("text\n\n    fidelio --help\n", "indented")

    def test_cpp_must_be_compiled(self):
        self.expect_failure("```cpp\nint never_compiled;\n```\n", "cpp_blocks.cc")
        self.assertEqual(judge("```cpp\nfidelio::Dataset   data;\n```\n")[0], 0)

    def test_links_must_lead_somewhere(self):
        self.expect_failure("[here](nowhere.md)\n", "nowhere.md")
        self.expect_failure("# One\n[here](#two)\n", "#two")
        self.assertEqual(judge("# One, two\n[here](#one-two) [there](https://example.com)\n")[0], 0)

    @unittest.skipUnless(debian_has_pip(), "needs deploy/install-deps.sh")
    def test_a_command_of_pip_within_a_line_is_run(self):
        self.expect_failure("Install it (`pip install ./no-such-package`).\n", "no-such-package")
        code, output = judge("Install it (`pip install ./client/python`).\n\n```sh\npip show fidelio-client\n```\n")
        self.assertEqual(code, 0, output)
        self.assertIn("2 blocks run", output)

    def test_a_command_of_pip_that_can_not_be_run_is_marked(self):
        self.assertEqual(judge("<!-- not run: needs a network -->\n`pip install no-such-package`\n")[0], 0)

    def test_what_a_document_leaves_running_is_ended(self):
        code, output = judge("```sh\nsleep 1000 &\n```\n")
        self.assertEqual(code, 0, output)


if __name__ == "__main__":
    unittest.main()
