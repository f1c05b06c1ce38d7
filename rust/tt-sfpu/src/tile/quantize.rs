//! Quantisation to eight bits, with a scale per datum.
//!
//! The init call keeps a zero point in a register; see [`crate::functions::quantize`].

use super::{Access, Done, Registers, Rules, Tile, TileFunction};
use crate::functions::quantize;
use crate::lane::Word;
use tt_formats::by_generation;

const JOINS: &[Access] = &[Access::Reads, Access::Reads, Access::Makes];

pub(super) const FUNCTIONS: &[TileFunction] = &[
    TileFunction::new("zero_point", &[], 1, zero_point),
    TileFunction::new("quant", JOINS, 0, quant),
    TileFunction::new("requant", JOINS, 0, requant),
    TileFunction::new("dequant", JOINS, 0, dequant),
];

fn zero_point(registers: &mut Registers, _: &mut [Tile], parameters: &[u32], _: Rules) -> Done {
    *registers = Registers::ZeroPoint(parameters[0]);
    Ok(())
}

fn each(
    registers: &Registers,
    tiles: &mut [Tile],
    missing: &'static str,
    program: impl Fn(u32, u32, u32) -> u32,
) -> Done {
    let Registers::ZeroPoint(zero) = *registers else { return Err(missing) };
    for datum in 0..tiles[2].len() {
        tiles[2][datum] = program(tiles[0][datum], tiles[1][datum], zero);
    }
    Ok(())
}

fn quant(registers: &mut Registers, tiles: &mut [Tile], _: &[u32], rules: Rules) -> Done {
    by_generation!(rules.arch, G => each(registers, tiles, "quant_tile_init", |x, scale, zero| {
        quantize::quant(Word::<G>::from(x), Word::from(scale), zero).bits
    }))
}

fn requant(registers: &mut Registers, tiles: &mut [Tile], _: &[u32], rules: Rules) -> Done {
    by_generation!(rules.arch, G => each(registers, tiles, "requant_tile_init", |x, scale, zero| {
        quantize::requant(Word::<G>::from(x), Word::from(scale), zero).bits
    }))
}

fn dequant(registers: &mut Registers, tiles: &mut [Tile], _: &[u32], rules: Rules) -> Done {
    by_generation!(rules.arch, G => each(registers, tiles, "dequant_tile_init", |x, scale, zero| {
        quantize::dequant(Word::<G>::from(x), Word::from(scale), zero).bits
    }))
}
