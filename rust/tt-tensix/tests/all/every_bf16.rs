//! All 16-bit patterns through packer and unpacker, and round trips.
//!
//! Through every path, at every CPU level.
use tt_cpu::Level;
use tt_formats::{DataFormat, TileShape, Wormhole, pack as one, unpack as read};
use tt_tensix::pack::{CONVERSIONS, DstFormat, EdgeMask, PackConfig, Packer, Relu};
use tt_tensix::unpack::{self, Unpacker};
use tt_testkit::random::Random;

type Tile = [u32; 1024];

/// Every 16-bit pattern: in order, where groups have one or two exponents, and shuffled, where they have many.
fn patterns() -> Vec<[u32; 1024]> {
    let mut random = Random::new(11);
    let ordered: Vec<u32> = (0..0x10000).collect();
    let mut shuffled = ordered.clone();
    for i in (1..shuffled.len()).rev() {
        shuffled.swap(i, random.below(i as u32 + 1) as usize);
    }
    [ordered, shuffled].concat().as_chunks::<1024>().0.to_vec()
}

/// A 16-bit pattern where `Dst` holds it. FP32 and INT32 get bits below it too, so that roundings and ties are met.
fn in_dst(dst: DstFormat, pattern: u32, below: u32) -> u32 {
    match dst {
        DstFormat::Bf16 => pattern << 16,
        DstFormat::Fp16 => read::fp16_to_dst(pattern),
        DstFormat::UInt16 => pattern,
        DstFormat::Fp32 | DstFormat::Int32 => pattern << 16 | below,
    }
}

fn plain((dst, intermediate, output): (DstFormat, DataFormat, DataFormat)) -> PackConfig {
    PackConfig { dst, intermediate, output, relu: Relu::None, l1_accumulate: false, edge: EdgeMask::None }
}

fn packed(packer: &Packer, tile: &Tile) -> Vec<u8> {
    let mut l1 = vec![0; packer.tile_bytes()];
    packer.pack(tile, &mut l1);
    l1
}

#[test]
fn every_pattern_packs_the_same_at_every_level() {
    let tiles = patterns();
    for &conversion in CONVERSIONS {
        let config = plain(conversion);
        let relus = if config.intermediate.is_integer() {
            vec![Relu::None]
        } else {
            vec![Relu::None, Relu::Zero, Relu::MinThreshold(0x3f80), Relu::MaxThreshold(0x4100)]
        };
        for relu in relus {
            let config = PackConfig { relu, ..config };
            let packers: Vec<Packer> =
                Level::supported().iter().map(|&level| Packer::new(&config, level).expect("listed")).collect();
            for below in [0, 0x7fff, 0x8000, 0x8001] {
                for tile in &tiles {
                    let dst = tile.map(|pattern| in_dst(config.dst, pattern, below));
                    let expected = packed(&packers[0], &dst);
                    for packer in &packers[1..] {
                        assert!(packed(packer, &dst) == expected, "{config:?}");
                    }
                }
                if !matches!(config.dst, DstFormat::Fp32 | DstFormat::Int32) {
                    break;
                }
            }
        }
    }
}

#[test]
fn every_pattern_accumulates_the_same_at_every_level() {
    let tiles = patterns();
    for conversion in [
        (DstFormat::Fp32, DataFormat::Float32, DataFormat::Float32),
        (DstFormat::Bf16, DataFormat::Float16B, DataFormat::Float16B),
        (DstFormat::Fp16, DataFormat::Float16, DataFormat::Float16),
    ] {
        let config = PackConfig { l1_accumulate: true, ..plain(conversion) };
        let packers: Vec<Packer> =
            Level::supported().iter().map(|&level| Packer::new(&config, level).expect("listed")).collect();
        for (tile, other) in tiles.iter().zip(tiles.iter().rev()) {
            let dst = tile.map(|pattern| in_dst(config.dst, pattern, 0));
            let plain = Packer::new(&plain(conversion), Level::Scalar).expect("listed");
            let before = packed(&plain, &other.map(|pattern| in_dst(config.dst, pattern, 0)));
            let sums: Vec<Vec<u8>> = packers
                .iter()
                .map(|packer| {
                    let mut l1 = before.clone();
                    packer.pack(&dst, &mut l1);
                    l1
                })
                .collect();
            assert!(sums.iter().all(|sum| *sum == sums[0]), "{config:?}");
        }
    }
}

