#!/usr/bin/env python3
"""Tests of what is under deploy/ and of the Dockerfile, as far as they go without an engine, a cluster or systemd's PID 1.

usage: deploy_test.py BUILD_DIR [unittest's arguments]
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import yaml
except ImportError:
    yaml = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else ROOT / "build" / "release"


def settings():
    """The environment variables that the server knows."""
    text = subprocess.run([BUILD / "bin" / "fidelio-server", "--print-config"], text=True, capture_output=True,
                          check=True, env={}).stdout
    return {"FIDELIO_" + name.upper() for name in re.findall(r"^(\w+) = ", text, re.MULTILINE)}


def variables_of(text):
    return set(re.findall(r"\bFIDELIO_[A-Z_]+\b", text))


class InstallTest(unittest.TestCase):
    def test_an_installed_tree_works_wherever_it_is(self):
        with tempfile.TemporaryDirectory() as directory:
            prefix = pathlib.Path(directory) / "prefix"
            subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, capture_output=True)
            for path in ["bin/fidelio", "lib/libfidelio_core.so.0", "lib/systemd/system/fidelio.service",
                         "lib/sysusers.d/fidelio.conf", "share/fidelio/proto/fidelio/v1/emulator.proto",
                         "share/bash-completion/completions/fidelio", "share/zsh/site-functions/_fidelio"]:
                self.assertTrue((prefix / path).exists(), path)
            levels = [path.name for path in (BUILD / "lib" / "glibc-hwcaps").glob("x86-64-*")]
            for level in levels:
                self.assertTrue((prefix / "lib" / "glibc-hwcaps" / level / "libfidelio_core.so.0").exists(), level)
            loaded = subprocess.run(["ldd", prefix / "bin" / "fidelio-server"], text=True, capture_output=True, check=True)
            core = next(line for line in loaded.stdout.splitlines() if "libfidelio_core" in line)
            self.assertIn(str(prefix), core)
            for program in ["fidelio", "fidelio-server"]:
                version = subprocess.run([prefix / "bin" / program, "--version"], text=True, capture_output=True)
                self.assertEqual(version.returncode, 0, version.stderr)


class WheelScriptTest(unittest.TestCase):
    """Its options; tests/client/python/wheel.sh makes a wheel."""

    def expect(self, arguments, code, words):
        done = subprocess.run([ROOT / "deploy" / "wheel.sh", *arguments], text=True, capture_output=True)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(words, done.stdout if code == 0 else done.stderr)

    def test_help_and_mistakes(self):
        with tempfile.TemporaryDirectory() as out:
            self.expect(["--help"], 0, "usage: deploy/wheel.sh")
            self.expect(["--buildt"], 2, '"--buildt" is not an option')
            self.expect(["--out"], 2, "--out: needs a value")
            self.expect(["--out", out, "--built", f"{out}/nowhere"], 1, "--built: no such directory")
            self.expect(["--out", out, "--built", out], 1, "bin/fidelio-server does not exist")
            self.assertEqual(list(pathlib.Path(out).iterdir()), [])


class DockerfileTest(unittest.TestCase):
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")

    def test_its_settings_are_settings_of_the_server(self):
        self.assertLessEqual(variables_of(self.text) - {"FIDELIO_ISA_LEVELS", "FIDELIO_SOURCE_REVISION"}, settings())

    def test_it_installs_every_library_that_the_programs_load(self):
        installed = self.with_dependencies(set(re.findall(r"\blib[\w.+-]+\b", self.text)))
        for program in ["fidelio-server", "fidelio"]:
            direct = subprocess.run(["objdump", "-p", BUILD / "bin" / program], text=True, capture_output=True, check=True)
            loaded = subprocess.run(["ldd", BUILD / "bin" / program], text=True, capture_output=True, check=True).stdout
            paths = dict(re.findall(r"^\s*(\S+) => (/\S+)", loaded, re.MULTILINE))
            for library in re.findall(r"NEEDED\s+(\S+)", direct.stdout):
                path = pathlib.Path(paths[library])
                if path.is_relative_to(BUILD):
                    continue
                package = self.package_of(path)
                self.assertIn(package, installed, f"{program} needs {library}")

    def package_of(self, path):
        for candidate in [path, pathlib.Path("/usr") / path.relative_to("/"), path.resolve()]:
            found = subprocess.run(["dpkg-query", "-S", candidate], text=True, capture_output=True)
            if found.returncode == 0:
                return found.stdout.split(":")[0]
        self.fail(f"{path} is of no package")

    def with_dependencies(self, packages):
        """These packages, and those that come with them."""
        found, new = set(), packages
        while new:
            found |= new
            depends = subprocess.run(["dpkg-query", "-W", "-f", "${Depends}\n", *sorted(new)], text=True,
                                     capture_output=True).stdout
            new = {re.split(r"[ :(]", name.strip())[0] for name in re.split(r"[,|\n]", depends)} - found - {""}
        return found

    def test_it_names_files_that_exist(self):
        for source in re.findall(r"^COPY (?!--from)(\S+)", self.text, re.MULTILINE):
            self.assertTrue((ROOT / source).exists(), source)


class ExampleTest(unittest.TestCase):
    def run_currin(self, *arguments):
        return subprocess.run([ROOT / "deploy" / "examples" / "currin.py", *arguments], text=True, capture_output=True, input="")

    def test_the_simulator_says_what_is_wrong_with_a_table_and_writes_none(self):
        missing = self.run_currin("run", "/no/such/table.csv")
        self.assertEqual((missing.returncode, missing.stdout), (1, ""))
        self.assertEqual(missing.stderr, "currin.py: /no/such/table.csv: cannot be read: No such file or directory\n")
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as table:
            table.write("fidelity,x1,x2\nlow,0.5,0.5\nlow,abc,1\n")
            table.flush()
            bad = self.run_currin("run", table.name)
        self.assertEqual((bad.returncode, bad.stdout), (1, ""))
        self.assertIn("row 2", bad.stderr)


class SystemdTest(unittest.TestCase):
    unit = (ROOT / "deploy" / "systemd" / "fidelio.service.in").read_text(encoding="utf-8")

    def test_its_example_is_a_configuration(self):
        checked = subprocess.run([BUILD / "bin" / "fidelio-server", "--print-config", "--config",
                                  ROOT / "deploy" / "systemd" / "fidelio.conf"], text=True, capture_output=True, env={})
        self.assertEqual(checked.returncode, 0, checked.stderr)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not there")
    def test_systemd_understands_it_and_finds_it_hardened(self):
        with tempfile.TemporaryDirectory() as directory:
            unit = pathlib.Path(directory) / "fidelio.service"
            text = re.sub(r"@CMAKE_INSTALL_PREFIX@/bin", str(BUILD / "bin"), self.unit)
            unit.write_text(re.sub(r"@CMAKE\w+@", "/usr/share/doc", text), encoding="utf-8")
            checked = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], text=True, capture_output=True)
            self.assertNotRegex(checked.stderr, r"fidelio\.service:\d+|Unknown|Failed to parse")
            exposure = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=20", unit],
                                      text=True, capture_output=True)
            self.assertEqual(exposure.returncode, 0, exposure.stdout + exposure.stderr)


@unittest.skipUnless(yaml, "python3 has no yaml here")
class ManifestsTest(unittest.TestCase):
    def test_compose_names_settings_secrets_and_networks_that_exist(self):
        path = ROOT / "deploy" / "compose" / "compose.yaml"
        compose = yaml.safe_load(path.read_text(encoding="utf-8"))
        self.assertLessEqual(set(compose["services"]["fidelio"]["environment"]), settings())
        for name, service in compose["services"].items():
            for kind in ("secrets", "networks"):
                self.assertLessEqual(set(service.get(kind, [])), set(compose[kind]), name)
            self.assertTrue(service["read_only"], name)
            for volume in service.get("volumes", []):
                source = volume.split(":")[0]
                self.assertTrue(source in compose["volumes"] or (path.parent / source).exists(), volume)
        self.assertNotIn("ports", compose["services"]["fidelio"])  # but through the proxy
        self.assertTrue(compose["networks"]["inside"]["internal"])

    def test_kubernetes_objects_fit_each_other_and_the_image(self):
        path = ROOT / "deploy" / "kubernetes" / "fidelio.yaml"
        objects = {entry["kind"]: entry for entry in yaml.safe_load_all(path.read_text(encoding="utf-8"))}
        self.assertEqual(set(objects), {"Service", "StatefulSet", "PodDisruptionBudget", "NetworkPolicy"})
        spec = objects["StatefulSet"]["spec"]
        labels = spec["template"]["metadata"]["labels"]
        for selector in [spec["selector"]["matchLabels"], objects["Service"]["spec"]["selector"],
                         objects["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
                         objects["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"]]:
            self.assertEqual(selector, labels)
        self.assertEqual(spec["serviceName"], objects["Service"]["metadata"]["name"])
        self.assertEqual(spec["replicas"], 1)  # one data directory, one server
        pod = spec["template"]["spec"]
        container = pod["containers"][0]
        self.assertLessEqual({variable["name"] for variable in container["env"]}, settings())
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        for port in objects["Service"]["spec"]["ports"]:
            self.assertIn(port["targetPort"], ports)
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            self.assertEqual(container[probe]["httpGet"]["port"], "metrics")
        volumes = {volume["name"] for volume in pod["volumes"]}
        volumes |= {claim["metadata"]["name"] for claim in spec["volumeClaimTemplates"]}
        self.assertEqual({mount["name"] for mount in container["volumeMounts"]}, volumes)
        self.assertTrue(container["securityContext"]["readOnlyRootFilesystem"])
        self.assertIn(f"USER {pod['securityContext']['runAsUser']}:{pod['securityContext']['runAsGroup']}",
                      DockerfileTest.text)


if __name__ == "__main__":
    unittest.main()
