"""Page addresses of buffers: address generators and tensor accessors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from ttnn import _engine
from ttnn.base.exceptions import KernelArgumentError
from ttnn.kernel_api.accessor_args import TensorAccessorArgs
from ttnn.kernel_api.arguments import get_common_arg_val
from ttnn.kernel_api.bindings import TensorBindingToken
from ttnn.kernel_api.context import here
from ttnn.kernel_api.dataflow import get_noc_addr, noc_async_read, noc_async_write


class _Pages:
    """Pages of one size from a base address on.

    `Class[True](...)` is the C++ template argument for DRAM.
    """

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
    """Pages interleaved over the banks."""

    __slots__ = ()

    def __init__(self, bank_base_address: int, page_size: int, *, dram: bool = True) -> None:
        super().__init__(bank_base_address, page_size, dram)


_SHAPES = {1024: (32, 32), 512: (16, 32), 256: (16, 16), 128: (4, 32), 64: (2, 32), 32: (1, 32)}
"""A shape per number of elements.

Tiles of one number have one size.
"""


class InterleavedAddrGenFast(_Pages):
    """Tiles interleaved over the banks; a page is a tile of `data_format`."""

    __slots__ = ("data_format",)

    def __init__(
        self, bank_base_address: int, page_size: int, data_format: int, *, dram: bool = True, tile_hw: int = 1024
    ) -> None:
        if tile_hw not in _SHAPES:
            raise KernelArgumentError(f"InterleavedAddrGenFast: the hardware has no tiles of {tile_hw} datums")
        tile_bytes = _engine.tile_bytes(int(data_format), *_SHAPES[tile_hw])
        if page_size != tile_bytes:
            text = f"InterleavedAddrGenFast: page_size is {page_size} B, a tile of this format has {tile_bytes} B"
            raise KernelArgumentError(f"{text}; use InterleavedAddrGen for other pages")
        super().__init__(bank_base_address, tile_bytes, dram)
        self.data_format = data_format


class InterleavedPow2AddrGen(_Pages):
    """Pages of a power of two, interleaved over the banks."""

    __slots__ = ()

    def __init__(self, bank_base_address: int, log_base_2_of_page_size: int, *, dram: bool = True) -> None:
        super().__init__(bank_base_address, 1 << log_base_2_of_page_size, dram)


InterleavedPow2AddrGenFast = InterleavedPow2AddrGen


def get_interleaved_addr_gen(base_addr: int, page_size: int, *, dram: bool = True) -> InterleavedAddrGen:
    """Return an address generator of pages of this size.

    `dram` is a template argument in C++.
    """
    return InterleavedAddrGen(base_addr, page_size, dram=dram)


@dataclass(frozen=True)
class Page:
    """A page of a tensor accessor: its id and NoC address."""

    page_id: int
    noc_addr: int


class TensorAccessor(_Pages):
    """A tensor's pages, interleaved or sharded.

    Pages of an interleaved tensor are shards.

    `TensorAccessor(tensor.source)` needs only the name; else the host passes arguments and address.

    Raises:
        AddressError: at use, if no buffer starts at the address, or it has no such page or shard.
    """

    __slots__ = ("_cut",)

    def __init__(
        self,
        args: TensorAccessorArgs | TensorBindingToken,
        bank_base_address: int | None = None,
        page_size: int = 0,
    ) -> None:
        if isinstance(args, TensorBindingToken):
            word = args.addr_crta_offset // 4
            bank_base_address, args = get_common_arg_val(word), TensorAccessorArgs(cta_offset=args.cta_offset)
            if args.runtime_page_size:
                page_size = get_common_arg_val(word + 1)
        if bank_base_address is None:
            raise KernelArgumentError("TensorAccessor: bank_base_address is missing")
        super().__init__(bank_base_address, page_size or args.page_bytes, args.dram)
        self._cut: tuple[int, ...] | None = None

    def _shape(self) -> tuple[int, ...]:
        """Return a shard's pages, row width, rows and columns, and banks."""
        if self._cut is None:
            self._cut = tuple(here.run.buffer_cut(self.dram, self.base, self.page_bytes))
        return self._cut

    # What the accessor knows of the tensor (`dspec`), in pages.

    def rank(self) -> int:
        """Return the number of sharded dimensions."""
        return 2

    def tensor_volume(self) -> int:
        """Return the pages of the tensor."""
        return self._shape()[0]

    def shard_volume(self) -> int:
        """Return the pages of a shard."""
        _, _, rows, columns, _ = self._shape()
        return rows * columns

    def tensor_shape(self) -> tuple[int, int]:
        """Return rows and columns of pages."""
        pages, across, *_ = self._shape()
        return -(-pages // across), across

    def shard_shape(self) -> tuple[int, int]:
        """Return rows and columns of pages in a shard."""
        _, _, rows, columns, _ = self._shape()
        return rows, columns

    def tensor_strides(self) -> tuple[int, int]:
        """Return the page steps of one row and one column."""
        return self.tensor_shape()[1], 1

    def shard_strides(self) -> tuple[int, int]:
        """Return the same inside a shard."""
        return self.shard_shape()[1], 1

    def shard_grid(self) -> tuple[int, int]:
        """Return rows and columns of shards."""
        (rows, columns), (high, wide) = self.tensor_shape(), self.shard_shape()
        return -(-rows // high), -(-columns // wide)

    def shard_grid_strides(self) -> tuple[int, int]:
        """Return the strides of the shard grid, in shards."""
        return self.shard_grid()[1], 1

    def num_banks(self) -> int:
        """Return the banks that hold the tensor."""
        return self._shape()[4]

    def packed_xy_coords(self) -> tuple[int, ...]:
        """Return bank coordinates in shard order, x in the upper byte."""
        shards = [self.get_shard_noc_addr(shard) for shard in range(min(self.num_banks(), self._shards()))]
        return tuple((address >> 36 & 63) << 8 | address >> 42 & 63 for address in shards)

    def _shards(self) -> int:
        rows, columns = self.shard_grid()
        return rows * columns

    # Addresses.

    def get_shard_noc_addr(self, shard_id: int, offset: int = 0, noc: int = -1) -> int:
        """Return a shard's NoC address, plus an offset in its page."""
        return int(here.run.shard_address(self.dram, self.base, self.page_bytes, shard_id, offset))

    def get_bank_base_address(self) -> int:
        """Return the address at which the tensor starts in each bank."""
        return self.base

    def get_aligned_page_size(self) -> int:
        """Return the bytes from one page of a bank to the next."""
        alignment = get_allocator_alignment(dram=self.dram)
        return -(-self.page_bytes // alignment) * alignment

    @staticmethod
    def get_bank_x(packed_xy_coord: int) -> int:
        """Return the column of a bank."""
        return packed_xy_coord >> 8

    @staticmethod
    def get_bank_y(packed_xy_coord: int) -> int:
        """Return the row of a bank."""
        return packed_xy_coord & 0xFF

    # Is it here?

    def is_local_addr(self, noc_addr: int, noc: int = -1) -> bool:
        """Return True if an address is in this core's L1."""
        return self.is_local_bank(noc_addr >> 36 & 63, noc_addr >> 42 & 63)

    def is_local_bank(self, virtual_x: int, virtual_y: int, noc: int = -1) -> bool:
        """Return whether a bank is this core's L1."""
        return (virtual_x, virtual_y) == tuple(here.kernel.noc_coord)

    def is_local_page(self, page_id: int, noc: int = -1) -> bool:
        """Return True if a page is in this core's L1."""
        return self.is_local_addr(self.get_noc_addr(page_id))

    def is_local_shard(self, shard_id: int, noc: int = -1) -> bool:
        """Return True if a shard is in this core's L1."""
        return self.is_local_addr(self.get_shard_noc_addr(shard_id))

    def dspec(self) -> TensorAccessor:
        """Return what describes the tensor: this accessor."""
        return self

    # Walks.

    def pages(self, start_page_id: int = 0, end_page_id: int | None = None, noc: int = -1) -> Iterator[Page]:
        """Return pages in the order of their ids."""
        end = self.tensor_volume() if end_page_id is None else end_page_id
        return (Page(page, self.get_noc_addr(page)) for page in range(start_page_id, end))

    def strided_pages(self, total_pages: int | None = None, noc: int = -1) -> Iterator[Page]:
        """Return this thread's pages: all, as kernels have one thread."""
        return self.pages(0, total_pages, noc)

    def shard_pages(self, shard_id: int, start_page_offset: int = 0, noc: int = -1) -> Iterator[Page]:
        """Return the pages of a shard in storage order, without padding."""
        (rows, columns), (high, wide) = self.tensor_shape(), self.shard_shape()
        across = self.shard_grid()[1]
        top, left = shard_id // across * high, shard_id % across * wide
        places = ((top + place // wide, left + place % wide) for place in range(start_page_offset, high * wide))
        inside = (row * columns + column for row, column in places if row < rows and column < columns)
        return (Page(page, self.get_noc_addr(page)) for page in inside if page < self.tensor_volume())


def make_tensor_accessors(tokens: tuple[TensorBindingToken, ...]) -> tuple[TensorAccessor, ...]:
    """Return an accessor for each tensor of a sequence."""
    return tuple(TensorAccessor(token) for token in tokens)


def make_abstract_tensor_accessor_wrappers(accessors: tuple[TensorAccessor, ...]) -> tuple[TensorAccessor, ...]:
    """Return accessors that an index chooses from: the same ones."""
    return accessors


def noc_async_read_shard(shard_id: int, s: TensorAccessor, dst_local_l1_addr: int, noc: int = -1) -> None:
    """Start reading a shard into this core's L1."""
    size = s.shard_volume() * s.get_aligned_page_size()
    noc_async_read(s.get_shard_noc_addr(shard_id), dst_local_l1_addr, size, noc)


def noc_async_write_shard(shard_id: int, s: TensorAccessor, src_local_l1_addr: int, noc: int = -1) -> None:
    """Start writing a shard."""
    size = s.shard_volume() * s.get_aligned_page_size()
    noc_async_write(src_local_l1_addr, s.get_shard_noc_addr(shard_id), size, noc)


class ShardedAddrGen(TensorAccessor):
    """Pages of a sharded tensor (classic)."""

    __slots__ = ()

    def __init__(self, args: TensorAccessorArgs, bank_base_address: int) -> None:
        super().__init__(args, bank_base_address)


# Address arithmetic of the generators (classic).


def get_allocator_alignment(*, dram: bool = True) -> int:
    """Return the alignment of pages in a bank, in bytes."""
    return int(here.kernel.alignments[0 if dram else 1])


def get_log_base2_of_allocator_alignment(*, dram: bool = True) -> int:
    """Return its logarithm."""
    return get_allocator_alignment(dram=dram).bit_length() - 1


def get_bank_offset_index(id: int, *, dram: bool = True) -> int:
    """Return which of the pages in its bank a page is."""
    return id // len(here.kernel.banks[0 if dram else 1])


def get_bank_offset(bank_index: int, *, dram: bool = True) -> int:
    """Return a bank's address offset: 0, since banks start alike."""
    get_noc_xy(bank_index, dram=dram)
    return 0


def get_addr(
    id: int,
    bank_offset_index: int,
    bank_index: int,
    offset: int = 0,
    *,
    bank_base_address: int,
    page_size: int,
    dram: bool = True,
) -> int:
    """Return the address of a page in its bank."""
    alignment = get_allocator_alignment(dram=dram)
    stride = -(-page_size // alignment) * alignment
    return bank_base_address + bank_offset_index * stride + offset + get_bank_offset(bank_index, dram=dram)


def get_noc_xy(bank_index: int, noc: int = -1, *, dram: bool = True) -> int:
    """Return a bank's coordinates as the upper half of NoC addresses.

    Raises:
        KernelArgumentError: there is no such bank.
    """
    banks = here.kernel.banks[0 if dram else 1]
    if not 0 <= bank_index < len(banks):
        raise KernelArgumentError(f"get_noc_xy: bank {bank_index} of {len(banks)}")
    x, y = banks[bank_index]
    return int(y << 6 | x)


def get_noc_addr_helper(noc_xy: int, addr: int) -> int:
    """Return the NoC address of an offset, from the coordinates of `get_noc_xy`."""
    return noc_xy << 36 | addr


def MUL_WITH_TILE_SIZE(format: int, index: int) -> int:  # noqa: N802
    """Return the bytes of `index` tiles of a format."""
    return index * int(_engine.tile_bytes(int(format), 32, 32))
