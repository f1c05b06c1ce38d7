//! Quantisation with scale and zero point.

use tt_formats::Arch;
use tt_sfpu::DstWidth;
use tt_sfpu::tile::{Registers, Rules, lookup};

/// Of results in a 32-bit `Dst`.
const WIDE: Rules = Rules { width: DstWidth::Bits32, arch: Arch::Wormhole };

fn apply(name: &str, x: u32, scale: f32, zero: f32) -> u32 {
    let mut registers = Registers::default();
    lookup("zero_point").expect("init").run(&mut registers, &mut [], &[zero.to_bits()], WIDE).expect("init");
    let mut tiles = [[x; 1024], [scale.to_bits(); 1024], [0; 1024]];
    lookup(name).expect(name).run(&mut registers, &mut tiles, &[], WIDE).expect(name);
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
    assert_eq!(quant.run(&mut Registers::Free, &mut tiles, &[], WIDE), Err("quant_tile_init"));
}
