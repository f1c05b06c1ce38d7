"""Between rows and tiles: tilize and untilize."""

from __future__ import annotations

from ttnn.kernel_api.compute import reconfig_data_format_srca
from ttnn.kernel_api.context import here

__all__ = [
    "fast_tilize_block",
    "fast_tilize_init",
    "fast_tilize_uninit",
    "pack_untilize_block",
    "pack_untilize_dest",
    "pack_untilize_dest_init",
    "pack_untilize_dst",
    "pack_untilize_dst_init_short",
    "pack_untilize_init",
    "pack_untilize_uninit",
    "tilize_block",
    "tilize_init",
    "tilize_init_short_with_dt",
    "tilize_uninit",
    "untilize_block",
    "untilize_init",
    "untilize_uninit",
]


def tilize_init(icb: int, block: int, ocb: int) -> None:
    """Set up the turning of rows of `block` tiles into tiles."""
    here.run.tilize_init(icb, block)


def tilize_init_short_with_dt(old_icb: int, new_icb: int, block: int, ocb: int) -> None:
    """Set up unpacker A, which was set up for `old_icb`, and the turning of rows into tiles (classic)."""
    reconfig_data_format_srca(old_icb, new_icb)
    tilize_init(new_icb, block, ocb)


def tilize_block(icb: int, block: int, ocb: int, input_tile_index: int = 0, output_tile_index: int = 0) -> None:
    """Turn 32 rows of `block` tiles at the front of `icb` into `block` tiles at the back of `ocb`."""
    here.run.tilize_block(icb, block, ocb, input_tile_index, output_tile_index)


def tilize_uninit(icb: int, ocb: int) -> None:
    """End `tilize_block`; copies are set up."""
    here.run.copy_init(icb, False)


fast_tilize_init = tilize_init
fast_tilize_block = tilize_block
fast_tilize_uninit = tilize_uninit


def untilize_init(icb: int) -> None:
    """Set up the turning of tiles into rows by the unpacker."""
    here.run.untilize_init(icb)


def untilize_block(icb: int, full_ct_dim: int, ocb: int) -> None:
    """Turn `full_ct_dim` tiles at the front of `icb` into 32 rows at the back of `ocb`."""
    here.run.untilize_block(icb, full_ct_dim, ocb)


def untilize_uninit(icb: int) -> None:
    """End `untilize_block`; copies are set up."""
    here.run.copy_init(icb, False)


# The packer's way. Block and row, in tiles, are template arguments in C++.


def pack_untilize_init(icb: int, ocb: int, *, block_ct_dim: int, full_ct_dim: int = 0) -> None:
    """Set up copies of tiles that the packer turns into rows."""
    here.run.copy_init(icb, False)
    here.run.pack_untilize_mode(block_ct_dim, full_ct_dim or block_ct_dim)


def pack_untilize_block(icb: int, block_rt_dim: int, ocb: int, block_c_index: int = 0) -> None:
    """Turn a block of tiles at the front of `icb` into part of 32 rows at the back of `ocb`."""
    here.run.pack_untilize_block(icb, ocb, block_rt_dim, block_c_index)


def pack_untilize_dest_init(ocb: int, *, block_ct_dim: int, full_ct_dim: int = 0) -> None:
    """Set up the packer to turn tiles of Dst into rows."""
    here.run.pack_untilize_mode(block_ct_dim, full_ct_dim or block_ct_dim)


pack_untilize_dst_init_short = pack_untilize_dest_init


def pack_untilize_dest(ocb: int, block_rt_dim: int = 1, block_c_index: int = 0) -> None:
    """Pack the first tiles of Dst as part of 32 rows at the back of `ocb`."""
    here.run.pack_untilize_dest(ocb, block_rt_dim, block_c_index)


pack_untilize_dst = pack_untilize_dest


def pack_untilize_uninit(ocb: int) -> None:
    """Let the packer pack tiles again."""
    here.run.pack_untilize_mode(0, 0)
