//! Sorting, merging and rebuilding of columns.

use tt_formats::Arch;
use tt_sfpu::DstWidth;
use tt_sfpu::tile::{Registers, Rules, Tile, lookup};
use tt_tensix::regs::index;

/// Of results in a 32-bit `Dst`.
const WIDE: Rules = Rules { width: DstWidth::Bits32, arch: Arch::Wormhole };

/// Value and index of a column from the top of the first tile to the bottom of the second.
fn column(tiles: &[Tile], column: usize) -> Vec<(f32, u32)> {
    let rows = (0..64).map(|row| (row / 32, index(row % 32, column)));
    rows.map(|(tile, at)| (f32::from_bits(tiles[tile][at]), tiles[tile + 2][at])).collect()
}

fn scrambled(values: u32) -> [Tile; 4] {
    let mut tiles = [[0; 1024]; 4];
    for row in 0..64u32 {
        for column in 0..32 {
            let (tile, at) = ((row / 32) as usize, index(row as usize % 32, column));
            let value = (row * 37 + column as u32 * 101 + row * row) % values;
            tiles[tile][at] = (value as f32 - values as f32 / 2.0).to_bits();
            tiles[tile + 2][at] = row;
        }
    }
    tiles
}

fn run(name: &str, tiles: &mut [Tile], parameters: &[u32]) {
    let function = lookup(name).expect(name);
    function.run(&mut Registers::Free, tiles, parameters, WIDE).expect(name);
}

#[test]
fn all_phases_sort_every_column_with_its_indices() {
    for smallest_first in [false, true] {
        for values in [5, 1009] {
            let before = scrambled(values);
            let mut tiles = before;
            run("topk_local_sort", &mut tiles, &[u32::from(smallest_first), 5, 0, 0, 0]);
            for place in 0..32 {
                let (was, now) = (column(&before, place), column(&tiles, place));
                let mut expected: Vec<f32> = was.iter().map(|pair| pair.0).collect();
                expected.sort_by(f32::total_cmp);
                if !smallest_first {
                    expected.reverse();
                }
                assert_eq!(now.iter().map(|pair| pair.0).collect::<Vec<_>>(), expected, "column {place}");
                let mut seen: Vec<u32> = now.iter().map(|pair| pair.1).collect();
                assert!(now.iter().all(|&(value, at)| was[at as usize].0 == value));
                seen.sort_unstable();
                assert!(seen.into_iter().eq(0..64));
            }
        }
    }
}

#[test]
fn sorting_merging_and_rebuilding_give_the_largest_in_order() {
    for (k, log) in [(4, 2), (8, 3), (16, 4), (32, 5)] {
        let before = scrambled(1009);
        let mut tiles = before;
        run("topk_local_sort", &mut tiles, &[0, log - 1, 0, 0, 0]);
        let rounds = 6 - log;
        for round in 0..rounds {
            run("topk_merge", &mut tiles, &[round, k, 0]);
            run("topk_rebuild", &mut tiles, &[0, round, k, log, u32::from(round == rounds - 1)]);
        }
        for place in 0..32 {
            let was = column(&before, place);
            let mut expected: Vec<f32> = was.iter().map(|pair| pair.0).collect();
            expected.sort_by(|a, b| b.total_cmp(a));
            let now = column(&tiles, place);
            let found: Vec<f32> = now[..k as usize].iter().map(|pair| pair.0).collect();
            assert_eq!(found, expected[..k as usize], "k {k}, column {place}");
            assert!(now[..k as usize].iter().all(|&(value, at)| was[at as usize].0 == value));
        }
    }
}
