//! Functions that exchange rows or columns of tiles.
//!
//! Masks, rotations, row sums of two tiles, scattering of rows, and reductions inside a tile.

use super::{Access, Done, Registers, Rules, SIDE, Tile, TileFunction};
use crate::lane::{INFINITY, ONE, ZERO, flipsign, max, min};
use tt_tensix::regs::index;

const CHANGES: &[Access] = &[Access::Changes];

pub(super) const FUNCTIONS: &[TileFunction] = &[
    TileFunction::new("mask", &[Access::Changes, Access::Reads], 0, |_, tiles, _, _| masked(tiles, ZERO)),
    TileFunction::new("mask_posinf", &[Access::Changes, Access::Reads], 0, |_, tiles, _, _| masked(tiles, INFINITY)),
    TileFunction::new("alt_complex_rotate90", CHANGES, 0, rotate),
    TileFunction::new("add_top_row", &[Access::Reads, Access::Reads, Access::Makes], 0, |_, tiles, _, rules| {
        add_top_row(tiles, |a, b| rules.store(rules.mad(a, ONE, b)))
    }),
    TileFunction::new("add_top_row_int", &[Access::Reads, Access::Reads, Access::Makes], 0, |_, tiles, _, _| {
        add_top_row(tiles, u32::wrapping_add)
    }),
    TileFunction::new("reshuffle_rows", &[Access::Reads, Access::Changes], SIDE, reshuffle),
    TileFunction::new("reduce_sum_row", CHANGES, 0, |_, tiles, _, rules| reduce_rows(tiles, rules, plus(rules))),
    TileFunction::new("reduce_sum_col", CHANGES, 0, |_, tiles, _, rules| reduce_columns(tiles, rules, plus(rules))),
    TileFunction::new("reduce_max_row", CHANGES, 0, |_, tiles, _, rules| reduce_rows(tiles, rules, max::<u32>)),
    TileFunction::new("reduce_max_col", CHANGES, 0, |_, tiles, _, rules| reduce_columns(tiles, rules, max::<u32>)),
    TileFunction::new("reduce_min_row", CHANGES, 0, |_, tiles, _, rules| reduce_rows(tiles, rules, min::<u32>)),
    TileFunction::new("reduce_min_col", CHANGES, 0, |_, tiles, _, rules| reduce_columns(tiles, rules, min::<u32>)),
];

/// Where the mask is +0 the datum becomes `value`.
fn masked(tiles: &mut [Tile], value: u32) -> Done {
    let (data, mask) = tiles.split_at_mut(1);
    for (datum, &mask) in data[0].iter_mut().zip(&mask[0]) {
        if mask == ZERO {
            *datum = value;
        }
    }
    Ok(())
}

/// Pairs (a, b) of neighbouring columns become (-b, a).
fn rotate(_: &mut Registers, tiles: &mut [Tile], _: &[u32], rules: Rules) -> Done {
    for pair in tiles[0].as_chunks_mut::<2>().0 {
        *pair = [rules.store(flipsign(pair[1])), rules.store(pair[0])];
    }
    Ok(())
}

/// The sum of the upper four rows of two tiles; programs use the first of them.
fn add_top_row(tiles: &mut [Tile], sum: impl Fn(u32, u32) -> u32) -> Done {
    for row in 0..4 {
        for column in 0..SIDE {
            let at = index(row, column);
            tiles[2][at] = sum(tiles[0][at], tiles[1][at]);
        }
    }
    Ok(())
}

/// Adds row i to row `parameters[i]` of the other tile, one after the other; rows beyond the tile are left out.
fn reshuffle(_: &mut Registers, tiles: &mut [Tile], parameters: &[u32], rules: Rules) -> Done {
    for (row, &target) in parameters.iter().enumerate() {
        if target as usize >= SIDE {
            continue;
        }
        for column in 0..SIDE {
            let at = index(target as usize, column);
            tiles[1][at] = rules.store(rules.mad(tiles[0][index(row, column)], ONE, tiles[1][at]));
        }
    }
    Ok(())
}

fn plus(rules: Rules) -> impl Fn(u32, u32) -> u32 {
    move |a, b| rules.mad(a, ONE, b)
}

/// Each row to its column 0: even and odd columns of both faces, eight lanes each, then three rotations of the lanes.
fn reduce_rows(tiles: &mut [Tile], rules: Rules, join: impl Fn(u32, u32) -> u32) -> Done {
    for row in 0..SIDE {
        let at = |column| tiles[0][index(row, column)];
        let mut lanes: [u32; 8] = std::array::from_fn(|lane| {
            let right = join(at(16 + 2 * lane), at(17 + 2 * lane));
            join(at(2 * lane), join(at(2 * lane + 1), right))
        });
        for distance in [4, 2, 1] {
            let before = lanes;
            for (lane, word) in lanes.iter_mut().enumerate() {
                *word = join(before[lane], before[(lane + 8 - distance) % 8]);
            }
        }
        tiles[0][index(row, 0)] = rules.store(lanes[0]);
    }
    Ok(())
}

/// Each column to its row 0: groups of four rows in the upper and the lower half, then the four lane rows in pairs.
fn reduce_columns(tiles: &mut [Tile], rules: Rules, join: impl Fn(u32, u32) -> u32) -> Done {
    for column in 0..SIDE {
        let at = |row| tiles[0][index(row, column)];
        let half = |first: usize, lane: usize| {
            let lower = join(at(first + 8 + lane), at(first + 12 + lane));
            join(at(first + lane), join(at(first + 4 + lane), lower))
        };
        let lanes: [u32; 4] = std::array::from_fn(|lane| join(half(0, lane), half(16, lane)));
        tiles[0][index(0, column)] = rules.store(join(join(lanes[0], lanes[1]), join(lanes[2], lanes[3])));
    }
    Ok(())
}
