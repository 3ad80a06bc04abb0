"""Messages of the contract (proto/fidelio/v1), as protoc wrote them when this package was built."""
