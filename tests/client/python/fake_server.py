"""A server of the contract in this process, for what a real one does too rarely to test: it returns what a test says."""

import concurrent.futures

import grpc

import fidelio
from fidelio._caller import SERVICE, methods


class FakeServer:
    """responses: a function of the request per method. requests: what was asked, as (method, request) pairs."""

    def __init__(self, **responses):
        self.responses = responses
        self.requests = []
        self._server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
        handlers = {}
        for method, sends, receives in methods():
            if not sends and not receives:
                handlers[method.name] = grpc.unary_unary_rpc_method_handler(
                    self._respond(method.name),
                    request_deserializer=method.input_type._concrete_class.FromString,
                    response_serializer=method.output_type._concrete_class.SerializeToString,
                )
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE.full_name, handlers),))
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"

    def _respond(self, method):
        def respond(request, context):
            self.requests.append((method, request))
            if method not in self.responses:
                context.abort(grpc.StatusCode.UNIMPLEMENTED, "")
            return self.responses[method](request)

        return respond

    def last(self, method):
        """The last request of a method."""
        return [request for name, request in self.requests if name == method][-1]

    def __enter__(self):
        self._server.start()
        self.client = fidelio.Client(self.address, timeout=20)
        return self

    def __exit__(self, *_):
        self.client.close()
        self._server.stop(None).wait()
