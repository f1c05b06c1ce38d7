//! Host conversions against a definition, at every CPU level.
//!
//! The definition places one datum at a time. For small tensors and for ones that are written past the caches.
use tt_cpu::convert::{self, ConvertError, Dims, Target, Values};
use tt_cpu::{Level, pool};
use tt_formats::{DataFormat, TileShape, host};
use tt_testkit::random::Random;

const SMALL: [Dims; 5] = [
    Dims { batch: 1, rows: 1, columns: 1 },
    Dims { batch: 3, rows: 33, columns: 47 },
    Dims { batch: 1, rows: 32, columns: 64 },
    Dims { batch: 2, rows: 5, columns: 100 },
    Dims { batch: 0, rows: 32, columns: 32 },
];

/// More than 4 MiB in every format but the narrowest, and nothing aligned.
const LARGE: Dims = Dims { batch: 2, rows: 1001, columns: 2103 };

/// Values of all kinds: every BF16 pattern, close exponents, and bits below.
fn words(count: usize) -> Vec<u32> {
    let mut random = Random::new(21);
    let one = |i: usize| match i % 3 {
        0 => (i as u32 / 3) << 16 | random.below(4) << 14,
        1 => random.bits() as u32,
        _ => (120 + random.below(12)) << 23 | random.below(2) << 31 | random.below(1 << 23),
    };
    (0..count).map(one).collect()
}

/// The datum of a padded tensor at (matrix, row, column), and where it lies: tile, then place in it.
fn places(dims: Dims, tile: TileShape) -> impl Iterator<Item = (Option<usize>, usize, usize)> {
    let (down, across) = (dims.rows.div_ceil(tile.height()), dims.columns.div_ceil(tile.width()));
    (0..dims.batch * down * across).flat_map(move |index| {
        let (matrix, in_matrix) = (index / (down * across), index % (down * across));
        (0..tile.datums()).map(move |datum| {
            let (row, column) = tile.position(datum);
            let (row, column) = (in_matrix / across * tile.height() + row, in_matrix % across * tile.width() + column);
            let inside = row < dims.rows && column < dims.columns;
            (inside.then_some((matrix * dims.rows + row) * dims.columns + column), index, datum)
        })
    })
}

