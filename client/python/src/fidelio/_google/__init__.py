"""google.rpc.Status and the details of errors.

A process may know each message under one definition only, so that of googleapis-common-protos is taken where this
package is installed. Without it, our own copy will do.
"""

try:
    from google.rpc import error_details_pb2, status_pb2
except ImportError:
    from fidelio._google import own_error_details_pb2 as error_details_pb2
    from fidelio._google import own_status_pb2 as status_pb2

__all__ = ["error_details_pb2", "status_pb2"]
