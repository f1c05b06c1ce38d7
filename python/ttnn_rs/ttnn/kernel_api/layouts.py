"""Between rows and tiles: tilize and untilize."""

from __future__ import annotations

from ttnn.base.exceptions import UnsupportedError
from ttnn.kernel_api.compute import reconfig_data_format_srca
from ttnn.kernel_api.context import here


def tilize_init(icb: int, block: int, ocb: int) -> None:
    """Set up `tilize_block`: rows of `block` tiles to tiles."""
    here.run.tilize_init(icb, block)


def tilize_init_short_with_dt(old_icb: int, new_icb: int, block: int, ocb: int) -> None:
    """Set up unpacker A and tilize (classic).

    Unpacker A was set up for `old_icb`.
    """
    reconfig_data_format_srca(old_icb, new_icb)
    tilize_init(new_icb, block, ocb)


def tilize_block(icb: int, block: int, ocb: int, input_tile_index: int = 0, output_tile_index: int = 0) -> None:
    """Tilize 32 rows of `block` tiles from `icb` to `ocb`.

    From the front of `icb` to the back of `ocb`.
    """
    here.run.tilize_block(icb, block, ocb, input_tile_index, output_tile_index)


def tilize_uninit(icb: int, ocb: int) -> None:
    """End `tilize_block`; copies are set up."""
    here.run.copy_init(icb, False)


def tilize_uninit_with_dt(old_icb: int, new_icb: int, ocb: int) -> None:
    """End `tilize_block`; copies from `new_icb` are set up."""
    reconfig_data_format_srca(old_icb, new_icb)
    here.run.copy_init(new_icb, False)


def tilize_init_no_pack(icb: int, block: int) -> None:
    """Set up `tilize_block_no_pack`: rows of `block` tiles to tiles of Dst."""
    here.run.tilize_init(icb, block)


def tilize_init_short_with_dt_no_pack(old_icb: int, new_icb: int, block: int) -> None:
    """Set up unpacker A and tilize to Dst.

    Unpacker A was set up for `old_icb`.
    """
    reconfig_data_format_srca(old_icb, new_icb)
    tilize_init_no_pack(new_icb, block)


def tilize_block_no_pack(icb: int, block: int, dst_idx: int, input_tile_index: int = 0) -> None:
    """Tilize 32 rows of `icb` into Dst tiles from `dst_idx`.

    They are the front of `icb`, `block` tiles wide.
    """
    here.run.tilize_to_dst(icb, block, dst_idx, input_tile_index)


def tilize_uninit_no_pack(icb: int) -> None:
    """End `tilize_block_no_pack`; copies are set up."""
    here.run.copy_init(icb, False)


def tilize_uninit_with_dt_no_pack(old_icb: int, new_icb: int) -> None:
    """End `tilize_block_no_pack`; copies from `new_icb` are set up."""
    tilize_uninit_with_dt(old_icb, new_icb, -1)


fast_tilize_init = tilize_init
fast_tilize_init_with_dt = tilize_init
fast_tilize_block = tilize_block
fast_tilize_uninit = tilize_uninit


def untilize_init(icb: int) -> None:
    """Set up untilize by the unpacker."""
    here.run.untilize_init(icb)


def untilize_block(icb: int, full_ct_dim: int, ocb: int) -> None:
    """Untilize `full_ct_dim` tiles from `icb` into 32 rows of `ocb`.

    From the front of `icb` to the back of `ocb`.
    """
    here.run.untilize_block(icb, full_ct_dim, ocb)


def untilize_uninit(icb: int) -> None:
    """End `untilize_block`; copies are set up."""
    here.run.copy_init(icb, False)


# The packer's way. Block and row, in tiles, are template arguments in C++.


def pack_untilize_init(icb: int, ocb: int, *, block_ct_dim: int = 8, full_ct_dim: int = 0) -> None:
    """Set up copies of tiles that the packer untilizes."""
    here.run.copy_init(icb, False)
    here.run.pack_untilize_mode(block_ct_dim, full_ct_dim or block_ct_dim)


def pack_untilize_block(
    icb: int, block_rt_dim: int, ocb: int, block_c_index: int = 0, *, block_ct_dim: int = 0, full_ct_dim: int = 0
) -> None:
    """Untilize front tiles of `icb` into part of 32 `ocb` rows.

    Raises:
        KernelArgumentError: `block_rt_dim` is not 1. The chip then unpacks the same tiles again for every row and packs
            them to the same place; call it once per row of tiles.
    """
    here.run.pack_untilize_block(icb, ocb, block_rt_dim, block_c_index)


def pack_untilize_dest_init(
    ocb: int,
    face_r_dim: int = 16,
    num_faces: int = 4,
    *,
    block_ct_dim: int = 8,
    full_ct_dim: int = 0,
    narrow_row: bool = False,
    row_num_datums: int = 32,
) -> None:
    """Set up the packer to turn tiles of Dst into rows.

    Raises:
        UnsupportedError: parts of tiles, by `face_r_dim`, `num_faces`, `narrow_row` or `row_num_datums`.
    """
    _whole_tiles("pack_untilize_dest_init", face_r_dim, num_faces, narrow_row, row_num_datums)
    here.run.pack_untilize_mode(block_ct_dim, full_ct_dim or block_ct_dim)


pack_untilize_dst_init_short = pack_untilize_dest_init


def _whole_tiles(call: str, face_r_dim: int, num_faces: int, narrow_row: bool, row_num_datums: int) -> None:
    if (face_r_dim, num_faces, narrow_row, row_num_datums) != (16, 4, False, 32):
        text = f"{call}: face_r_dim={face_r_dim} num_faces={num_faces} narrow_row={narrow_row}"
        raise UnsupportedError(
            f"{text} row_num_datums={row_num_datums}; only full 32x32 tiles are supported", "unimplemented"
        )


def pack_untilize_dest(
    ocb: int,
    block_rt_dim: int = 1,
    block_c_index: int = 0,
    face_r_dim: int = 16,
    num_faces: int = 4,
    tile_dst_rt_offset: int = 0,
    *,
    block_ct_dim: int = 0,
    full_ct_dim: int = 0,
    diagonal: bool = False,
    narrow_row: bool = False,
    row_num_datums: int = 32,
    tile_dst_ct_offset: int = 0,
) -> None:
    """Untilize `block_rt_dim` tile rows of Dst into part of `ocb`.

    The widths of blocks and rows are those of the init.

    Raises:
        UnsupportedError: parts of tiles, or `diagonal`.
    """
    _whole_tiles("pack_untilize_dest", face_r_dim, num_faces, narrow_row, row_num_datums)
    if diagonal:
        raise UnsupportedError("pack_untilize_dest: diagonal=True; only whole rows are supported", "unimplemented")
    here.run.pack_untilize_dest(ocb, block_rt_dim, block_c_index, tile_dst_rt_offset + tile_dst_ct_offset)


pack_untilize_dst = pack_untilize_dest


def pack_untilize_uninit(ocb: int) -> None:
    """Restore packing of tiles."""
    here.run.pack_untilize_mode(0, 0)