/// The raw buffer of FP32 words by definition.
fn defined(words: &[u32], format: DataFormat, dims: Dims, tile: TileShape, pad: u32) -> Vec<u8> {
    let tile_bytes = format.tile_bytes(tile);
    let mut buffer = vec![0; convert::buffer_bytes(format, dims, Some(tile)).expect("fits")];
    let mut group = Vec::new();
    for (value, index, datum) in places(dims, tile) {
        let word = value.map_or(pad, |at| words[at]);
        let out = &mut buffer[index * tile_bytes..][..tile_bytes];
        if !format.is_block_float() {
            let bytes = format.element_bytes().expect("plain");
            let value = if format == DataFormat::Float16B { host::fp32_to_bf16(word) } else { word };
            out[datum * bytes..][..bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
            continue;
        }
        group.push(word);
        if group.len() == 16 {
            let shared = group.iter().map(|x| host::fp32_exponent(*x)).max().expect("sixteen");
            out[datum / 16] = shared as u8;
            for (i, x) in group.drain(..).enumerate() {
                let at = datum - 15 + i;
                if format == DataFormat::Bfp8B {
                    out[format.exponent_bytes(tile) + at] = host::fp32_to_bfp::<7>(x, shared) as u8;
                } else {
                    let nibble = host::fp32_to_bfp::<3>(x, shared) << (at % 2 * 4);
                    out[format.exponent_bytes(tile) + at / 2] |= nibble as u8;
                }
            }
        }
    }
    buffer
}

fn packed(values: Values<'_>, format: DataFormat, dims: Dims, tile: TileShape, pad: f32) -> Vec<u8> {
    let mut buffer = vec![0xee; convert::buffer_bytes(format, dims, Some(tile)).expect("fits")];
    convert::pack(values, format, dims, Some(tile), pad, &mut buffer).expect("a conversion");
    buffer
}

fn check(dims: Dims, tile: TileShape, pad: f32) {
    let words = words(dims.values().expect("fits"));
    let floats: Vec<f32> = words.iter().map(|word| f32::from_bits(*word)).collect();
    for format in [DataFormat::Float32, DataFormat::Float16B, DataFormat::Bfp8B, DataFormat::Bfp4B] {
        let buffer = packed(Values::Float32(&floats), format, dims, tile, pad);
        assert!(buffer == defined(&words, format, dims, tile, pad.to_bits()), "{format:?} {dims:?} {tile:?}");

        let mut values = vec![1.0; floats.len()];
        if format == DataFormat::Float16B {
            let mut halves = vec![1; floats.len()];
            convert::unpack(&buffer, format, dims, Some(tile), Target::Halves(&mut halves)).expect("fits");
            assert!(halves.iter().zip(&words).all(|(half, word)| u32::from(*half) == host::fp32_to_bf16(*word)));
            for block_float in [DataFormat::Bfp8B, DataFormat::Bfp4B] {
                let words: Vec<u32> = halves.iter().map(|half| u32::from(*half) << 16).collect();
                let expected = defined(&words, block_float, dims, tile, pad.to_bits());
                assert!(packed(Values::Float16B(&halves), block_float, dims, tile, pad) == expected);
            }
            continue;
        }
        convert::unpack(&buffer, format, dims, Some(tile), Target::Float32(&mut values)).expect("fits");
        if format == DataFormat::Float32 {
            assert!(values.iter().zip(&words).all(|(value, word)| value.to_bits() == *word));
            continue;
        }
        let mut halves = vec![1; floats.len()];
        convert::unpack(&buffer, format, dims, Some(tile), Target::Halves(&mut halves)).expect("fits");
        assert!(values.iter().zip(&halves).all(|(value, half)| value.to_bits() == u32::from(*half) << 16));
        // Exponents of 255 come back as infinities and NaN; everything else packs to the same bytes again.
        if values.iter().all(|value| value.is_finite()) {
            assert!(packed(Values::Float32(&values), format, dims, tile, pad) == buffer, "{format:?} {dims:?}");
        }
    }
}

fn check_widths(dims: Dims, tile: TileShape) {
    let words = words(dims.values().expect("fits"));
    let (halves, bytes): (Vec<u16>, Vec<u8>) = words.iter().map(|word| (*word as u16, *word as u8)).unzip();
    for (values, format) in [
        (Values::UInt32(&words), DataFormat::UInt32),
        (Values::UInt16(&halves), DataFormat::UInt16),
        (Values::UInt8(&bytes), DataFormat::UInt8),
    ] {
        let buffer = packed(values, format, dims, tile, 7.0);
        assert!(buffer == defined(&words, format, dims, tile, 7), "{format:?} {dims:?} {tile:?}");
        let (mut w, mut h, mut b) = (vec![0; words.len()], vec![0; words.len()], vec![0; words.len()]);
        let target = match format {
            DataFormat::UInt32 => Target::Words(&mut w),
            DataFormat::UInt16 => Target::Halves(&mut h),
            _ => Target::Bytes(&mut b),
        };
        convert::unpack(&buffer, format, dims, Some(tile), target).expect("fits");
        assert!(w == words || h == halves || b == bytes);
    }
}

/// One test: the level and the number of threads belong to the process.
#[test]
fn every_tensor_is_as_defined_at_every_level() {
    for &level in Level::supported() {
        Level::set_current(level).expect("supported");
        pool::set_threads(2).expect("in range");
        for tile in TileShape::ALL {
            for dims in SMALL {
                check(dims, tile, 0.0);
                check(dims, tile, -1.5);
                check_widths(dims, tile);
            }
        }
        check(LARGE, TileShape::FULL, 0.0);
        check_widths(LARGE, TileShape::FULL);
        check(LARGE, TileShape::new(4, 32).expect("valid"), 0.1);
    }
    check_every_shared_exponent(Level::supported());
    check_datums(Level::supported());
}

/// Every BF16 value in a group with every shared exponent that it can have, and back. Levels are compared with the
/// scalar one, which the test above compares with the definition.
fn check_every_shared_exponent(levels: &[Level]) {
    for shared in 0..=255u16 {
        let mut halves: Vec<u16> = Vec::new();
        for magnitude in (0..(shared + 1) << 7).collect::<Vec<u16>>().chunks(15) {
            for sign in [0, 0x8000] {
                // The largest exponent moves through the group, with the other sign.
                let mut group: Vec<u16> = magnitude.iter().map(|x| x | sign).collect();
                group.resize(15, sign);
                group.insert(halves.len() / 16 % 16, shared << 7 | sign ^ 0x8000);
                halves.extend(group);
            }
        }
        halves.resize(halves.len().next_multiple_of(1024), 0);
        let dims = Dims { batch: 1, rows: halves.len() / 32, columns: 32 };
        let floats: Vec<f32> = halves.iter().map(|half| f32::from_bits(u32::from(*half) << 16)).collect();
        for format in [DataFormat::Bfp8B, DataFormat::Bfp4B] {
            let results = levels.iter().map(|level| {
                Level::set_current(*level).expect("supported");
                let buffer = packed(Values::Float16B(&halves), format, dims, TileShape::FULL, 0.0);
                assert!(packed(Values::Float32(&floats), format, dims, TileShape::FULL, 0.0) == buffer);
                let (mut words, mut back) = (vec![0.0; halves.len()], vec![0; halves.len()]);
                let tile = Some(TileShape::FULL);
                convert::unpack(&buffer, format, dims, tile, Target::Float32(&mut words)).expect("fits");
                convert::unpack(&buffer, format, dims, tile, Target::Halves(&mut back)).expect("fits");
                assert!(words.iter().zip(&back).all(|(word, half)| word.to_bits() == u32::from(*half) << 16));
                (buffer, back)
            });
            let results: Vec<_> = results.collect();
            assert!(results.iter().all(|result| *result == results[0]), "{format:?} {shared}");
        }
    }
}

/// Every datum of both widths with every exponent.
fn check_datums(levels: &[Level]) {
    for format in [DataFormat::Bfp8B, DataFormat::Bfp4B] {
        let tile_bytes = format.tile_bytes(TileShape::FULL);
        let mut buffer = vec![0; 256 * tile_bytes];
        for (exponent, tile) in buffer.chunks_exact_mut(tile_bytes).enumerate() {
            let (exponents, datums) = tile.split_at_mut(64);
            exponents.iter_mut().enumerate().for_each(|(group, byte)| *byte = (exponent + group / 16) as u8);
            datums.iter_mut().enumerate().for_each(|(i, byte)| *byte = i as u8);
        }
        let dims = Dims { batch: 1, rows: 256 * 32, columns: 32 };
        let results = levels.iter().map(|level| {
            Level::set_current(*level).expect("supported");
            let mut values = vec![0.0; 256 * 1024];
            convert::unpack(&buffer, format, dims, Some(TileShape::FULL), Target::Float32(&mut values)).expect("fits");
            values.into_iter().map(f32::to_bits).collect::<Vec<_>>()
        });
        let results: Vec<_> = results.collect();
        assert!(results.iter().all(|result| *result == results[0]), "{format:?}");
    }
}

#[test]
fn rows_without_tiles_convert_past_the_caches_too() {
    let words = words(3_000_001);
    let dims = Dims { batch: 1, rows: 1, columns: words.len() };
    let floats: Vec<f32> = words.iter().map(|word| f32::from_bits(*word)).collect();
    let mut buffer = vec![0; words.len() * 2];
    convert::pack(Values::Float32(&floats), DataFormat::Float16B, dims, None, 0.0, &mut buffer).expect("a conversion");
    let halves = buffer.as_chunks::<2>().0.iter().map(|bytes| u32::from(u16::from_le_bytes(*bytes)));
    assert!(halves.zip(&words).all(|(half, word)| half == host::fp32_to_bf16(*word)));
    let mut buffer = vec![0; words.len() * 4];
    convert::pack(Values::Float32(&floats), DataFormat::Int32, dims, None, 0.0, &mut buffer).expect("a conversion");
    let integers = buffer.as_chunks::<4>().0.iter().map(|bytes| i32::from_le_bytes(*bytes));
    assert!(integers.zip(&words).all(|(integer, word)| integer == host::fp32_to_int32(*word)));
}

#[test]
fn what_cannot_be_is_refused() {
    let dims = Dims { batch: 1, rows: 2, columns: 2 };
    let mut buffer = [0; 16];
    let values = [0.0; 4];
    let pack =
        |format, dims, buffer: &mut [u8]| convert::pack(Values::Float32(&values), format, dims, None, 0.0, buffer);
    let error = pack(DataFormat::Bfp8B, dims, &mut buffer).expect_err("no tiles");
    assert_eq!(error.to_string(), "Bfp8B needs tiles: its datums share exponents in rows of a face");
    assert_eq!(pack(DataFormat::Float16, dims, &mut buffer[..8]), Err(ConvertError::Format(DataFormat::Float16)));
    let error = pack(DataFormat::Float32, dims, &mut buffer[..12]).expect_err("too short");
    assert_eq!(error.to_string(), "the tensor needs 16 bytes, got 12");
    let error = pack(DataFormat::Float32, Dims { rows: 3, ..dims }, &mut buffer).expect_err("too few");
    assert_eq!(error.to_string(), "the tensor needs 6 values, got 4");
    let endless = Dims { batch: usize::MAX, rows: 2, columns: 2 };
    assert_eq!(convert::buffer_bytes(DataFormat::UInt8, endless, None), Err(ConvertError::TooLarge(endless)));
    let mut target = [0u16; 4];
    let error = convert::unpack(&buffer, DataFormat::Float32, dims, None, Target::Halves(&mut target));
    assert_eq!(error, Err(ConvertError::Target(DataFormat::Float32)));
}
