"""Connections: retries, deadlines, tokens, TLS and private servers."""

import concurrent.futures
import hashlib
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time

import grpc
import numpy as np
import pytest
from conftest import learn, points

import fidelio
from fidelio import _caller


def test_calls_wait_for_a_server_that_comes_back(own_server):
    model = learn(own_server.create_model("wing", inputs=2, fidelities=["low", "high"]))
    x = points(5, seed=3)
    before = model.predict(x)
    own_server.server.kill()
    starter = threading.Timer(0.3, own_server.server.start)
    starter.start()
    after = model.predict(x)  # without a fit
    starter.join()
    assert np.array_equal(before, after)


def test_a_call_that_is_sent_twice_happens_once(own_server, monkeypatch):
    model = own_server.create_model("wing", inputs=1)
    once, sent = _caller.Caller.once, []

    def lose_the_first_answer(self, method, request, deadline):
        answer = once(self, method, request, deadline)
        if method == "AddObservations":
            sent.append(request.request_id)
            if len(sent) == 1:
                error = grpc.RpcError()
                error.code, error.details = ((lambda: grpc.StatusCode.UNAVAILABLE), (lambda: "connection reset"))
                error.trailing_metadata = lambda: ()
                raise error
        return answer

    monkeypatch.setattr(_caller.Caller, "once", lose_the_first_answer)
    added = model.add([0.5], [1.0])
    assert len(sent) == 2 and sent[0] == sent[1]
    assert added.data_version == 1 and model.refresh().counts == (1,)


def test_without_a_server_the_error_says_where_it_was_sought():
    with fidelio.Client("127.0.0.1:1", timeout=0.3) as client:
        with pytest.raises((fidelio.Unavailable, fidelio.DeadlineExceeded), match="127.0.0.1:1"):
            client.models()


def test_a_host_alone_has_the_port_of_servers():
    assert _caller.Options("emulator.example.com").target == "emulator.example.com:50051"
    assert _caller.Options("[::1]").target == "[::1]:50051"
    assert _caller.Options("[::1]:7").target == "[::1]:7"
    assert _caller.Options("unix:/run/fidelio").target == "unix:/run/fidelio"


def test_a_closed_client_says_so():
    client = fidelio.Client("127.0.0.1:1")
    client.close()
    with pytest.raises(fidelio.FailedPrecondition, match="closed"):
        client.models()


def test_no_retries_when_none_are_wanted():
    with fidelio.Client("127.0.0.1:1", retry=fidelio.RetryPolicy(give_up_after=0)) as client:
        start = time.monotonic()
        with pytest.raises(fidelio.Unavailable):
            client.models()
        assert time.monotonic() - start < 50  # the timeout is 60 s


@pytest.mark.parametrize(
    "options, message",
    [
        ({"address": ""}, "address: empty"),
        ({"address": "http://127.0.0.1:50051"}, "is a URL, must be host:port"),
        ({"address": "127.0.0.1:grpc"}, "must be host:port, with a port from 1"),
        ({"address": "10.0.0.1:50051", "token": "secret"}, "use TLS"),
        ({"address": "127.evil.com:50051", "token": "secret"}, "use TLS"),
        ({"address": "localhost.evil.com", "token": "secret"}, "use TLS"),
        ({"address": "[::1].evil.com:1", "token": "secret"}, "use TLS"),
        ({"address": "dns:///127.0.0.1.evil.com:1", "token": "secret"}, "use TLS"),
        ({"address": "10.0.0.1:50051", "token": "two words", "tls": True}, "token: must be one line"),
        ({"address": "127.0.0.1:1", "tls_cert": "cert.pem"}, "needed together"),
        ({"address": "127.0.0.1:1", "tls_ca": "/no/such/file"}, "tls_ca: /no/such/file: No such file"),
        ({"address": "127.0.0.1:1", "timeout": 0}, "timeout: 0, must be"),
    ],
)
def test_options_that_can_not_be_are_refused(options, message):
    with pytest.raises(fidelio.InvalidArgument, match=message):
        fidelio.Client(**options)


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1:1", "127.8.9.10", "localhost", "LOCALHOST:7", "[::1]", "[::1]:7", "unix:/run/x", "ipv4:127.0.0.1:7"],
)
def test_tokens_need_no_tls_on_this_machine(address):
    fidelio.Client(address, token="secret").close()


def test_retry_policies_are_checked():
    with pytest.raises(fidelio.InvalidArgument, match="first_delay"):
        fidelio.RetryPolicy(first_delay=5)
    with pytest.raises(fidelio.InvalidArgument, match="multiplier"):
        fidelio.RetryPolicy(multiplier=0.5)


