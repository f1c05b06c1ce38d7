//! `golden/host/host_tensors.npz` at every CPU level and several thread counts.
//!
//! Every array of it.
use tt_cpu::convert::{self, Dims, Target, Values};
use tt_cpu::{Level, pool};
use tt_formats::{DataFormat, TileShape};
use tt_testkit::golden::{self, Archive, Array};

fn format(name: &str) -> DataFormat {
    match name {
        "float32" => DataFormat::Float32,
        "bfloat16" => DataFormat::Float16B,
        "bfloat8_b" => DataFormat::Bfp8B,
        "bfloat4_b" => DataFormat::Bfp4B,
        "int32" => DataFormat::Int32,
        "uint32" => DataFormat::UInt32,
        "uint16" => DataFormat::UInt16,
        "uint8" => DataFormat::UInt8,
        "int8" => DataFormat::Int8,
        other => panic!("format {other}"),
    }
}

/// What an array's name says about how it was made.
struct Case {
    input: String,
    format: DataFormat,
    tile: Option<TileShape>,
    pad: f32,
    transposed: bool,
}

fn case(parts: &[&str]) -> Case {
    let plain = |input: &str, format_name, tile| Case {
        input: input.to_owned(),
        format: format(format_name),
        tile,
        pad: 0.0,
        transposed: false,
    };
    let full = Some(TileShape::FULL);
    match parts {
        ["float_to_int", format] => plain("float_to_int", format, None),
        ["col_tilize", format] => Case { transposed: true, ..plain("randn_40x50", format, full) },
        ["preserve_nan", input, format] | [input, format, "tile"] => plain(input, format, full),
        [input, format, "rm"] => plain(input, format, None),
        [option, format] => {
            if let Some(value) = option.strip_prefix("pad_value_") {
                return Case { pad: value.parse().expect("a number"), ..plain("randn_40x50", format, full) };
            }
            let shape = option.strip_prefix("tileshape_").expect("a tile shape");
            let (height, width) = shape.split_once('x').expect("two numbers");
            let number = |text: &str| text.parse().expect("a number");
            plain("randn_40x50", format, TileShape::new(number(height), number(width)))
        }
        _ => panic!("array {parts:?}"),
    }
}

fn dims(shape: &[usize]) -> Dims {
    let (matrix, batch) = (&shape[shape.len() - 2..], &shape[..shape.len() - 2]);
    Dims { batch: batch.iter().product(), rows: matrix[0], columns: matrix[1] }
}

fn packed(archive: &mut Archive, case: &Case) -> Vec<u8> {
    let input = archive.read(&format!("in/{}", case.input));
    let (values, dims) = if case.transposed {
        convert::transpose(&input.data, dims(&input.shape)).expect("fits")
    } else {
        (input.data, dims(&input.shape))
    };
    let (floats, bytes): (Vec<f32>, Vec<u8>);
    let values = if case.input.starts_with("int_int32") {
        Values::Int32(bytemuck::cast_slice(&values))
    } else if case.input.starts_with("int_uint8") {
        bytes = values.iter().map(|&value| value as u8).collect();
        Values::UInt8(&bytes)
    } else {
        floats = values.into_iter().map(f32::from_bits).collect();
        Values::Float32(&floats)
    };
    let mut buffer = vec![0; convert::buffer_bytes(case.format, dims, case.tile).expect("fits")];
    convert::pack(values, case.format, dims, case.tile, case.pad, &mut buffer).expect("a known conversion");
    buffer
}

/// Unpacked values as FP32 patterns.
fn unpacked(buffer: &[u8], case: &Case, expected: &Array) -> Vec<u32> {
    let dims = dims(&expected.shape);
    if case.format == DataFormat::Float16B {
        let mut values = vec![0; expected.data.len()];
        convert::unpack(buffer, case.format, dims, case.tile, Target::Halves(&mut values)).expect("fits");
        return values.into_iter().map(|value| u32::from(value) << 16).collect();
    }
    let mut values = vec![0.0; expected.data.len()];
    convert::unpack(buffer, case.format, dims, case.tile, Target::Float32(&mut values)).expect("fits");
    values.into_iter().map(f32::to_bits).collect()
}

#[test]
fn every_array_is_equal_at_every_level_and_number_of_threads() {
    let Some(mut archive) = golden::open("host/host_tensors") else { return };
    for &level in Level::supported() {
        for threads in [1, 3] {
            Level::set_current(level).expect("supported");
            pool::set_threads(threads).expect("in range");
            let mut compared = 0;
            for name in archive.names() {
                let parts: Vec<&str> = name.split('/').collect();
                if parts[0] == "in" {
                    continue;
                }
                let case = case(&parts[1..]);
                let expected = archive.read(&name);
                if parts[0] == "bytes" {
                    let expected: Vec<u8> = expected.data.iter().map(|&value| value as u8).collect();
                    assert!(packed(&mut archive, &case) == expected, "{name} at {level}");
                } else {
                    let buffer = archive.read(&format!("bytes/{}", parts[1..].join("/")));
                    let buffer: Vec<u8> = buffer.data.iter().map(|&value| value as u8).collect();
                    assert!(unpacked(&buffer, &case, &expected) == expected.data, "{name} at {level}");
                }
                compared += 1;
            }
            assert_eq!(compared, 181, "every array but the inputs");
        }
    }
}
