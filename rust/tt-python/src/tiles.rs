//! Steps of unpacker, FPU and packer on tile arrays.
//!
//! For the golden checker and tests.
//!
//! Tiles in L1 form are bytes, one tile along the last axis; register tiles are row-major [n, 32, 32] words in the
//! layout of `tt_tensix::regs`.
#![allow(clippy::needless_pass_by_value, reason = "Python hands arrays over as owned views")]
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tt_cpu::Level;
use tt_formats::{DataFormat, TileShape, by_generation};
use tt_fpu::{Broadcast, CopyTile, DstFormat, EltwiseOp, MathConfig, MathFidelity, PoolOp, ReduceDim};
use tt_tensix::pack::{EdgeMask, PackConfig, Packer, Relu};
use tt_tensix::regs::{Arch, TILE_DATUMS};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};
use tt_tensix::unpack::{self, Unpacker};

use crate::arguments::{Given, add_functions};
use crate::error::enter_engine;

type Bytes<'py> = PyReadonlyArrayDyn<'py, u8>;
pub type Words<'py> = PyReadonlyArrayDyn<'py, u32>;
pub type NewWords<'py> = PyResult<Bound<'py, PyArrayDyn<u32>>>;

/// A wrong argument.
pub fn bad(text: String) -> PyErr {
    PyValueError::new_err(text)
}

/// Fidelity, whether `Dst` is 32 bits wide, and chip.
type Setting = (Given<MathFidelity>, bool, Given<Arch>);

/// What a kernel would configure for operands of this L1 format.
fn math(operand: DataFormat, (fidelity, dst32, arch): Setting) -> MathConfig {
    let (dst, alu) = (tile_io::dst_format(operand, dst32), unpack::register_format(operand, dst32));
    MathConfig { fidelity: fidelity.0, dst, alu, arch: arch.0 }
}

/// The unpacker of a chip to a register format, or to `Dst`.
fn unpacker(format: DataFormat, register: Option<DataFormat>, arch: Arch) -> PyResult<Unpacker> {
    let level = Level::current();
    let unpacker = by_generation!(arch, G => match register {
        Some(register) => Unpacker::to_src::<G>(format, register, level),
        None => Unpacker::to_dst::<G>(format, level),
    });
    unpacker.map_err(|error| bad(error.to_string()))
}

/// The tiles of an array of L1 bytes and the number of tiles per entry of its first axis.
struct L1Tiles<'a> {
    bytes: &'a [u8],
    per_entry: usize,
    unpacker: Unpacker,
}

impl<'a> L1Tiles<'a> {
    fn new(array: &'a Bytes<'_>, format: DataFormat, (_, dst32, arch): Setting) -> PyResult<Self> {
        let unpacker = unpacker(format, Some(unpack::register_format(format, dst32)), arch.0)?;
        let shape = array.shape();
        let size = unpacker.tile_bytes();
        if shape.last() != Some(&size) || shape.len() < 2 {
            return Err(bad(format!("tiles of {format:?} have {size} bytes along the last axis, not {shape:?}")));
        }
        let per_entry = shape[1..shape.len() - 1].iter().product();
        Ok(Self { bytes: array.as_slice()?, per_entry, unpacker })
    }

    fn entries(&self) -> usize {
        self.bytes.len() / (self.unpacker.tile_bytes() * self.per_entry).max(1)
    }

    fn unpack(&self, entry: usize, tile: usize, out: &mut Tile) {
        let size = self.unpacker.tile_bytes();
        let start = (entry * self.per_entry + tile) * size;
        self.unpacker.unpack(&self.bytes[start..start + size], out);
    }
}

