//! Conversions between the types of host tensors, value by value.
use bytemuck::{cast_slice, cast_slice_mut};
use tt_formats::{DataFormat, host};

use super::{ConvertError, for_each_chunk};
use crate::stream::{self, STREAM_BYTES};
use crate::{Level, simd_kernel};

/// Values on the host, row-major, in the type they have there.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// float32.
    Float32(&'a [f32]),
    /// bfloat16 as words.
    Float16B(&'a [u16]),
    /// Signed 32-bit integers.
    Int32(&'a [i32]),
    /// Unsigned 32-bit integers.
    UInt32(&'a [u32]),
    /// Unsigned 16-bit integers.
    UInt16(&'a [u16]),
    /// Unsigned 8-bit integers.
    UInt8(&'a [u8]),
    /// Signed 8-bit integers.
    Int8(&'a [i8]),
}

impl<'a> Values<'a> {
    /// Number of values.
    pub fn len(self) -> usize {
        self.as_bytes().len() / self.value_bytes()
    }

    /// Returns true if there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The format whose datums the values are.
    pub fn format(self) -> DataFormat {
        match self {
            Self::Float32(_) => DataFormat::Float32,
            Self::Float16B(_) => DataFormat::Float16B,
            Self::Int32(_) => DataFormat::Int32,
            Self::UInt32(_) => DataFormat::UInt32,
            Self::UInt16(_) => DataFormat::UInt16,
            Self::UInt8(_) => DataFormat::UInt8,
            Self::Int8(_) => DataFormat::Int8,
        }
    }

    pub(super) fn as_bytes(self) -> &'a [u8] {
        match self {
            Self::Float32(values) => cast_slice(values),
            Self::Float16B(values) | Self::UInt16(values) => cast_slice(values),
            Self::Int32(values) => cast_slice(values),
            Self::UInt32(values) => cast_slice(values),
            Self::UInt8(values) => values,
            Self::Int8(values) => cast_slice(values),
        }
    }

    pub(super) fn value_bytes(self) -> usize {
        match self {
            Self::Float32(_) | Self::Int32(_) | Self::UInt32(_) => 4,
            Self::Float16B(_) | Self::UInt16(_) => 2,
            Self::UInt8(_) | Self::Int8(_) => 1,
        }
    }
}

/// The destination of unpacked values: the format's host type.
///
/// Float32 or bfloat16 for block floats.
#[derive(Debug)]
pub enum Target<'a> {
    /// float32.
    Float32(&'a mut [f32]),
    /// Signed 32-bit integers.
    Int32(&'a mut [i32]),
    /// Unsigned 32-bit integers.
    Words(&'a mut [u32]),
    /// bfloat16 and 16-bit integers.
    Halves(&'a mut [u16]),
    /// Unsigned 8-bit integers and FP8.
    Bytes(&'a mut [u8]),
    /// Signed 8-bit integers.
    Int8(&'a mut [i8]),
}

impl<'a> Target<'a> {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Float32(values) => values.len(),
            Self::Int32(values) => values.len(),
            Self::Words(values) => values.len(),
            Self::Int8(values) => values.len(),
            Self::Halves(values) => values.len(),
            Self::Bytes(values) => values.len(),
        }
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn holds(&self, format: DataFormat) -> bool {
        match self {
            Self::Float32(_) => matches!(format, DataFormat::Float32 | DataFormat::Bfp8B | DataFormat::Bfp4B),
            Self::Int32(_) => format == DataFormat::Int32,
            Self::Words(_) => format == DataFormat::UInt32,
            Self::Int8(_) => format == DataFormat::Int8,
            Self::Halves(_) => {
                matches!(format, DataFormat::Float16B | DataFormat::UInt16 | DataFormat::Bfp8B | DataFormat::Bfp4B)
            }
            Self::Bytes(_) => matches!(format, DataFormat::UInt8 | DataFormat::Fp8E4M3),
        }
    }

    /// The bytes of the values.
    pub(super) fn into_bytes(self) -> &'a mut [u8] {
        match self {
            Self::Float32(values) => cast_slice_mut(values),
            Self::Int32(values) => cast_slice_mut(values),
            Self::Words(values) => cast_slice_mut(values),
            Self::Int8(values) => cast_slice_mut(values),
            Self::Halves(values) => cast_slice_mut(values),
            Self::Bytes(values) => values,
        }
    }
}

/// One value of a format from its FP32 value, as a little-endian word.
pub(super) fn one(format: DataFormat, value: f32) -> Result<u32, ConvertError> {
    let x = value.to_bits();
    Ok(match format {
        DataFormat::Float32 => x,
        DataFormat::Float16B => host::fp32_to_bf16(x),
        DataFormat::Int32 => host::fp32_to_int32(x) as u32,
        DataFormat::UInt32 => host::fp32_to_uint32(x),
        DataFormat::UInt16 => host::fp32_to_uint16(x).into(),
        DataFormat::UInt8 => host::fp32_to_uint8(x).into(),
        DataFormat::Int8 => (host::fp32_to_int8(x) as u8).into(),
        DataFormat::Fp8E4M3 => host::fp32_to_fp8_e4m3(x),
        _ => return Err(ConvertError::Format(format)),
    })
}

/// Values per step: the words between reading and writing stay in the first-level cache.
const STEP: usize = 1024;

/// Values per item of parallel work.
const SHARE: usize = 64 * STEP;

type Step = [u32; STEP];
type Read = unsafe fn(&[u8], &mut Step);
type Write = unsafe fn(&Step, &mut [u8]);

/// Converts values one by one. Integers become integers modulo their width; everything else goes through FP32.
pub(super) fn convert(values: Values<'_>, format: DataFormat, buffer: &mut [u8]) -> Result<(), ConvertError> {
    let (from, to) = (values.format(), format);
    let Some(to_bytes) = to.element_bytes() else { return Err(ConvertError::BlockFloatRows(to)) };
    one(to, 0.0)?;
    let (source, from_bytes) = (values.as_bytes(), values.value_bytes());
    let level = Level::current();
    let same_bits = from == to || (from.is_integer() && to.is_integer() && from_bytes == to_bytes);
    let (read, write) = if from.is_integer() && to.is_integer() {
        (integer_reader(from, level), integer_writer(to, level))
    } else {
        (fp32_reader(from, level), fp32_writer(to, level))
    };
    let stream = buffer.len() >= STREAM_BYTES;
    for_each_chunk(buffer, SHARE * to_bytes, |share, out| {
        let first = share * SHARE * from_bytes;
        let source = &source[first..first + out.len() / to_bytes * from_bytes];
        if same_bits {
            out.copy_from_slice(source);
            return;
        }
        let (mut words, mut made): (Step, Step) = ([0; STEP], [0; STEP]);
        let mut make = |source: &[u8], out: &mut [u8]| {
            if from == DataFormat::Float32 && to == DataFormat::Float16B {
                fp32_to_bf16::run(level, source, out);
            } else {
                // SAFETY: the functions were compiled for a level that the host has.
                unsafe {
                    read(source, &mut words);
                    write(&words, out);
                }
            }
        };
        for (source, out) in source.chunks(STEP * from_bytes).zip(out.chunks_mut(STEP * to_bytes)) {
            if stream {
                let made: &mut [u8] = &mut cast_slice_mut(&mut made)[..out.len()];
                make(source, made);
                stream::copy(out, made);
            } else {
                make(source, out);
            }
        }
        stream::finish();
    });
    Ok(())
}

#[inline(always)]
pub(super) fn fp32_to_bf16_body(source: &[u8], out: &mut [u8]) {
    for (x, y) in source.as_chunks::<4>().0.iter().zip(out.as_chunks_mut::<2>().0) {
        *y = (host::fp32_to_bf16(u32::from_le_bytes(*x)) as u16).to_le_bytes();
    }
}

simd_kernel!(fp32_to_bf16, super::fp32_to_bf16_body, (source: &[u8], out: &mut [u8]));

macro_rules! readers {
    ($($name:ident: $word:ty, $convert:expr;)*) => { $(
        mod $name {
            use super::*;

            #[inline(always)]
            fn body(source: &[u8], step: &mut Step) {
                for (word, bytes) in step.iter_mut().zip(source.as_chunks::<{ size_of::<$word>() }>().0) {
                    *word = $convert(<$word>::from_le_bytes(*bytes));
                }
            }

            simd_kernel!(kernel, super::body, (source: &[u8], step: &mut Step));
        }
    )* };
}

macro_rules! writers {
    ($($name:ident: $bytes:literal, $convert:expr;)*) => { $(
        mod $name {
            use super::*;

            #[inline(always)]
            fn body(step: &Step, out: &mut [u8]) {
                for (word, bytes) in step.iter().zip(out.as_chunks_mut::<$bytes>().0) {
                    let value: u32 = $convert(*word);
                    bytes.copy_from_slice(&value.to_le_bytes()[..$bytes]);
                }
            }

            simd_kernel!(kernel, super::body, (step: &Step, out: &mut [u8]));
        }
    )* };
}

readers! {
    read_u32: u32, |x: u32| x;
    read_u16: u16, u32::from;
    read_u8: u8, u32::from;
    read_i8: i8, |x: i8| x as u32;
    bf16_as_fp32: u16, |x: u16| host::bf16_to_fp32(x.into());
    i32_as_fp32: i32, |x: i32| (x as f32).to_bits();
    u32_as_fp32: u32, |x: u32| (x as f32).to_bits();
    u16_as_fp32: u16, |x: u16| f32::from(x).to_bits();
    u8_as_fp32: u8, |x: u8| f32::from(x).to_bits();
    i8_as_fp32: i8, |x: i8| f32::from(x).to_bits();
}

writers! {
    write_u32: 4, |x: u32| x;
    write_u16: 2, |x: u32| x;
    write_u8: 1, |x: u32| x;
    fp32_as_bf16: 2, host::fp32_to_bf16;
    fp32_as_i32: 4, |x: u32| host::fp32_to_int32(x) as u32;
    fp32_as_u32: 4, host::fp32_to_uint32;
    fp32_as_u16: 2, |x: u32| host::fp32_to_uint16(x).into();
    fp32_as_u8: 1, |x: u32| host::fp32_to_uint8(x).into();
    fp32_as_i8: 1, |x: u32| (host::fp32_to_int8(x) as u8).into();
    fp32_as_fp8: 1, host::fp32_to_fp8_e4m3;
}

fn integer_reader(format: DataFormat, level: Level) -> Read {
    match format {
        DataFormat::UInt16 => read_u16::kernel::at(level),
        DataFormat::UInt8 => read_u8::kernel::at(level),
        DataFormat::Int8 => read_i8::kernel::at(level),
        _ => read_u32::kernel::at(level),
    }
}

fn integer_writer(format: DataFormat, level: Level) -> Write {
    match format {
        DataFormat::UInt16 => write_u16::kernel::at(level),
        DataFormat::UInt8 | DataFormat::Int8 => write_u8::kernel::at(level),
        _ => write_u32::kernel::at(level),
    }
}

fn fp32_reader(format: DataFormat, level: Level) -> Read {
    match format {
        DataFormat::Float16B => bf16_as_fp32::kernel::at(level),
        DataFormat::Int32 => i32_as_fp32::kernel::at(level),
        DataFormat::UInt32 => u32_as_fp32::kernel::at(level),
        DataFormat::UInt16 => u16_as_fp32::kernel::at(level),
        DataFormat::UInt8 => u8_as_fp32::kernel::at(level),
        DataFormat::Int8 => i8_as_fp32::kernel::at(level),
        _ => read_u32::kernel::at(level),
    }
}

fn fp32_writer(format: DataFormat, level: Level) -> Write {
    match format {
        DataFormat::Float16B => fp32_as_bf16::kernel::at(level),
        DataFormat::Int32 => fp32_as_i32::kernel::at(level),
        DataFormat::UInt32 => fp32_as_u32::kernel::at(level),
        DataFormat::UInt16 => fp32_as_u16::kernel::at(level),
        DataFormat::UInt8 => fp32_as_u8::kernel::at(level),
        DataFormat::Int8 => fp32_as_i8::kernel::at(level),
        DataFormat::Fp8E4M3 => fp32_as_fp8::kernel::at(level),
        _ => write_u32::kernel::at(level),
    }
}