#[test]
fn rows_of_zeros_need_no_accumulation() {
    let mut random = Random::new(13);
    let zero_from = |rows: usize, tile: &mut [u32; 1024]| {
        let unused = (0..1024).filter(|place| place / 512 * 16 + place % 256 / 16 >= rows);
        unused.for_each(|place| tile[place] = 0);
    };
    for (dst, output) in [(DstFormat::Fp32, DataFormat::Float32), (DstFormat::Bf16, DataFormat::Float16B)] {
        let first = Packer::new(&plain((dst, output, output)), Level::current()).expect("listed");
        let config = PackConfig { l1_accumulate: true, ..plain((dst, output, output)) };
        let packer = Packer::new(&config, Level::current()).expect("listed");
        for rows in [0, 1, 15, 16, 17, 31, 32] {
            let mut tiles = [0, 1].map(|_| std::array::from_fn(|_| random.bits() as u32 & 0xffff_0000));
            for tile in &mut tiles {
                zero_from(rows, tile);
            }
            let mut whole = packed(&first, &tiles[0]);
            let mut some = whole.clone();
            packer.pack(&tiles[1], &mut whole);
            packer.pack_rows(&tiles[1], &mut some, rows);
            assert!(some == whole, "{output:?}, {rows} rows");
        }
    }
}

#[test]
fn every_byte_unpacks_the_same_at_every_level() {
    let mut random = Random::new(12);
    for format in DataFormat::ALL {
        let registers = [DataFormat::Tf32, DataFormat::Float16B, DataFormat::Float16, format];
        for register in registers.map(Some).into_iter().chain([None]) {
            let make = |level| match register {
                Some(register) => Unpacker::to_src::<Wormhole>(format, register, level),
                None => Unpacker::to_dst::<Wormhole>(format, level),
            };
            let Ok(scalar) = make(Level::Scalar) else { continue };
            for round in 0..200u32 {
                // Sixteen-bit formats see every pattern in order, the others random bytes; block floats at last those
                // of plain numbers only: no exponent near the ends, no magnitude of zero.
                let mut l1 = vec![0; scalar.tile_bytes()];
                for (i, half) in l1.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                    let word = if round < 64 { round * 1024 + i as u32 } else { random.below(0x10000) };
                    *half = (word as u16).to_le_bytes();
                }
                if round >= 160 {
                    l1[..64].iter_mut().for_each(|exponent| *exponent = (*exponent).clamp(8, 253));
                    l1[64..].iter_mut().for_each(|datum| *datum |= 0x11);
                }
                let mut expected = [0; 1024];
                scalar.unpack(&l1, &mut expected);
                for &level in Level::supported() {
                    let mut got = [1; 1024];
                    make(level).expect("as at the first level").unpack(&l1, &mut got);
                    assert!(got == expected, "{format:?} to {register:?} at {level}");
                }
            }
        }
    }
}

#[test]
fn every_bf16_value_packs_as_the_functions_for_one_datum_say() {
    for tile in patterns() {
        let dst = tile.map(|pattern| pattern << 16);
        for &level in Level::supported() {
            let pack = |intermediate, output| {
                packed(&Packer::new(&plain((DstFormat::Bf16, intermediate, output)), level).expect("listed"), &dst)
            };
            let halves = |l1: &[u8]| l1.as_chunks::<2>().0.iter().map(|b| u32::from(u16::from_le_bytes(*b))).collect();
            let words: Vec<u32> = halves(&pack(DataFormat::Float16B, DataFormat::Float16B));
            assert!(words == tile.map(one::bf16_to_bf16));
            let words: Vec<u32> = halves(&pack(DataFormat::Bfp8B, DataFormat::Float16B));
            assert!(words == tile.map(one::bf16_to_e8m6));
            for (intermediate, early) in
                [(DataFormat::Float16B, one::bf16_to_bf16 as fn(u32) -> u32), (DataFormat::Bfp8B, one::bf16_to_e8m6)]
            {
                let l1 = pack(intermediate, DataFormat::Bfp8B);
                for (i, group) in tile.map(early).as_chunks::<16>().0.iter().enumerate() {
                    let shared = one::bfp_b_exponent(group);
                    assert_eq!(u32::from(l1[i]), shared);
                    let datums = group.map(|y| one::bf16_to_bfp8_b(y, shared) as u8);
                    assert_eq!(l1[64 + i * 16..][..16], datums);
                }
            }
        }
    }
}

