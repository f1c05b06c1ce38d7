//! Quantisation to eight bits with a scale for each datum and a zero point that the init call keeps in a register; see
//! [`crate::functions::quantize`].

use super::{Access, Done, Registers, Tile, TileFunction};
use crate::exec::DstWidth;
use crate::functions::quantize;

const JOINS: &[Access] = &[Access::Reads, Access::Reads, Access::Makes];

pub(super) const FUNCTIONS: &[TileFunction] = &[
    TileFunction::new("zero_point", &[], 1, zero_point),
    TileFunction::new("quant", JOINS, 0, quant),
    TileFunction::new("requant", JOINS, 0, requant),
    TileFunction::new("dequant", JOINS, 0, dequant),
];

fn zero_point(registers: &mut Registers, _: &mut [Tile], parameters: &[u32], _: DstWidth) -> Done {
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

fn quant(registers: &mut Registers, tiles: &mut [Tile], _: &[u32], _: DstWidth) -> Done {
    each(registers, tiles, "quant_tile_init", quantize::quant)
}

fn requant(registers: &mut Registers, tiles: &mut [Tile], _: &[u32], _: DstWidth) -> Done {
    each(registers, tiles, "requant_tile_init", quantize::requant)
}

fn dequant(registers: &mut Registers, tiles: &mut [Tile], _: &[u32], _: DstWidth) -> Done {
    each(registers, tiles, "dequant_tile_init", quantize::dequant)
}

#[cfg(test)]
mod tests {
    use super::super::lookup;
    use super::*;

    fn apply(name: &str, x: u32, scale: f32, zero: f32) -> u32 {
        let mut registers = Registers::default();
        lookup("zero_point")
            .expect("init")
            .run(&mut registers, &mut [], &[zero.to_bits()], DstWidth::Bits32)
            .expect("init");
        let mut tiles = [[x; 1024], [scale.to_bits(); 1024], [0; 1024]];
        lookup(name).expect(name).run(&mut registers, &mut tiles, &[], DstWidth::Bits32).expect(name);
        tiles[2][77]
    }

    #[test]
    fn values_round_away_and_saturate() {
        assert_eq!(apply("quant", 2.5f32.to_bits(), 1.0, 0.0) as i32, 3);
        assert_eq!(apply("quant", (-2.5f32).to_bits(), 1.0, 10.0) as i32, 8);
        assert_eq!(apply("quant", (-2.5f32).to_bits(), 1.0, 0.0) as i32, -3);
        assert_eq!(apply("quant", 1e9f32.to_bits(), 1.0, 0.0) as i32, 127);
        assert_eq!(apply("quant", (-1e9f32).to_bits(), 1.0, 0.0) as i32, -127);
        assert_eq!(apply("requant", -40i32 as u32, 0.5, 3.0) as i32, -17);
        assert_eq!(f32::from_bits(apply("dequant", -40i32 as u32, 0.5, -4.0)), -22.0);
    }

    #[test]
    fn the_zero_point_must_have_been_set() {
        let mut tiles = [[0; 1024]; 3];
        let quant = lookup("quant").expect("quant");
        assert_eq!(quant.run(&mut Registers::Free, &mut tiles, &[], DstWidth::Bits32), Err("quant_tile_init"));
    }
}
