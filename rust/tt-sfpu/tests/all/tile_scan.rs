//! Running sums, moving averages, mean and variance.

use tt_formats::Arch;
use tt_sfpu::DstWidth;
use tt_sfpu::tile::{Registers, Rules, Tile, lookup};
use tt_tensix::regs::index;

/// Of results in a 32-bit `Dst`.
const WIDE: Rules = Rules { width: DstWidth::Bits32, arch: Arch::Wormhole };

/// Rows and columns of a tile.
const SIDE: usize = 32;

fn run(name: &str, registers: &mut Registers, tiles: &mut [Tile], parameters: &[f32]) {
    let words: Vec<u32> = parameters.iter().map(|x| x.to_bits()).collect();
    lookup(name).expect(name).run(registers, tiles, &words, WIDE).expect(name);
}

fn tile(value: impl Fn(usize, usize) -> f32) -> Tile {
    let mut tile = [0; 1024];
    for row in 0..SIDE {
        for column in 0..SIDE {
            tile[index(row, column)] = value(row, column).to_bits();
        }
    }
    tile
}

#[test]
fn running_sums_go_on_in_the_next_tile() {
    let mut registers = Registers::default();
    let mut tiles = [tile(|row, column| (row + column) as f32)];
    let cumsum = lookup("cumsum").expect("cumsum");
    assert_eq!(cumsum.run(&mut registers, &mut tiles, &[0], WIDE), Err("cumsum_tile(first=True)"));
    cumsum.run(&mut registers, &mut tiles, &[1], WIDE).expect("first");
    assert_eq!(f32::from_bits(tiles[0][index(31, 5)]), (0..32).map(|row| (row + 5) as f32).sum::<f32>());
    let mut next = [tile(|_, _| 1.0)];
    cumsum.run(&mut registers, &mut next, &[0], WIDE).expect("second");
    assert_eq!(f32::from_bits(next[0][index(0, 5)]), f32::from_bits(tiles[0][index(31, 5)]) + 1.0);
}

#[test]
fn a_moving_average_weighs_old_and_new() {
    let mut registers = Registers::default();
    run("ema_init", &mut registers, &mut [], &[0.75, 0.25]);
    let mut tiles = [tile(|_, _| 4.0), [0; 1024]];
    run("ema", &mut registers, &mut tiles, &[]);
    assert_eq!([0, 1].map(|row| f32::from_bits(tiles[1][index(row, 9)])), [1.0, 1.75]);
    run("ema", &mut registers, &mut tiles, &[]);
    assert!(f32::from_bits(tiles[1][index(0, 9)]) > 3.999);
    run("ema_clear", &mut registers, &mut [], &[]);
    run("ema", &mut registers, &mut tiles, &[]);
    assert_eq!(f32::from_bits(tiles[1][index(0, 31)]), 1.0);
}

#[test]
fn mean_and_variance_of_small_integers_are_exact() {
    let mut registers = Registers::default();
    run("welford_clear", &mut registers, &mut [], &[]);
    let mut data = [tile(|row, column| (column as f32) + if row == 0 { 0.0 } else { 2.0 })];
    let update = lookup("welford_update").expect("update");
    let words = [0, 1.0f32.to_bits(), 0.5f32.to_bits()];
    update.run(&mut registers, &mut data, &words, WIDE).expect("update");
    let mut saved = [[7; 1024]; 2];
    lookup("welford_save").expect("save").run(&mut registers, &mut saved, &[1], WIDE).expect("save");
    // Column 17 is the odd column 1 of the right face: the fourth row of the group.
    assert_eq!(f32::from_bits(saved[0][index(7, 0)]), 18.0);
    registers = Registers::Free;
    let restore = lookup("welford_restore").expect("restore");
    restore.run(&mut registers, &mut saved, &[1], WIDE).expect("restore");
    let mut out = [[7; 1024]; 2];
    run("welford_to_row", &mut registers, &mut out, &[0.5]);
    for column in 0..SIDE {
        let [mean, variance] = [0, 1].map(|tile: usize| f32::from_bits(out[tile][index(0, column)]));
        assert_eq!((mean, variance), (column as f32 + 1.0, 1.0));
        assert_eq!([out[0][index(1, column)], out[0][index(4, column)]], [0, 7]);
    }
    assert_eq!(lookup("welford_save").expect("save").run(&mut registers, &mut out, &[0], WIDE), Err("welford_init"));
}
