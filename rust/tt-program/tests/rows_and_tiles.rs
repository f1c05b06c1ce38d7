//! Rows become tiles and tiles become rows.
//!
//! Which datums lie where, and the cycles that it takes.

mod programs;

use programs::compute::{COMPUTES, COPY, clocks, costs, feed, program, start};
use programs::{Program, mistake};
use tt_formats::TileShape;
use tt_program::FaultKind;
use tt_program::calls::compute::{Copying, Math};

/// Row and column of each datum of a tile, in memory order.
fn places() -> impl Iterator<Item = (usize, usize)> {
    (0..1024).map(|place| TileShape::FULL.position(place))
}

#[test]
fn rows_become_tiles_from_any_tile_on_to_any_tile_on() {
    let (block, first_in, first_out) = (2, 1, 1);
    let mut program = program();
    start(&mut program, Math::Tilize { block });
    let words = feed(&mut program, 4, 4);
    let out = program.cb(3);
    program.by(COMPUTES, |run, device| {
        run.cb_reserve_back(3, 3).expect("pages");
        run.kernels[COMPUTES].clocks = [0; 3];
        run.tilize_block(device, 4, block, 3, (first_in, first_out)).expect("tiles");
        let (unpack, pack) = (costs().unpack_tilize(2048, 2), costs().pack(2048, false));
        let (sync, copy) = (costs().dst_sync, costs().copy);
        assert_eq!(clocks(run)[0], 2 * unpack);
        assert_eq!(clocks(run)[1], 2 * unpack + copy + sync);
        assert_eq!(clocks(run)[2], 2 * unpack + copy + sync + sync + pack + sync);
        let far = FaultKind::TileNotWaitedFor {
            cb: 4,
            tile: 4,
            end_bytes: 5 * 2048,
            waited: 4,
            page_bytes: 2048,
            counts: "",
        };
        assert_eq!(mistake(run.tilize_block(device, 4, block, 3, (3, 0))), far);
        let said = "tilizing rows of 2 tiles".to_owned();
        let differs = FaultKind::DiffersFromInit { what: "the block", expected: "3 tiles".to_owned(), said };
        assert_eq!(mistake(run.tilize_block(device, 4, 3, 3, (0, 0))), differs);
    });
    for tile in 0..2 {
        let from = |(row, column)| words[1024 + row * 64 + 32 * tile + column];
        let expected: Vec<u16> = places().map(from).collect();
        assert_eq!(program.words(out + 2048 * (1 + tile as u32), 1024), expected, "tile {tile}");
    }
    assert_eq!(program.words(out, 1024), [0; 1024]);
    // To Dst, from a tile of it on.
    program.by(COMPUTES, |run, device| {
        run.tile_regs_acquire().expect("Dst");
        run.kernels[COMPUTES].clocks = [50_000; 3];
        run.tilize_to_dst(device, 4, block, 3, first_in).expect("tiles");
        let unpack = costs().unpack_tilize(2048, 2);
        assert_eq!(clocks(run), [50_000 + 2 * unpack, 50_000 + 2 * unpack + costs().copy, 50_000]);
        assert_eq!(mistake(run.tilize_block(device, 4, block, 3, (0, 0))), FaultKind::AcquiredTwice);
        run.tile_regs_commit().expect("Dst");
        run.tile_regs_wait().expect("Dst");
        run.pack_tile(device, 4, 3, Some(0)).expect("a pack");
        assert_eq!(mistake(run.pack_tile(device, 2, 3, Some(0))), FaultKind::DstUnwritten { index: 2 });
    });
    assert_eq!(program.words(out, 1024), program.words(out + 4096, 1024), "the second tile");
}