/// Computes `n` register tiles without the interpreter lock and hands them over row-major.
fn register_tiles(py: Python<'_>, n: usize, compute: impl Fn(usize, &mut Tile) + Sync + Send) -> NewWords<'_> {
    let words = enter_engine(py, || -> PyResult<Vec<u32>> {
        let mut words = vec![0; n * TILE_DATUMS];
        let mut tile = [0; TILE_DATUMS];
        for (i, row_major) in words.chunks_exact_mut(TILE_DATUMS).enumerate() {
            tile.fill(0);
            compute(i, &mut tile);
            TileShape::FULL.untilize(&tile, row_major);
        }
        Ok(words)
    })?;
    PyArray1::from_vec(py, words).reshape(vec![n, 32, 32])
}

/// L1 tiles as the unpacker leaves them in Src, or in Dst.
#[pyfunction]
#[pyo3(signature = (l1, format, register_format, to_dst, arch=Given(Arch::Wormhole)))]
fn unpack_tiles<'py>(
    py: Python<'py>,
    l1: Bytes<'py>,
    format: Given<DataFormat>,
    register_format: Given<DataFormat>,
    to_dst: bool,
    arch: Given<Arch>,
) -> NewWords<'py> {
    let unpacker = unpacker(format.0, if to_dst { None } else { Some(register_format.0) }, arch.0)?;
    let size = unpacker.tile_bytes();
    let bytes = l1.as_slice()?;
    if bytes.len() % size != 0 {
        return Err(bad(format!("{} bytes are not whole tiles of {size}", bytes.len())));
    }
    register_tiles(py, bytes.len() / size, |i, tile| unpacker.unpack(&bytes[i * size..(i + 1) * size], tile))
}

/// The value of a name.
fn named<T: Copy>(what: &str, name: &str, values: &[(&str, T)]) -> PyResult<T> {
    let found = values.iter().find(|(of, _)| *of == name);
    found.map(|&(_, value)| value).ok_or_else(|| bad(format!("no {what} {name:?}")))
}

const DST_FORMATS: [(&str, DstFormat); 5] = [
    ("bf16", DstFormat::Bf16),
    ("fp16", DstFormat::Fp16),
    ("fp32", DstFormat::Fp32),
    ("int32", DstFormat::Int32),
    ("uint16", DstFormat::UInt16),
];
const ELTWISE_OPS: [(&str, EltwiseOp); 3] = [("add", EltwiseOp::Add), ("sub", EltwiseOp::Sub), ("mul", EltwiseOp::Mul)];
const BROADCASTS: [(&str, Broadcast); 4] =
    [("none", Broadcast::None), ("row", Broadcast::Row), ("column", Broadcast::Column), ("scalar", Broadcast::Scalar)];
const POOLS: [(&str, PoolOp); 2] = [("sum", PoolOp::Sum), ("max", PoolOp::Max)];
const DIMENSIONS: [(&str, ReduceDim); 3] =
    [("row", ReduceDim::Row), ("column", ReduceDim::Column), ("scalar", ReduceDim::Scalar)];

/// Dst tiles as the packer writes them to L1. `formats` are those of Dst, of the intermediate step, and of L1; `relu`
/// is mode and threshold.
#[pyfunction]
#[pyo3(signature = (dst, formats, relu=(0, 0), l1_before=None))]
fn pack_tiles<'py>(
    py: Python<'py>,
    dst: Words<'py>,
    formats: (String, Given<DataFormat>, Given<DataFormat>),
    relu: (u8, u16),
    l1_before: Option<Bytes<'py>>,
) -> PyResult<Bound<'py, PyArrayDyn<u8>>> {
    let relu = match relu {
        (0, _) => Relu::None,
        (1, _) => Relu::Zero,
        (2, threshold) => Relu::MinThreshold(threshold),
        (3, threshold) => Relu::MaxThreshold(threshold),
        (mode, _) => return Err(bad(format!("no ReLU mode {mode}"))),
    };
    let config = PackConfig {
        dst: named("Dst format", &formats.0, &DST_FORMATS)?,
        intermediate: formats.1.0,
        output: formats.2.0,
        relu,
        l1_accumulate: l1_before.is_some(),
        edge: EdgeMask::None,
    };
    let packer = Packer::new(&config, Level::current()).map_err(|error| bad(error.to_string()))?;
    let size = packer.tile_bytes();
    let words = dst.as_slice()?;
    let n = words.len() / TILE_DATUMS;
    let mut l1 = match &l1_before {
        Some(before) => before.as_slice()?.to_vec(),
        None => vec![0; n * size],
    };
    if words.len() != n * TILE_DATUMS || l1.len() != n * size {
        return Err(bad(format!("{} words and {} bytes are not {n} tiles", words.len(), l1.len())));
    }
    let l1 = enter_engine(py, move || -> PyResult<Vec<u8>> {
        let mut tile = [0; TILE_DATUMS];
        for (row_major, bytes) in words.chunks_exact(TILE_DATUMS).zip(l1.chunks_exact_mut(size)) {
            TileShape::FULL.tilize(row_major, &mut tile);
            packer.pack(&tile, bytes);
        }
        Ok(l1)
    })?;
    PyArray1::from_vec(py, l1).reshape(vec![n, size])
}

