//! Reductions, masks and rotations of rows.

use tt_formats::Arch;
use tt_sfpu::DstWidth;
use tt_sfpu::lane::{ONE, ZERO};
use tt_sfpu::tile::{Registers, Rules, Tile, lookup};
use tt_tensix::regs::index;

/// Of results in a 32-bit `Dst`.
const WIDE: Rules = Rules { width: DstWidth::Bits32, arch: Arch::Wormhole };

/// Rows and columns of a tile.
const SIDE: usize = 32;

fn run(name: &str, tiles: &mut [Tile], parameters: &[u32]) {
    let function = lookup(name).expect(name);
    function.run(&mut Registers::Free, tiles, parameters, WIDE).expect(name);
}

fn numbered() -> Tile {
    let mut tile = [0; 1024];
    for row in 0..SIDE {
        for column in 0..SIDE {
            tile[index(row, column)] = ((row * SIDE + column) as f32).to_bits();
        }
    }
    tile
}

#[test]
fn reductions_reach_every_datum() {
    let sum = |values: &mut dyn Iterator<Item = usize>| values.map(|value| value as f32).sum::<f32>();
    for place in 0..SIDE {
        let mut rows = [numbered()];
        run("reduce_sum_row", &mut rows, &[]);
        assert_eq!(f32::from_bits(rows[0][index(place, 0)]), sum(&mut (place * SIDE..(place + 1) * SIDE)));
        let mut columns = [numbered()];
        run("reduce_sum_col", &mut columns, &[]);
        assert_eq!(f32::from_bits(columns[0][index(0, place)]), sum(&mut (place..1024).step_by(SIDE)));
        let mut largest = [numbered()];
        run("reduce_max_col", &mut largest, &[]);
        assert_eq!(f32::from_bits(largest[0][index(0, place)]), (31 * SIDE + place) as f32);
        let mut least = [numbered()];
        run("reduce_min_row", &mut least, &[]);
        assert_eq!(f32::from_bits(least[0][index(place, 0)]), (place * SIDE) as f32);
    }
}

#[test]
fn masks_and_rotations_and_scattered_rows() {
    let mut tiles = [numbered(), [ZERO; 1024]];
    tiles[1][3] = ONE;
    run("mask", &mut tiles, &[]);
    assert_eq!((tiles[0][2], f32::from_bits(tiles[0][3])), (ZERO, 3.0));
    let mut turned = [numbered()];
    run("alt_complex_rotate90", &mut turned, &[]);
    assert_eq!([2, 3].map(|at: usize| f32::from_bits(turned[0][index(0, at)])), [-3.0, 2.0]);
    let mut scattered = [numbered(), [ONE; 1024]];
    let targets: Vec<u32> = (0..32).map(|row| if row < 2 { 20 } else { 255 }).collect();
    run("reshuffle_rows", &mut scattered, &targets);
    assert_eq!(f32::from_bits(scattered[1][index(20, 4)]), 4.0 + 36.0 + 1.0);
    assert_eq!(scattered[1][index(19, 4)], ONE);
    let mut sums = [numbered(), numbered(), [5; 1024]];
    run("add_top_row", &mut sums, &[]);
    assert_eq!((f32::from_bits(sums[2][index(0, 9)]), sums[2][index(4, 9)]), (18.0, 5));
}
