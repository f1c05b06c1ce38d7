"""Tensors sent through sockets: send_async and recv_async.

Source: tt-metal `ttnn/cpp/ttnn/operations/experimental/ccl/send_recv_async`.
"""

from __future__ import annotations

from typing import Any, Final

from ttnn.operation.observation import note
from ttnn.operation.registry import declare
from ttnn.operation.signature import TENSOR, Param, Signature, host_kind
from ttnn.ops._programs.common import INPUT_TENSOR, on_device
from ttnn.ops.ccl.gather import BOTH_LAYOUTS, FLOATS_AND_INTEGERS
from ttnn.ops.ccl.transfers import Transfer
from ttnn.tensor.tensor import Tensor

_SOURCE: Final = "ttnn/cpp/ttnn/operations/experimental/ccl/send_recv_async"
_SOCKET: Final = Param(
    "mesh_socket",
    host_kind("MeshSocket"),
    doc="An end of the socket; see `ttnn.create_socket_pair`.",
)
_RAISES: Final = (
    ("ParameterError", "it is the other end of the socket."),
    ("DeviceError", "the tensor is on another mesh, or not on all chips of the socket's connections."),
    ("ShapeError", "sender and receiver differ in shape, data type or layout."),
    ("StorageError", "the tensor is not on a device."),
)


def _send(name: str, tensor: Tensor, mesh_socket: Any) -> list[Tensor]:
    on_device(name, tensor)
    mesh_socket._send(name, tensor)
    size, page = tensor.spec.num_pages * tensor.spec.page_bytes, tensor.spec.page_bytes
    note(
        Transfer("SendAsync", "one", chips=2, ring=False, links=1, axis=None, slice_bytes=size, page_bytes=page, hops=1)
    )
    return []


def _receive(name: str, tensor: Tensor, mesh_socket: Any) -> list[Tensor]:
    on_device(name, tensor)
    mesh_socket._receive(name, tensor)
    return [tensor]


def _sender(name: str) -> Any:
    def run(input_tensor: Tensor, mesh_socket: Any) -> list[Tensor]:
        return _send(f"ttnn.{name}", input_tensor, mesh_socket)

    return declare(
        name,
        (Signature((INPUT_TENSOR, _SOCKET)),),
        run,
        "Write a tensor to a socket.\nIt waits in the socket until it is received.\nShape: [...] -> an empty list [].",
        source=_SOURCE,
        dtypes=FLOATS_AND_INTEGERS,
        layouts=BOTH_LAYOUTS,
        of_meshes=True,
        raises=_RAISES,
    )


def _receiver(name: str) -> Any:
    def run(output_tensor: Tensor, mesh_socket: Any) -> list[Tensor]:
        return _receive(f"ttnn.{name}", output_tensor, mesh_socket)

    return declare(
        name,
        (Signature((Param("output_tensor", TENSOR, doc="Gets what was sent."), _SOCKET)),),
        run,
        "Write a socket's next tensor to `output_tensor`.\n"
        "If none was sent yet, that happens once one is sent. Return a list of `output_tensor`.\n"
        "Shape: [...] -> [...].",
        source=_SOURCE,
        dtypes=FLOATS_AND_INTEGERS,
        layouts=BOTH_LAYOUTS,
        of_meshes=True,
        raises=_RAISES,
    )


send_async, send_direct_async = map(_sender, ("experimental.send_async", "experimental.send_direct_async"))
recv_async, recv_direct_async = map(_receiver, ("experimental.recv_async", "experimental.recv_direct_async"))