/// Dst after `sum over t of in0[i, t] @ in1[i, t]`.
#[pyfunction]
fn matmul_tiles<'py>(
    py: Python<'py>,
    in0: Bytes<'py>,
    in1: Bytes<'py>,
    formats: (Given<DataFormat>, Given<DataFormat>),
    setting: Setting,
) -> NewWords<'py> {
    let (format0, format1) = (formats.0.0, formats.1.0);
    let cfg = math(format1, setting);
    let (left, right) = (L1Tiles::new(&in0, format0, setting)?, L1Tiles::new(&in1, format1, setting)?);
    same_tiles(&left, &right)?;
    register_tiles(py, left.entries(), |i, dst| {
        let (mut a, mut b) = ([0; TILE_DATUMS], [0; TILE_DATUMS]);
        for k in 0..left.per_entry {
            left.unpack(i, k, &mut a);
            right.unpack(i, k, &mut b);
            tt_fpu::matmul_tile(&cfg, dst, &a, &b);
        }
    })
}

fn same_tiles(a: &L1Tiles<'_>, b: &L1Tiles<'_>) -> PyResult<()> {
    if a.entries() == b.entries() && a.per_entry == b.per_entry {
        return Ok(());
    }
    Err(bad(format!("operands of {} x {} and {} x {} tiles", a.entries(), a.per_entry, b.entries(), b.per_entry)))
}

/// Dst after `in0 op in1`, or after adding that `repeat` times to zero if `repeat` is above 1.
#[pyfunction]
fn eltwise_tiles<'py>(
    py: Python<'py>,
    in0: Bytes<'py>,
    in1: Bytes<'py>,
    formats: (Given<DataFormat>, Given<DataFormat>),
    step: (String, String),
    repeat: usize,
    setting: Setting,
) -> NewWords<'py> {
    let (format0, format1) = (formats.0.0, formats.1.0);
    let op = named("element-wise operation", &step.0, &ELTWISE_OPS)?;
    let broadcast = named("broadcast", &step.1, &BROADCASTS)?;
    let cfg = math(format0, setting);
    let (left, right) = (L1Tiles::new(&in0, format0, setting)?, L1Tiles::new(&in1, format1, setting)?);
    same_tiles(&left, &right)?;
    register_tiles(py, left.entries() * left.per_entry, |i, dst| {
        let (mut a, mut b) = ([0; TILE_DATUMS], [0; TILE_DATUMS]);
        left.unpack(0, i, &mut a);
        right.unpack(0, i, &mut b);
        for _ in 0..repeat {
            tt_fpu::eltwise(&cfg, op, broadcast, repeat > 1, dst, &a, &b);
        }
    })
}

/// The scaler tile that the vectors were made with: BF16, or FP16 for 5-bit-exponent data.
fn scaler(operand: DataFormat, bits: u32) -> (DataFormat, Tile) {
    let (format, word) = if operand.has_5_bit_exponent() {
        (DataFormat::Float16, (bits.wrapping_add(0x1000) >> 13).wrapping_sub(112 << 10) & 0x7fff)
    } else {
        (DataFormat::Float16B, bits >> 16 << 3)
    };
    (format, std::array::from_fn(|i| if i % 256 < 16 { word } else { 0 }))
}

