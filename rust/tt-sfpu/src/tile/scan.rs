//! Functions that go down the rows of a tile and keep a row for the next one: running sum, moving average, mean and
//! variance.

use super::{Access, Done, Registers, Row, SIDE, Tile, TileFunction, store};
use crate::exec::DstWidth;
use crate::lane::{MINUS_ONE, ONE, ZERO, mad};
use tt_tensix::regs::index;

pub(super) const FUNCTIONS: &[TileFunction] = &[
    TileFunction::new("cumsum", &[Access::Changes], 1, running_sum),
    TileFunction::new("ema_init", &[], 2, average_init),
    TileFunction::new("ema_clear", &[], 0, average_clear),
    TileFunction::new("ema", &[Access::Reads, Access::Makes], 0, average),
    TileFunction::new("welford_clear", &[], 0, moments_clear),
    // First row, then one reciprocal for each row.
    TileFunction { parameters: (1, 1 + SIDE), ..TileFunction::new("welford_update", &[Access::Reads], 0, moments) },
    TileFunction::new("welford_save", &[Access::Makes, Access::Makes], 1, moments_save),
    TileFunction::new("welford_restore", &[Access::Reads, Access::Reads], 1, moments_restore),
    TileFunction::new("welford_to_row", &[Access::Makes, Access::Makes], 1, moments_to_row),
    TileFunction::new("welford_to_face", &[Access::Makes, Access::Makes], 2, moments_to_face),
];

/// Each datum becomes the sum of its column down to it. The one parameter is 1 for the first tile of a column.
fn running_sum(registers: &mut Registers, tiles: &mut [Tile], parameters: &[u32], width: DstWidth) -> Done {
    let mut carry = match registers {
        _ if parameters[0] != 0 => [ZERO; SIDE],
        Registers::Carry(carry) => *carry,
        _ => return Err("cumsum_tile(first=True)"),
    };
    for row in 0..SIDE {
        for (column, sum) in carry.iter_mut().enumerate() {
            let datum = &mut tiles[0][index(row, column)];
            *sum = mad(ONE, *sum, *datum);
            *datum = store(width, *sum);
        }
    }
    *registers = Registers::Carry(carry);
    Ok(())
}

fn average_init(registers: &mut Registers, _: &mut [Tile], parameters: &[u32], _: DstWidth) -> Done {
    *registers = Registers::Average { weights: [parameters[0], parameters[1]], previous: [ZERO; SIDE] };
    Ok(())
}

fn average_clear(registers: &mut Registers, _: &mut [Tile], _: &[u32], _: DstWidth) -> Done {
    let Registers::Average { previous, .. } = registers else { return Err("ema_init") };
    *previous = [ZERO; SIDE];
    Ok(())
}

/// `new = weight_old * previous + weight_new * x`, row after row, to the tile behind the input.
fn average(registers: &mut Registers, tiles: &mut [Tile], _: &[u32], width: DstWidth) -> Done {
    let Registers::Average { weights: [old, new], previous } = registers else { return Err("ema_init") };
    for row in 0..SIDE {
        for (column, previous) in previous.iter_mut().enumerate() {
            let at = index(row, column);
            *previous = mad(*new, tiles[0][at], mad(*old, *previous, ZERO));
            tiles[1][at] = store(width, *previous);
        }
    }
    Ok(())
}

fn moments_clear(registers: &mut Registers, _: &mut [Tile], _: &[u32], _: DstWidth) -> Done {
    *registers = Registers::Moments { mean: [ZERO; SIDE], squares: [ZERO; SIDE] };
    Ok(())
}

/// One step of Welford's algorithm for each row; parameters are the first row and the reciprocals of the counts.
fn moments(registers: &mut Registers, tiles: &mut [Tile], parameters: &[u32], _: DstWidth) -> Done {
    let Registers::Moments { mean, squares } = registers else { return Err("welford_init") };
    let first = parameters[0] as usize;
    for (row, &reciprocal) in (first..SIDE).zip(&parameters[1..]) {
        for column in 0..SIDE {
            let x = tiles[0][index(row, column)];
            let distance = mad(MINUS_ONE, mean[column], x);
            let new = mad(distance, reciprocal, mean[column]);
            squares[column] = mad(distance, mad(MINUS_ONE, new, x), squares[column]);
            mean[column] = new;
        }
    }
    Ok(())
}

/// Where the four lane rows of a register lie when they are stored as they are: even and odd columns of the left face,
/// then of the right, in the even columns of four rows from `group * 4` on.
fn raw(group: u32, column: usize) -> usize {
    index(group as usize * 4 + column / 16 * 2 + column % 2, column % 16 / 2 * 2)
}

