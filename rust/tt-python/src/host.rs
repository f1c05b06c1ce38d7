//! Conversions of host tensors.
//!
//! Numpy arrays in, raw tensor buffers out, and back. CPU levels and threads.
use numpy::{Element, PyArray1, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use tt_cpu::Level;
use tt_cpu::convert::{self, ConvertError, Dims, Target, Values};
use tt_cpu::level::LevelError;
use tt_cpu::pool::{self, ThreadsError};
use tt_formats::{DataFormat, TileShape};

use crate::arguments::{Given, add_functions, tile_shape};
use crate::error::{EngineError, engine_bug, enter_engine, exception};

impl EngineError for ConvertError {
    fn into_exception(self, py: Python<'_>) -> PyErr {
        let text = self.to_string();
        match self {
            Self::Format(_) => exception(py, "UnsupportedError", (text,)),
            Self::BlockFloatRows(_) => exception(py, "LayoutError", (text,)),
            Self::TooLarge(_) | Self::Memory(_) => exception(py, "OutOfMemoryError", (text, "host")),
            Self::Length { .. } | Self::Target(_) => engine_bug(py, &text),
        }
    }
}

impl EngineError for LevelError {
    fn into_exception(self, py: Python<'_>) -> PyErr {
        exception(py, "ArgumentError", (self.to_string(),))
    }
}

impl EngineError for ThreadsError {
    fn into_exception(self, py: Python<'_>) -> PyErr {
        exception(py, "ArgumentError", (self.to_string(),))
    }
}

/// Names of the CPU levels that this host has, narrowest first.
#[pyfunction]
fn cpu_levels() -> Vec<&'static str> {
    Level::supported().iter().map(|level| level.name()).collect()
}

/// The level that the engine uses.
#[pyfunction]
fn cpu_level() -> &'static str {
    Level::current().name()
}

/// Chooses the level that the engine uses.
#[pyfunction]
fn set_cpu_level(py: Python<'_>, name: &str) -> PyResult<()> {
    let set = || Level::set_current(name.parse()?);
    set().map_err(|error| error.into_exception(py))
}

/// Threads that one call of the engine may use.
#[pyfunction]
fn threads() -> usize {
    pool::threads()
}

/// Chooses the number of threads.
#[pyfunction]
fn set_threads(py: Python<'_>, n: usize) -> PyResult<()> {
    pool::set_threads(n).map_err(|error| error.into_exception(py))
}

/// The model name that the CPU reports, or its architecture.
#[pyfunction]
fn cpu_name() -> String {
    let from_kernel = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    from_kernel.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

/// Bytes of a tile.
#[pyfunction]
fn tile_bytes(py: Python<'_>, format: Given<DataFormat>, height: usize, width: usize) -> PyResult<usize> {
    Ok(format.0.tile_bytes(tile_shape(py, (height, width))?))
}

/// The raw buffer of a host tensor with these values.
#[pyfunction]
#[pyo3(signature = (values, source_format, target_format, dims, tile=None, pad_value=0.0, preserve_nan=false, col_tilize=false))]
#[expect(clippy::too_many_arguments, reason = "the options of from_torch")]
fn host_pack<'py>(
    py: Python<'py>,
    values: &Bound<'py, PyUntypedArray>,
    source_format: Given<DataFormat>,
    target_format: Given<DataFormat>,
    dims: (usize, usize, usize),
    tile: Option<Given<TileShape>>,
    pad_value: f64,
    preserve_nan: bool,
    col_tilize: bool,
) -> PyResult<Bound<'py, PyArray1<u8>>> {
    // The official conversion makes every NaN canonical with this option too (golden/host, `preserve_nan`).
    let _ = preserve_nan;
    let (target, dims) = (target_format.0, dims_of(dims));
    let job = PackJob { target, dims, tile: tile.map(|tile| tile.0), pad: pad_value as f32, transposed: col_tilize };
    let source = source_format.0;
    let buffer = match source {
        DataFormat::Float32 => job.run::<f32>(py, values, |values| Values::Float32(values)),
        DataFormat::Float16B => job.run::<u16>(py, values, |values| Values::Float16B(values)),
        DataFormat::Int32 => job.run::<i32>(py, values, |values| Values::Int32(values)),
        DataFormat::UInt32 => job.run::<u32>(py, values, |values| Values::UInt32(values)),
        DataFormat::UInt16 => job.run::<u16>(py, values, |values| Values::UInt16(values)),
        DataFormat::UInt8 => job.run::<u8>(py, values, |values| Values::UInt8(values)),
        DataFormat::Int8 => job.run::<i8>(py, values, |values| Values::Int8(values)),
        _ => Err(ConvertError::Format(source).into_exception(py)),
    }?;
    Ok(PyArray1::from_vec(py, buffer))
}