def test_threads_may_share_a_client(fitted):
    x = points(8, seed=3)
    expected = fitted.predict(x)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(lambda i: fitted.predict(x[i : i + 1])[0], range(8)))
    assert np.allclose(rows, expected, rtol=1e-12)


def test_a_client_can_be_pickled(client, fitted):
    twin = pickle.loads(pickle.dumps(client))
    assert "fitted" in [model.name for model in twin.models()]
    twin.close()


def test_the_environment_says_where_the_server_is(client, monkeypatch):
    monkeypatch.setenv("FIDELIO_SERVER", client.address)
    with fidelio.Client() as other:
        assert other.address == client.address and other.server_info().version == fidelio.__version__


@pytest.fixture
def tokens(tmp_path):
    """A tokens file with a writer and a reader."""
    path = tmp_path / "tokens"
    lines = [
        f"{role} {role} sha256:{hashlib.sha256(f'{role}-token-{role}-token'.encode()).hexdigest()}"
        for role in ("writer", "reader")
    ]
    path.write_text("\n".join(lines) + "\n")
    path.chmod(0o600)
    return path


def test_tokens_decide_what_a_client_may_do(tokens, monkeypatch, tmp_path):
    def token(role):
        return f"{role}-token-{role}-token"

    with fidelio.local(arguments=["--tokens-file", str(tokens)], token=token("writer")) as writer:
        assert (writer.server_info().caller, writer.server_info().role) == ("writer", "writer")
        writer.create_model("wing", inputs=1)
        with fidelio.Client(writer.address, token=token("reader")) as reader:
            assert reader.model("wing").info.inputs == 1
            with pytest.raises(fidelio.PermissionDenied):
                reader.create_model("other", inputs=1)
        with fidelio.Client(writer.address) as nobody, pytest.raises(fidelio.Unauthenticated):
            nobody.models()
        (tmp_path / "token").write_text(token("reader") + "\n")
        monkeypatch.setenv("FIDELIO_TOKEN_FILE", str(tmp_path / "token"))
        with fidelio.Client(writer.address) as other:
            assert other.server_info().role == "reader"


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificate")
def test_tls_keeps_strangers_out(tmp_path):
    certificate, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=fidelio.test",
         "-addext", "subjectAltName=DNS:fidelio.test", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    os.chmod(key, 0o600)
    arguments = ["--tls-cert", certificate, "--tls-key", key]
    with fidelio.local(arguments=arguments, tls_ca=certificate, tls_server_name="fidelio.test") as client:
        assert client.models() == []
        with fidelio.Client(client.address, tls_ca=certificate, timeout=1) as wrong_name:
            with pytest.raises((fidelio.Unavailable, fidelio.DeadlineExceeded)):
                wrong_name.models()


def test_a_data_directory_keeps_models_from_one_server_to_the_next(tmp_path):
    x = points(4, seed=3)
    with fidelio.local(tmp_path / "data") as client:
        before = learn(client.create_model("wing", inputs=2, fidelities=["low", "high"])).predict(x)
    with fidelio.local(tmp_path / "data") as client:
        assert np.array_equal(client.model("wing").predict(x), before)


def test_private_files_are_gone_with_the_server():
    client = fidelio.local()
    assert os.path.exists(client.server.data_dir)
    client.close()
    assert not os.path.exists(os.path.dirname(client.server.data_dir))


def test_a_server_does_not_outlive_its_process():
    script = "import fidelio, os, signal; c = fidelio.local(); print(c.server.pid, flush=True); os.kill(os.getpid(), 9)"
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == -9
    stat = f"/proc/{int(done.stdout)}/stat"
    deadline = time.monotonic() + 60
    while os.path.exists(stat) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not os.path.exists(stat)


def test_a_server_that_can_not_start_says_why(tmp_path):
    with pytest.raises(fidelio.ServerFailed, match="--no-such-flag"):
        fidelio.local(arguments=["--no-such-flag"])
    with pytest.raises(fidelio.ProgramNotFound, match="is not a program"):
        fidelio.local(binary=str(tmp_path / "nothing"))


def test_a_private_server_that_ended_by_itself_is_not_waited_for(own_server):
    os.kill(own_server.server.pid, signal.SIGKILL)
    with pytest.raises(fidelio.ServerFailed, match="ended by itself"):
        own_server.models()


def test_a_program_that_is_nowhere_is_said_to_be(monkeypatch):
    monkeypatch.delenv("FIDELIO_SERVER_BINARY")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(fidelio.ProgramNotFound, match="PATH, or its path into FIDELIO_SERVER_BINARY"):
        fidelio.local()