fn save(tile: &mut Tile, group: u32, row: &Row, width: DstWidth) {
    for (column, &word) in row.iter().enumerate() {
        tile[raw(group, column)] = store(width, word);
    }
}

fn moments_save(registers: &mut Registers, tiles: &mut [Tile], parameters: &[u32], width: DstWidth) -> Done {
    let Registers::Moments { mean, squares } = registers else { return Err("welford_init") };
    save(&mut tiles[0], parameters[0], mean, width);
    save(&mut tiles[1], parameters[0], squares, width);
    Ok(())
}

fn moments_restore(registers: &mut Registers, tiles: &mut [Tile], parameters: &[u32], _: DstWidth) -> Done {
    let load = |tile: &Tile| std::array::from_fn(|column| tile[raw(parameters[0], column)]);
    *registers = Registers::Moments { mean: load(&tiles[0]), squares: load(&tiles[1]) };
    Ok(())
}

/// Mean and variance to row 0 of two tiles; the stores also clear the three rows below.
fn moments_to_row(registers: &mut Registers, tiles: &mut [Tile], parameters: &[u32], width: DstWidth) -> Done {
    let Registers::Moments { mean, squares } = registers else { return Err("welford_init") };
    for column in 0..SIDE {
        for row in 1..4 {
            tiles[0][index(row, column)] = ZERO;
            tiles[1][index(row, column)] = ZERO;
        }
        tiles[0][index(0, column)] = store(width, mean[column]);
        tiles[1][index(0, column)] = store(width, mad(parameters[0], squares[column], ZERO));
    }
    // The registers were turned with the results.
    *registers = Registers::Free;
    Ok(())
}

/// Mean and variance as the registers hold them, to four rows of the first face; parameters are the reciprocal and the
/// group.
fn moments_to_face(registers: &mut Registers, tiles: &mut [Tile], parameters: &[u32], width: DstWidth) -> Done {
    let Registers::Moments { mean, squares } = registers else { return Err("welford_init") };
    for square in squares.iter_mut() {
        *square = mad(parameters[0], *square, ZERO);
    }
    save(&mut tiles[0], parameters[1], mean, width);
    save(&mut tiles[1], parameters[1], squares, width);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Registers, lookup};
    use super::*;

    fn run(name: &str, registers: &mut Registers, tiles: &mut [Tile], parameters: &[f32]) {
        let words: Vec<u32> = parameters.iter().map(|x| x.to_bits()).collect();
        lookup(name).expect(name).run(registers, tiles, &words, DstWidth::Bits32).expect(name);
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
        assert_eq!(cumsum.run(&mut registers, &mut tiles, &[0], DstWidth::Bits32), Err("cumsum_tile(first=True)"));
        cumsum.run(&mut registers, &mut tiles, &[1], DstWidth::Bits32).expect("first");
        assert_eq!(f32::from_bits(tiles[0][index(31, 5)]), (0..32).map(|row| (row + 5) as f32).sum::<f32>());
        let mut next = [tile(|_, _| 1.0)];
        cumsum.run(&mut registers, &mut next, &[0], DstWidth::Bits32).expect("second");
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
        update.run(&mut registers, &mut data, &words, DstWidth::Bits32).expect("update");
        let mut saved = [[7; 1024]; 2];
        lookup("welford_save").expect("save").run(&mut registers, &mut saved, &[1], DstWidth::Bits32).expect("save");
        // Column 17 is the odd column 1 of the right face: the fourth row of the group.
        assert_eq!(f32::from_bits(saved[0][index(7, 0)]), 18.0);
        registers = Registers::Free;
        let restore = lookup("welford_restore").expect("restore");
        restore.run(&mut registers, &mut saved, &[1], DstWidth::Bits32).expect("restore");
        let mut out = [[7; 1024]; 2];
        run("welford_to_row", &mut registers, &mut out, &[0.5]);
        for column in 0..SIDE {
            let [mean, variance] = [0, 1].map(|tile: usize| f32::from_bits(out[tile][index(0, column)]));
            assert_eq!((mean, variance), (column as f32 + 1.0, 1.0));
            assert_eq!([out[0][index(1, column)], out[0][index(4, column)]], [0, 7]);
        }
        assert_eq!(
            lookup("welford_save").expect("save").run(&mut registers, &mut out, &[0], DstWidth::Bits32),
            Err("welford_init")
        );
    }
}