#[test]
fn what_was_packed_survives_unpacking_and_packing_again() {
    for tile in patterns() {
        for output in
            [DataFormat::Float16B, DataFormat::Float32, DataFormat::Bfp8B, DataFormat::Bfp4B, DataFormat::Bfp2B]
        {
            let packer = Packer::new(&PackConfig::new(DstFormat::Bf16, output), Level::current()).expect("listed");
            let l1 = packed(&packer, &tile.map(|pattern| pattern << 16));
            // Shared exponents below 7 wrap around in the unpacker, and "minus zero" cannot come from the packer.
            if output.is_block_float() && l1[..64].iter().any(|&exponent| exponent < 7) {
                continue;
            }
            let mut dst = [0; 1024];
            unpack::to_dst(output, &l1, &mut dst);
            assert!(packed(&packer, &dst) == l1, "{output:?}");
        }
    }
}

#[test]
fn masked_datums_are_zero_and_the_others_stay() {
    let dst: Tile = std::array::from_fn(|i| (1.0 + i as f32).to_bits());
    for (edge, kept) in [
        (EdgeMask::Column0, (|_, column| column == 0) as fn(usize, usize) -> bool),
        (EdgeMask::Row0, |row, _| row == 0),
        (EdgeMask::Datum0, |row, column| (row, column) == (0, 0)),
    ] {
        let config = PackConfig { edge, ..PackConfig::new(DstFormat::Fp32, DataFormat::Float32) };
        let l1 = packed(&Packer::new(&config, Level::current()).expect("listed"), &dst);
        for (i, word) in l1.as_chunks::<4>().0.iter().enumerate() {
            let (row, column) = TileShape::FULL.position(i);
            assert_eq!(u32::from_le_bytes(*word), if kept(row, column) { dst[i] } else { 0 });
        }
    }
}

#[test]
fn transposing_twice_is_nothing_and_once_exchanges_rows_and_columns() {
    let tile: Tile = std::array::from_fn(|i| i as u32);
    let (mut once, mut twice) = ([0; 1024], [0; 1024]);
    unpack::transpose(&tile, &mut once);
    unpack::transpose(&once, &mut twice);
    assert_eq!(twice, tile);
    for row in 0..32 {
        for column in 0..32 {
            let (at, from) = (TileShape::FULL.index(row, column), TileShape::FULL.index(column, row));
            assert_eq!(once[at], tile[from]);
        }
    }
}

#[test]
fn what_the_hardware_lacks_is_refused_by_name() {
    let error = |config: PackConfig| Packer::new(&config, Level::Scalar).err().expect("refused").to_string();
    let int32 = PackConfig::new(DstFormat::Int32, DataFormat::Int32);
    assert_eq!(
        error(PackConfig { output: DataFormat::Float16B, ..int32 }),
        "the packer does not convert Int32 in Dst through Int32 to Float16B"
    );
    assert_eq!(
        error(PackConfig { relu: Relu::MaxThreshold(1), ..int32 }),
        "the packer has no MaxThreshold(1) on Int32 values"
    );
    assert_eq!(error(PackConfig { l1_accumulate: true, ..int32 }), "the packer does not accumulate Int32 in L1");
    let error =
        Unpacker::to_src::<Wormhole>(DataFormat::Int32, DataFormat::Int32, Level::Scalar).err().expect("refused");
    assert_eq!(error.to_string(), "the unpacker does not convert Int32 to Int32 in Src");
}
