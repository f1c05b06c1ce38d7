//! Functions down a tile's rows: sums, averages, mean and variance.
//!
//! They keep a row for the next one: running sum, moving average.

use super::{Access, Done, Registers, Row, Rules, SIDE, Tile, TileFunction};
use crate::lane::{MINUS_ONE, ONE, ZERO};
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
fn running_sum(registers: &mut Registers, tiles: &mut [Tile], parameters: &[u32], rules: Rules) -> Done {
    let mut carry = match registers {
        _ if parameters[0] != 0 => [ZERO; SIDE],
        Registers::Carry(carry) => *carry,
        _ => return Err("cumsum_tile(first=True)"),
    };
    for row in 0..SIDE {
        for (column, sum) in carry.iter_mut().enumerate() {
            let datum = &mut tiles[0][index(row, column)];
            *sum = rules.mad(ONE, *sum, *datum);
            *datum = rules.store(*sum);
        }
    }
    *registers = Registers::Carry(carry);
    Ok(())
}

fn average_init(registers: &mut Registers, _: &mut [Tile], parameters: &[u32], _: Rules) -> Done {
    *registers = Registers::Average { weights: [parameters[0], parameters[1]], previous: [ZERO; SIDE] };
    Ok(())
}

fn average_clear(registers: &mut Registers, _: &mut [Tile], _: &[u32], _: Rules) -> Done {
    let Registers::Average { previous, .. } = registers else { return Err("ema_init") };
    *previous = [ZERO; SIDE];
    Ok(())
}

/// `new = weight_old * previous + weight_new * x`, row after row, to the tile behind the input.
fn average(registers: &mut Registers, tiles: &mut [Tile], _: &[u32], rules: Rules) -> Done {
    let Registers::Average { weights: [old, new], previous } = registers else { return Err("ema_init") };
    for row in 0..SIDE {
        for (column, previous) in previous.iter_mut().enumerate() {
            let at = index(row, column);
            *previous = rules.mad(*new, tiles[0][at], rules.mad(*old, *previous, ZERO));
            tiles[1][at] = rules.store(*previous);
        }
    }
    Ok(())
}

fn moments_clear(registers: &mut Registers, _: &mut [Tile], _: &[u32], _: Rules) -> Done {
    *registers = Registers::Moments { mean: [ZERO; SIDE], squares: [ZERO; SIDE] };
    Ok(())
}

/// One step of Welford's algorithm for each row; parameters are the first row and the reciprocals of the counts.
fn moments(registers: &mut Registers, tiles: &mut [Tile], parameters: &[u32], rules: Rules) -> Done {
    let Registers::Moments { mean, squares } = registers else { return Err("welford_init") };
    let first = parameters[0] as usize;
    for (row, &reciprocal) in (first..SIDE).zip(&parameters[1..]) {
        for column in 0..SIDE {
            let x = tiles[0][index(row, column)];
            let distance = rules.mad(MINUS_ONE, mean[column], x);
            let new = rules.mad(distance, reciprocal, mean[column]);
            squares[column] = rules.mad(distance, rules.mad(MINUS_ONE, new, x), squares[column]);
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

fn save(tile: &mut Tile, group: u32, row: &Row, rules: Rules) {
    for (column, &word) in row.iter().enumerate() {
        tile[raw(group, column)] = rules.store(word);
    }
}

fn moments_save(registers: &mut Registers, tiles: &mut [Tile], parameters: &[u32], rules: Rules) -> Done {
    let Registers::Moments { mean, squares } = registers else { return Err("welford_init") };
    save(&mut tiles[0], parameters[0], mean, rules);
    save(&mut tiles[1], parameters[0], squares, rules);
    Ok(())
}

fn moments_restore(registers: &mut Registers, tiles: &mut [Tile], parameters: &[u32], _: Rules) -> Done {
    let load = |tile: &Tile| std::array::from_fn(|column| tile[raw(parameters[0], column)]);
    *registers = Registers::Moments { mean: load(&tiles[0]), squares: load(&tiles[1]) };
    Ok(())
}

/// Mean and variance to row 0 of two tiles; the stores also clear the three rows below.
fn moments_to_row(registers: &mut Registers, tiles: &mut [Tile], parameters: &[u32], rules: Rules) -> Done {
    let Registers::Moments { mean, squares } = registers else { return Err("welford_init") };
    for column in 0..SIDE {
        for row in 1..4 {
            tiles[0][index(row, column)] = ZERO;
            tiles[1][index(row, column)] = ZERO;
        }
        tiles[0][index(0, column)] = rules.store(mean[column]);
        tiles[1][index(0, column)] = rules.store(rules.mad(parameters[0], squares[column], ZERO));
    }
    // The registers were turned with the results.
    *registers = Registers::Free;
    Ok(())
}

/// Mean and variance as the registers hold them, to four rows of the first face; parameters are the reciprocal and the
/// group.
fn moments_to_face(registers: &mut Registers, tiles: &mut [Tile], parameters: &[u32], rules: Rules) -> Done {
    let Registers::Moments { mean, squares } = registers else { return Err("welford_init") };
    for square in squares.iter_mut() {
        *square = rules.mad(parameters[0], *square, ZERO);
    }
    save(&mut tiles[0], parameters[1], mean, rules);
    save(&mut tiles[1], parameters[1], squares, rules);
    Ok(())
}
