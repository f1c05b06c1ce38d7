"""Where the pages of a buffer are: address generators and tensor accessors."""

from __future__ import annotations

from functools import partial
from typing import Any

from ttnn import _engine
from ttnn.exceptions import KernelArgumentError
from ttnn.kernel_api.arguments import get_compile_time_arg_val
from ttnn.kernel_api.dataflow import get_noc_addr

__all__ = [
    "InterleavedAddrGen",
    "InterleavedAddrGenFast",
    "TensorAccessor",
    "TensorAccessorArgs",
]


class _Pages:
    """Pages of one size from a base address on. `Class[True](...)` is the C++ template argument for DRAM."""

    __slots__ = ("base", "dram", "page_bytes")

    def __init__(self, base: int, page_bytes: int, dram: bool) -> None:
        self.base = base
        self.page_bytes = page_bytes
        self.dram = dram

    def __class_getitem__(cls, dram: bool) -> Any:
        return partial(cls, dram=dram)

    def get_noc_addr(self, page_id: int, offset: int = 0, noc: int = -1) -> int:
        """Return the NoC address of a page."""
        return get_noc_addr(page_id, self, offset, noc)


class InterleavedAddrGen(_Pages):
    """Pages that go round the banks."""

    __slots__ = ()

    def __init__(self, bank_base_address: int, page_size: int, *, dram: bool = True) -> None:
        super().__init__(bank_base_address, page_size, dram)


class InterleavedAddrGenFast(_Pages):
    """Tiles that go round the banks; a page is a tile of `data_format`."""

    __slots__ = ("data_format",)

    def __init__(
        self, bank_base_address: int, page_size: int, data_format: int, *, dram: bool = True, tile_hw: int = 1024
    ) -> None:
        if tile_hw != 1024:
            raise KernelArgumentError(f"InterleavedAddrGenFast: tiles of {tile_hw} datums; use InterleavedAddrGen")
        tile_bytes = _engine.tile_bytes(int(data_format), 32, 32)
        if page_size != tile_bytes:
            text = f"InterleavedAddrGenFast: page_size is {page_size} B, a tile of this format has {tile_bytes} B"
            raise KernelArgumentError(f"{text}; use InterleavedAddrGen for other pages")
        super().__init__(bank_base_address, tile_bytes, dram)
        self.data_format = data_format


class TensorAccessorArgs:
    """What the host said about a tensor, in compile-time arguments from `cta_offset` on: flags and page size."""

    __slots__ = ("_offset", "dram", "page_bytes", "sharded")

    def __init__(self, cta_offset: int = 0, crta_offset: int = 0) -> None:
        flags = get_compile_time_arg_val(cta_offset)
        self._offset = cta_offset
        self.sharded = bool(flags & 1)
        self.dram = bool(flags & 2)
        self.page_bytes = get_compile_time_arg_val(cta_offset + 1)

    def __class_getitem__(cls, offsets: int | tuple[int, int]) -> Any:
        return partial(cls, *(offsets if isinstance(offsets, tuple) else (offsets,)))

    def next_compile_time_args_offset(self) -> int:
        """Return where the arguments after these start."""
        return self._offset + 2

    def num_compile_time_args(self) -> int:
        """Return how many arguments these are."""
        return 2


class TensorAccessor(_Pages):
    """Pages of a tensor, however they are spread over banks."""

    __slots__ = ()

    def __init__(self, args: TensorAccessorArgs, bank_base_address: int, page_size: int = 0) -> None:
        super().__init__(bank_base_address, page_size or args.page_bytes, args.dram)