/// What `host_pack` makes of values, whatever their type.
struct PackJob {
    target: DataFormat,
    dims: Dims,
    tile: Option<TileShape>,
    pad: f32,
    transposed: bool,
}

impl PackJob {
    fn run<T: Element + Copy + Sync>(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyUntypedArray>,
        tagged: impl Fn(&[T]) -> Values<'_> + Sync + Send,
    ) -> PyResult<Vec<u8>> {
        let values: PyReadonlyArray1<'_, T> = values.extract().map_err(|_| {
            let (got, wanted) = (values.dtype().to_string(), numpy::dtype::<T>(py).to_string());
            engine_bug(py, &format!("host_pack wants one dimension of {wanted}, got {} of {got}", values.ndim()))
        })?;
        let values = values.as_slice().map_err(|_| engine_bug(py, "host_pack needs a contiguous array"))?;
        enter_engine(py, || {
            if self.transposed {
                let (turned, dims) = convert::transpose(values, self.dims)?;
                self.pack(tagged(&turned), dims)
            } else {
                self.pack(tagged(values), self.dims)
            }
        })
    }

    fn pack(&self, values: Values<'_>, dims: Dims) -> Result<Vec<u8>, ConvertError> {
        let mut buffer = convert::zeros(convert::buffer_bytes(self.target, dims, self.tile)?)?;
        convert::pack(values, self.target, dims, self.tile, self.pad, &mut buffer)?;
        Ok(buffer)
    }
}

/// The values of a raw buffer without padding: float32 for float32 and block floats, words of the format's type else.
#[pyfunction]
#[pyo3(signature = (buffer, format, dims, tile=None))]
fn host_unpack<'py>(
    py: Python<'py>,
    buffer: PyReadonlyArray1<'py, u8>,
    format: Given<DataFormat>,
    dims: (usize, usize, usize),
    tile: Option<Given<TileShape>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (format, dims, tile) = (format.0, dims_of(dims), tile.map(|tile| tile.0));
    let buffer = buffer.as_slice().map_err(|_| engine_bug(py, "host_unpack needs a contiguous buffer"))?;
    match format {
        DataFormat::Float32 | DataFormat::Bfp8B | DataFormat::Bfp4B => {
            unpacked::<f32>(py, |values| convert::unpack(buffer, format, dims, tile, Target::Float32(values)), dims)
        }
        DataFormat::Float16B | DataFormat::UInt16 => {
            unpacked::<u16>(py, |values| convert::unpack(buffer, format, dims, tile, Target::Halves(values)), dims)
        }
        DataFormat::UInt32 => {
            unpacked::<u32>(py, |values| convert::unpack(buffer, format, dims, tile, Target::Words(values)), dims)
        }
        DataFormat::Int32 => {
            unpacked::<i32>(py, |values| convert::unpack(buffer, format, dims, tile, Target::Int32(values)), dims)
        }
        DataFormat::Int8 => {
            unpacked::<i8>(py, |values| convert::unpack(buffer, format, dims, tile, Target::Int8(values)), dims)
        }
        DataFormat::UInt8 | DataFormat::Fp8E4M3 => {
            unpacked::<u8>(py, |values| convert::unpack(buffer, format, dims, tile, Target::Bytes(values)), dims)
        }
        _ => Err(ConvertError::Format(format).into_exception(py)),
    }
}

fn unpacked<T: Element + Copy + bytemuck::Zeroable>(
    py: Python<'_>,
    unpack: impl FnOnce(&mut [T]) -> Result<(), ConvertError> + Send,
    dims: Dims,
) -> PyResult<Bound<'_, PyAny>> {
    let values = enter_engine(py, || {
        let mut values = convert::zeros(dims.values()?)?;
        unpack(&mut values)?;
        Ok::<_, ConvertError>(values)
    })?;
    Ok(PyArray1::from_vec(py, values).into_any())
}

fn dims_of((batch, rows, columns): (usize, usize, usize)) -> Dims {
    Dims { batch, rows, columns }
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add_functions!(module: cpu_levels, cpu_level, set_cpu_level, threads, set_threads, cpu_name, tile_bytes, host_pack, host_unpack)
}