#[test]
fn tiles_become_rows_of_as_many_tiles_as_the_call_says() {
    // The unpacker untilizes: rows of as many tiles as there are.
    let mut program = program();
    start(&mut program, Math::Untilize);
    let words = feed(&mut program, 4, 3);
    let out = program.cb(3);
    program.by(COMPUTES, |run, device| {
        run.cb_reserve_back(3, 3).expect("pages");
        run.kernels[COMPUTES].clocks = [0; 3];
        run.untilize_block(device, 4, 3, 3).expect("rows");
        let unpacked = 3 * costs().unpack_untilize;
        let packed = unpacked + costs().copy + 3 * costs().dst_sync + costs().pack(2048, false);
        assert_eq!(clocks(run), [unpacked, unpacked + costs().copy + costs().dst_sync, packed]);
        run.cb_push_back(3, 3).expect("a push");
        run.cb_reserve_back(3, 1).expect("the last page");
        let short = FaultKind::TileNotReserved {
            cb: 3,
            tile: 2,
            end_bytes: 3 * 2048,
            reserved: 1,
            page_bytes: 2048,
            counts: "",
        };
        assert_eq!(mistake(run.untilize_block(device, 4, 3, 3)), short);
    });
    let rows = |tiles: &[usize]| {
        let mut rows = vec![0; tiles.len() * 1024];
        for (column, &tile) in tiles.iter().enumerate() {
            for (place, (row, inside)) in places().enumerate() {
                rows[row * 32 * tiles.len() + 32 * column + inside] = words[1024 * tile + place];
            }
        }
        rows
    };
    assert_eq!(program.words(out, 3 * 1024), rows(&[0, 1, 2]));
    // The packer does: blocks of a tile as parts of rows of three.
    let mut program = program_with_rows();
    let out = program.cb(3);
    program.by(COMPUTES, |run, device| {
        let text = "2 rows of tiles in one call: the chip unpacks the first 1 tiles of CB 4 for each of them and packs \
                    them to the same place; call it once per row, and pop the row in between";
        assert_eq!(mistake(run.pack_untilize_block(device, (4, 3), 2, 0)), FaultKind::Argument(text.to_owned()));
        run.kernels[COMPUTES].clocks = [0; 3];
        run.pack_untilize_block(device, (4, 3), 1, 2).expect("the third tile of the rows");
        let (unpack, sync) = (costs().unpack(2048), costs().dst_sync);
        let packed = unpack + costs().copy + 3 * sync + costs().pack_untilize(1, 2);
        assert_eq!(clocks(run), [unpack, unpack + costs().copy + sync, packed]);
    });
    let found = program.words(out, 3 * 1024);
    for (place, (row, inside)) in places().enumerate() {
        assert_eq!(found[row * 96 + 64 + inside], words[place], "{row} {inside}");
        assert_eq!(found[row * 96 + 32 + inside], 0);
    }
}

/// CB 4 with three tiles, three pages of CB 3, and a packer that untilizes single tiles into rows of three.
fn program_with_rows() -> Program {
    let mut program = program();
    start(&mut program, COPY);
    feed(&mut program, 4, 3);
    program.by(COMPUTES, |run, _| {
        run.pack_untilize_mode(Some((1, 3))).expect("a mode");
        run.cb_reserve_back(3, 3).expect("pages");
    });
    program
}

#[test]
fn the_packer_untilizes_rows_of_tiles_of_dst() {
    // Two rows of two tiles of Dst, from the second on, as the second half of two rows of four tiles.
    let mut program = program();
    start(&mut program, COPY);
    let words = feed(&mut program, 3, 4);
    let out = program.cb(4);
    program.by(COMPUTES, |run, device| {
        run.tile_regs_acquire().expect("Dst");
        for tile in 0..4 {
            run.copy_tile(device, Copying::Plain, 3, tile, 1 + tile).expect("a copy");
        }
        run.tile_regs_commit().expect("Dst");
        run.tile_regs_wait().expect("Dst");
        run.cb_reserve_back(4, 8).expect("pages");
        let kind = mistake(run.pack_untilize_dest(device, 4, 2, 1, 1));
        assert!(matches!(&kind, FaultKind::MissingInit { state, .. } if state == "the packer packs tiles"), "{kind:?}");
        run.pack_untilize_mode(Some((2, 4))).expect("a mode");
        let kind = mistake(run.pack_tile(device, 1, 4, None));
        assert!(
            matches!(&kind, FaultKind::MissingInit { state, .. } if state.contains("blocks of 2 tiles")),
            "{kind:?}"
        );
        run.kernels[COMPUTES].clocks = [0; 3];
        run.pack_untilize_dest(device, 4, 2, 1, 1).expect("rows");
        let each = costs().pack_untilize(2, 2).div_ceil(2);
        assert_eq!(clocks(run), [0, 0, 4 * each]);
        run.pack_untilize_mode(None).expect("tiles again");
        run.pack_tile(device, 1, 4, Some(0)).expect("a pack");
    });
    let found = program.words(out, 8 * 1024);
    for row_of_tiles in 0..2 {
        for column in 0..2 {
            for (place, (row, inside)) in places().enumerate() {
                let at = (row_of_tiles * 4096) + row * 128 + 64 + column * 32 + inside;
                // The tile packed last lies over the first rows.
                if at >= 1024 {
                    assert_eq!(found[at], words[(row_of_tiles * 2 + column) * 1024 + place], "{at}");
                }
            }
        }
    }
    assert_eq!(found[..1024], words[..1024]);
    assert_eq!(found[4096..4096 + 64], [0; 64], "the first half of the second row of tiles");
}