/// Dst after reducing the tiles `in[i]` one after the other; only column 0, row 0 or datum 0 is meaningful.
///
/// `scaler_bits` is a positive FP32 word.
#[pyfunction]
fn reduce_tiles<'py>(
    py: Python<'py>,
    tiles: Bytes<'py>,
    format: Given<DataFormat>,
    scaler_bits: u32,
    step: (String, String),
    setting: Setting,
) -> NewWords<'py> {
    let operand = format.0;
    let (pool, dim) = (named("pool", &step.0, &POOLS)?, named("dimension", &step.1, &DIMENSIONS)?);
    let cfg = math(operand, setting);
    let data = L1Tiles::new(&tiles, operand, setting)?;
    let (scaler_format, scaler) = scaler(operand, scaler_bits);
    register_tiles(py, data.entries(), |i, dst| {
        let mut tile = [0; TILE_DATUMS];
        if pool == PoolOp::Max {
            tt_fpu::clear_for_max(&cfg, dst);
        }
        for t in 0..data.per_entry {
            data.unpack(i, t, &mut tile);
            tt_fpu::reduce(&cfg, scaler_format, (pool, dim), dst, &tile, &scaler);
        }
    })
}

/// Dst after MOVA2D of L1 tiles, or after `copy_tile` if `copy_tile` is true.
#[pyfunction]
#[pyo3(signature = (l1, format, dst32, copy_tile=false))]
fn datacopy_tiles<'py>(
    py: Python<'py>,
    l1: Bytes<'py>,
    format: Given<DataFormat>,
    dst32: bool,
    copy_tile: bool,
) -> NewWords<'py> {
    let operand = format.0;
    let cfg = math(operand, (Given(MathFidelity::LoFi), dst32, Given(Arch::Wormhole)));
    if !copy_tile {
        unpacker(operand, Some(cfg.alu), cfg.arch)?;
    }
    let (input, size, bytes) = (Input::new(operand, dst32), operand.tile_bytes(TileShape::FULL), l1.as_slice()?);
    if l1.shape().last() != Some(&size) {
        return Err(bad(format!("tiles of {operand:?} have {size} bytes along the last axis, not {:?}", l1.shape())));
    }
    register_tiles(py, bytes.len() / size, |i, dst| {
        let (bytes, mut source) = (&bytes[i * size..][..size], ZERO);
        if copy_tile {
            input.to_dst(&cfg, bytes, &mut source, dst);
        } else {
            input.to_src(bytes, &mut source);
            tt_fpu::move_a_to_dst(&cfg, dst, &source);
        }
    })
}

/// Single elements of MVMUL: `a` and `b` are [n, 16] Src words, `d` the [n] old Dst words; `setting` is the phase,
/// whether Dst is 32 bits wide, and the chip.
#[pyfunction]
fn mvmul_steps<'py>(
    py: Python<'py>,
    a: Words<'py>,
    b: Words<'py>,
    d: Words<'py>,
    family: &str,
    setting: (u32, bool, Given<Arch>),
) -> NewWords<'py> {
    let (phase, dst32, arch) = setting;
    let (alu, narrow) = match family {
        "e8" => (DataFormat::Tf32, DstFormat::Bf16),
        "e5" => (DataFormat::Float16, DstFormat::Fp16),
        _ => return Err(bad(format!("no operand family {family:?}"))),
    };
    if phase > 3 {
        return Err(bad(format!("no phase {phase}")));
    }
    let dst = if dst32 { DstFormat::Fp32 } else { narrow };
    let cfg = MathConfig { fidelity: MathFidelity::HiFi4, dst, alu, arch: arch.0 };
    let (a, b, d) = (a.as_slice()?, b.as_slice()?, d.as_slice()?);
    let (a, b) = (a.as_chunks::<16>().0, b.as_chunks::<16>().0);
    if a.len() != d.len() || b.len() != d.len() {
        return Err(bad(format!("{} and {} operand groups for {} elements", a.len(), b.len(), d.len())));
    }
    let results = enter_engine(py, || -> PyResult<Vec<u32>> {
        Ok((0..d.len()).map(|i| tt_fpu::mvmul_element(&cfg, phase, &a[i], &b[i], d[i])).collect())
    })?;
    PyArray1::from_vec(py, results).reshape(vec![d.len()])
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add_functions!(module: unpack_tiles, pack_tiles, matmul_tiles, eltwise_tiles, reduce_tiles,
        datacopy_tiles, mvmul_steps)
}
