//! Operators on device buffers.

use std::sync::Arc;

use pyo3::prelude::*;
use tt_formats::{DataFormat, TileShape};
use tt_memory::{BufferId, Device};
use tt_ops::argmax::ArgmaxProgram;
use tt_ops::binary::{BinaryProgram, Other, Unit};
use tt_ops::embedding_backward::EmbeddingBackwardProgram;
use tt_ops::matmul::{Bias, MatmulProgram, Ring};
use tt_ops::movement::{Movement, Packed, View};
use tt_ops::reduce::product::{Factors, Lines, ProductProgram};
use tt_ops::reduce::{Axis, Fill, Join, ReduceStep};
use tt_ops::softmax::SoftmaxProgram;
use tt_ops::ternary::TernaryProgram;
use tt_ops::unary::UnaryProgram;
use tt_ops::{Chain, ChainStep, OpError};
use tt_tensix::fpu::{Arch, EltwiseOp, MathFidelity};
use tt_tensix::sfpu;

use crate::buffer::PyBuffer as Buffer;
use crate::error::{EngineError, engine_bug, exception};
use crate::interrupt;

type Steps = Vec<Step>;

/// An operand of an element-wise operator.
#[derive(FromPyObject)]
enum TensorOrNumber<'py> {
    Tensor(PyRef<'py, Buffer>),
    Number(f64),
}

/// A function of a chain: name, variant, and parameters as raw words if it takes any.
#[derive(FromPyObject)]
enum Step {
    Parameterised(String, String, Vec<u32>),
    Plain(String, String),
}

impl EngineError for OpError {
    fn into_exception(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Memory(error) => error.into_exception(py),
            Self::Stopped => interrupt::again(py),
            Self::Invariant { .. } | Self::UnknownFunction { .. } | Self::WrongParameters { .. } => {
                engine_bug(py, &self.to_string())
            }
        }
    }
}

/// An argument that the Python layer must not have let through.
fn engine_error(what: String) -> PyErr {
    Python::attach(|py| engine_bug(py, &what))
}

/// Runs an operator on the device that all `buffers` belong to, without the interpreter lock.
fn run_on_device(
    py: Python<'_>,
    operator: &str,
    buffers: &[&Buffer],
    run: impl FnOnce(&mut Device, &[BufferId]) -> Result<(), OpError> + Send,
) -> PyResult<()> {
    let device = buffers[0].device();
    if buffers.iter().any(|buffer| !Arc::ptr_eq(buffer.device(), device)) {
        let text = format!("ttnn.{operator}: the tensors are on different devices");
        return Err(exception(py, "DeviceError", (text,)));
    }
    let ids: Vec<BufferId> = buffers.iter().map(|buffer| buffer.id()).collect();
    device.run(py, |device| run(device, &ids))
}

fn format(code: u8) -> PyResult<DataFormat> {
    DataFormat::from_code(code).ok_or_else(|| engine_error(format!("no format has code {code}")))
}

fn fidelity(phases: u32) -> PyResult<MathFidelity> {
    MathFidelity::from_phases(phases).ok_or_else(|| engine_error(format!("no fidelity has {phases} phases")))
}

fn arch(number: u8) -> PyResult<Arch> {
    match number {
        0 => Ok(Arch::Wormhole),
        1 => Ok(Arch::Blackhole),
        _ => Err(engine_error(format!("no chip generation {number}"))),
    }
}

fn tile(shape: Option<(usize, usize)>) -> PyResult<Option<TileShape>> {
    let find = |(height, width): (usize, usize)| {
        TileShape::new(height, width).ok_or_else(|| engine_error(format!("no tile of {height} x {width}")))
    };
    shape.map(find).transpose()
}

fn chain(steps: Steps) -> PyResult<Chain> {
    let step = |step| match step {
        Step::Parameterised(name, variant, parameters) => ChainStep { name, variant, parameters },
        Step::Plain(name, variant) => ChainStep { name, variant, parameters: Vec::new() },
    };
    let steps: Vec<ChainStep> = steps.into_iter().map(step).collect();
    Chain::resolve(&steps).map_err(|error| engine_error(error.to_string()))
}

/// A matrix multiplication; all modes of arithmetic take the same program.
macro_rules! matmul_function {
    ($(#[$doc:meta])* $name:ident, $run:path) => {
        $(#[$doc])*
        #[pyfunction]
        #[pyo3(signature = (a, b, bias, out, *, formats, batch, mt, kt, nt, k, kb, ring, fidelity, dst32, l1_acc, relu, activation,
                            transpose_a, transpose_b, arch))]
        #[allow(clippy::too_many_arguments, reason = "keyword arguments of one Python call")]
        fn $name(
            py: Python<'_>,
            a: &Buffer,
            b: &Buffer,
            bias: Option<&Buffer>,
            out: &Buffer,
            formats: (u8, u8, u8, u8),
            batch: (usize, usize, usize),
            mt: usize,
            kt: usize,
            nt: usize,
            k: usize,
            kb: usize,
            ring: Option<(usize, usize)>,
            fidelity: u32,
            dst32: bool,
            l1_acc: bool,
            relu: bool,
            activation: Steps,
            transpose_a: bool,
            transpose_b: bool,
            arch: u8,
        ) -> PyResult<()> {
            let program = MatmulProgram {
                formats: (format(formats.0)?, format(formats.1)?, format(formats.3)?),
                batch,
                m: mt,
                k: kt,
                n: nt,
                k_datums: k,
                k_block: kb,
                ring: ring.map(|(columns, k_tiles)| Ring { columns, k_tiles }),
                fidelity: self::fidelity(fidelity)?,
                dst32,
                packer_l1_acc: l1_acc,
                relu,
                activation: chain(activation)?,
                transpose_a,
                transpose_b,
                arch: self::arch(arch)?,
            };
            let bias_format = bias.map(|_| format(formats.2)).transpose()?;
            let buffers: Vec<&Buffer> = [Some(a), Some(b), Some(out), bias].into_iter().flatten().collect();
            run_on_device(py, "matmul", &buffers, |device, ids| {
                let bias = bias_format.map(|format| Bias { buffer: ids[3], format });
                $run(device, (ids[0], ids[1]), bias, ids[2], &program)
            })
        }
    };
}

matmul_function!(
    /// Runs a matrix multiplication; see `tt_ops::matmul`.
    matmul,
    tt_ops::matmul::matmul
);
matmul_function!(
    /// Runs a matrix multiplication in the fast mode; see `tt_ops::matmul_fast`.
    matmul_fast,
    tt_ops::matmul_fast::matmul
);

/// Runs a chain of vector-unit functions; see `tt_ops::unary`.
#[pyfunction]
#[pyo3(signature = (input, output, *, formats, chain, dst32, tiled, packer_relu=false, precise=false, arch=0))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of one Python call")]
fn unary(
    py: Python<'_>,
    input: &Buffer,
    output: &Buffer,
    formats: (u8, u8),
    chain: Steps,
    dst32: bool,
    tiled: bool,
    packer_relu: bool,
    precise: bool,
    arch: u8,
) -> PyResult<()> {
    let program = UnaryProgram {
        formats: (format(formats.0)?, format(formats.1)?),
        dst32,
        tiled,
        packer_relu,
        precise,
        arch: self::arch(arch)?,
    };
    let chain = self::chain(chain)?;
    run_on_device(py, "unary", &[input, output], |device, ids| {
        tt_ops::unary::unary(device, ids[0], ids[1], &program, &chain)
    })
}

fn unit(engine: &str, op: &str, variant: &str, parameters: &[u32]) -> PyResult<Unit> {
    Ok(match (engine, op) {
        ("fpu", "add") => Unit::Fpu(EltwiseOp::Add),
        ("fpu", "sub") => Unit::Fpu(EltwiseOp::Sub),
        ("fpu", "mul") => Unit::Fpu(EltwiseOp::Mul),
        ("sfpu", _) => {
            let function = sfpu::lookup_binary_variant(op, variant)
                .ok_or_else(|| engine_error(format!("vector unit: no function {op}/{variant} of two operands")))?;
            Unit::Sfpu(function.with(parameters).map_err(|error| engine_error(format!("{op}/{variant}: {error}")))?)
        }
        _ => return Err(engine_error(format!("no operation {op:?} on {engine:?}"))),
    })
}

/// The datum that a number becomes in a tile of this format: FP32 bits, or the integer.
fn scalar_bits(format: DataFormat, value: f64) -> u32 {
    if format.is_integer() { value as i64 as u32 } else { (value as f32).to_bits() }
}

/// Runs an element-wise operator of two operands; see `tt_ops::binary`.
#[pyfunction]
#[pyo3(signature = (a, b, output, *, formats, op, engine, scalar, scalar_is_lhs, shape_a, shape_b, shape_out, tiled,
                    fidelity, dst32, pre_a=vec![], pre_b=vec![], post=vec![], packer_relu=false, arch=0,
                    variant="default", parameters=vec![]))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of one Python call")]
fn binary(
    py: Python<'_>,
    a: &Buffer,
    b: Option<&Buffer>,
    output: &Buffer,
    formats: (u8, u8, u8),
    op: &str,
    engine: &str,
    scalar: Option<f64>,
    scalar_is_lhs: bool,
    shape_a: Vec<usize>,
    shape_b: Vec<usize>,
    shape_out: Vec<usize>,
    tiled: bool,
    fidelity: u32,
    dst32: bool,
    pre_a: Steps,
    pre_b: Steps,
    post: Steps,
    packer_relu: bool,
    arch: u8,
    variant: &str,
    parameters: Vec<u32>,
) -> PyResult<()> {
    let program = BinaryProgram {
        formats: (format(formats.0)?, format(formats.1)?, format(formats.2)?),
        unit: unit(engine, op, variant, &parameters)?,
        shape_a,
        shape_b,
        shape_out,
        scalar_is_left: scalar_is_lhs,
        tiled,
        fidelity: self::fidelity(fidelity)?,
        dst32,
        chains: [chain(pre_a)?, chain(pre_b)?, chain(post)?],
        packer_relu,
        arch: self::arch(arch)?,
    };
    let scalar = scalar.map(|value| scalar_bits(program.formats.1, value));
    if b.is_none() && scalar.is_none() {
        return Err(engine_error("binary needs a second tensor or a scalar".to_owned()));
    }
    let buffers: Vec<&Buffer> = [Some(a), Some(output), b].into_iter().flatten().collect();
    run_on_device(py, "binary", &buffers, |device, ids| {
        let other = scalar.map_or_else(|| Other::Tensor(ids[2]), Other::Scalar);
        tt_ops::binary::binary(device, ids[0], other, ids[1], &program)
    })
}

/// Runs a vector-unit function of three operands, each a tensor or a number; see `tt_ops::ternary`.
#[pyfunction]
#[pyo3(signature = (operands, output, *, formats, op, parameters, shapes, shape_out, dst32, arch=0))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of one Python call")]
fn ternary(
    py: Python<'_>,
    operands: [TensorOrNumber<'_>; 3],
    output: &Buffer,
    formats: (u8, u8, u8, u8),
    op: &str,
    parameters: Vec<u32>,
    shapes: [Vec<usize>; 3],
    shape_out: Vec<usize>,
    dst32: bool,
    arch: u8,
) -> PyResult<()> {
    let function = sfpu::lookup_ternary(op, "default")
        .ok_or_else(|| engine_error(format!("vector unit: no function {op} of three operands")))?;
    let program = TernaryProgram {
        formats: ([format(formats.0)?, format(formats.1)?, format(formats.2)?], format(formats.3)?),
        function: function.with(&parameters).map_err(|error| engine_error(format!("{op}: {error}")))?,
        shapes,
        shape_out,
        dst32,
        arch: self::arch(arch)?,
    };
    let mut buffers = vec![output];
    let mut places = [None; 3];
    for (operand, place) in operands.iter().zip(&mut places) {
        if let TensorOrNumber::Tensor(buffer) = operand {
            *place = Some(buffers.len());
            buffers.push(buffer);
        }
    }
    let numbers = [0, 1, 2].map(|i| match operands[i] {
        TensorOrNumber::Number(value) => scalar_bits(program.formats.0[i], value),
        TensorOrNumber::Tensor(_) => 0,
    });
    run_on_device(py, "ternary", &buffers, |device, ids| {
        let others = [0, 1, 2].map(|i| places[i].map_or(Other::Scalar(numbers[i]), |place| Other::Tensor(ids[place])));
        tt_ops::ternary::ternary(device, others, ids[0], &program)
    })
}

/// Softmax over the last dimension; see `tt_ops::softmax`.
#[pyfunction]
#[pyo3(signature = (input, output, *, format, rows, width, stable, exact_exp, dst32, fidelity, arch=0))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of one Python call")]
fn softmax(
    py: Python<'_>,
    input: &Buffer,
    output: &Buffer,
    format: u8,
    rows: usize,
    width: usize,
    stable: bool,
    exact_exp: bool,
    dst32: bool,
    fidelity: u32,
    arch: u8,
) -> PyResult<()> {
    let program = SoftmaxProgram {
        format: self::format(format)?,
        rows,
        width,
        stable,
        exact_exp,
        dst32,
        fidelity: self::fidelity(fidelity)?,
        arch: self::arch(arch)?,
    };
    run_on_device(py, "softmax", &[input, output], |device, ids| {
        tt_ops::softmax::softmax(device, ids[0], ids[1], &program)
    })
}

/// One step of a reduction; see `tt_ops::reduce`. `axis` is "w", "h", "tile", or "leading" or "exchanged" (with
/// `length`); `scaler` is the matrix unit's, `scale` the vector unit's; the padding `fill` is a value that the format
/// holds.
#[pyfunction]
#[pyo3(signature = (input, output, *, formats, outer, rows, columns, axis, join, length=1, scaler=1.0, scale=1.0,
                    fill=None, fidelity=3, dst32=true, arch=0))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of one Python call")]
fn reduce(
    py: Python<'_>,
    input: &Buffer,
    output: &Buffer,
    formats: (u8, u8),
    outer: usize,
    rows: usize,
    columns: usize,
    axis: &str,
    join: &str,
    length: usize,
    scaler: f32,
    scale: f32,
    fill: Option<(usize, usize, f64)>,
    fidelity: u32,
    dst32: bool,
    arch: u8,
) -> PyResult<()> {
    let axis = match axis {
        "w" => Axis::Width,
        "h" => Axis::Height,
        "tile" => Axis::Tile,
        "leading" => Axis::Leading(length),
        "exchanged" => Axis::Exchanged(length),
        _ => return Err(engine_error(format!("no axis {axis:?}"))),
    };
    let join = match join {
        "fpu_sum" => Join::FpuSum { scaler: scaler.to_bits() },
        "fpu_max" => Join::FpuMax,
        "fpu_min" => Join::FpuMin,
        "sfpu_sum" => Join::SfpuSum,
        "sfpu_max" => Join::SfpuMax,
        "sfpu_min" => Join::SfpuMin,
        "int_sum" => Join::IntSum,
        "int_max" => Join::IntMax,
        "int_min" => Join::IntMin,
        _ => return Err(engine_error(format!("no join {join:?}"))),
    };
    let formats = (format(formats.0)?, format(formats.1)?);
    let identity = |value: f64| {
        if formats.0.is_integer() { tt_ops::fill::word(formats.0, value) } else { (value as f32).to_bits() }
    };
    let step = ReduceStep {
        formats,
        outer,
        rows,
        columns,
        fill: fill.map(|(height, width, value)| Fill { height, width, value: identity(value) }),
        axis,
        join,
        scale: scale.to_bits(),
        dst32,
        fidelity: self::fidelity(fidelity)?,
        arch: self::arch(arch)?,
    };
    run_on_device(py, "reduce", &[input, output], |device, ids| tt_ops::reduce::reduce(device, ids[0], ids[1], &step))
}

/// A product; see `tt_ops::reduce::product`. `leading` is the length of a dimension and the tiles inside it, `lines`
/// the matrices, their height and width, whether columns are multiplied, and whether datums are flushed first; all
/// tiles without.
#[pyfunction]
#[pyo3(signature = (input, output, *, format, leading=None, lines=None, fidelity=4, arch=0))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of one Python call")]
fn product(
    py: Python<'_>,
    input: &Buffer,
    output: &Buffer,
    format: u8,
    leading: Option<(usize, usize)>,
    lines: Option<(usize, usize, usize, usize, bool, bool)>,
    fidelity: u32,
    arch: u8,
) -> PyResult<()> {
    let factors = match (leading, lines) {
        (None, None) => Factors::Tiles,
        (Some((length, inside)), None) => Factors::Leading { length, inside },
        (None, Some((outer, matrices, height, width, down, flush))) => {
            Factors::Lines(Lines { outer, matrices, height, width, down, flush })
        }
        _ => return Err(engine_error("a product of leading or of lines".to_owned())),
    };
    let program = ProductProgram {
        format: self::format(format)?,
        factors,
        fidelity: self::fidelity(fidelity)?,
        arch: self::arch(arch)?,
    };
    run_on_device(py, "product", &[input, output], |device, ids| {
        tt_ops::reduce::product::product(device, ids[0], ids[1], &program)
    })
}

/// Index of the largest datum; see `tt_ops::argmax`.
#[pyfunction]
#[pyo3(signature = (input, output, *, format, tiled, shape, dim))]
fn argmax(
    py: Python<'_>,
    input: &Buffer,
    output: &Buffer,
    format: u8,
    tiled: bool,
    shape: Vec<usize>,
    dim: Option<usize>,
) -> PyResult<()> {
    let program = ArgmaxProgram { format: self::format(format)?, tiled, shape, dim };
    run_on_device(py, "argmax", &[input, output], |device, ids| {
        tt_ops::argmax::argmax(device, ids[0], ids[1], &program)
    })
}

/// Rows of a gradient added to the rows of a table; see `tt_ops::embedding_backward`.
#[pyfunction]
#[pyo3(signature = (indices, grad, output, *, formats, row_length, rows, tiles_wide, arch=0))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of one Python call")]
fn embedding_backward(
    py: Python<'_>,
    indices: &Buffer,
    grad: &Buffer,
    output: &Buffer,
    formats: (u8, u8),
    row_length: usize,
    rows: usize,
    tiles_wide: usize,
    arch: u8,
) -> PyResult<()> {
    let program = EmbeddingBackwardProgram {
        index_format: format(formats.0)?,
        format: format(formats.1)?,
        row_length,
        rows,
        tiles_wide,
        arch: self::arch(arch)?,
    };
    run_on_device(py, "embedding_bw", &[indices, grad, output], |device, ids| {
        tt_ops::embedding_backward::embedding_backward(device, ids[0], ids[1], ids[2], &program)
    })
}

/// Gives datums another place; see `tt_ops::movement`.
#[pyfunction]
#[pyo3(signature = (input, output, *, formats, in_shape, out_shape, strides, offset, in_tile, out_tile, window=None,
                    pad_value=0.0, through_dst=false, packed=None))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of one Python call")]
fn move_elements(
    py: Python<'_>,
    input: &Buffer,
    output: &Buffer,
    formats: (u8, u8),
    in_shape: Vec<usize>,
    out_shape: Vec<usize>,
    strides: Vec<i64>,
    offset: i64,
    in_tile: Option<(usize, usize)>,
    out_tile: Option<(usize, usize)>,
    window: Option<Vec<(usize, usize)>>,
    pad_value: f64,
    through_dst: bool,
    packed: Option<(u8, bool)>,
) -> PyResult<()> {
    let (format_in, format_out) = (format(formats.0)?, format(formats.1)?);
    let (in_tile, out_tile) = (tile(in_tile)?, tile(out_tile)?);
    let window = window.unwrap_or_else(|| out_shape.iter().map(|&length| (0, length)).collect());
    let padding = tt_ops::fill::word(format_out, pad_value);
    let packed = match packed {
        Some((code, precise)) => Some(Packed { format: format(code)?, precise }),
        None => None,
    };
    run_on_device(py, "move", &[input, output], |device, ids: &[BufferId]| {
        let view = |buffer, format, tile, shape: &Vec<usize>| View { buffer, format, tile, shape: shape.clone() };
        let movement = Movement {
            input: view(ids[0], format_in, in_tile, &in_shape),
            output: view(ids[1], format_out, out_tile, &out_shape),
            offset,
            strides: strides.clone(),
            window: window.clone(),
            padding,
            through_dst,
            packed,
        };
        tt_ops::movement::move_datums(device, &movement)
    })
}

/// Copies page i to page i.
#[pyfunction]
fn copy_pages(py: Python<'_>, input: &Buffer, output: &Buffer) -> PyResult<()> {
    run_on_device(py, "copy", &[input, output], |device, ids| tt_ops::fill::copy_pages(device, ids[0], ids[1]))
}

/// Writes one value over a whole buffer, padding included.
#[pyfunction]
#[pyo3(signature = (output, *, format, value))]
fn fill(py: Python<'_>, output: &Buffer, format: u8, value: f64) -> PyResult<()> {
    let unit = tt_ops::fill::unit(self::format(format)?, value);
    run_on_device(py, "fill", &[output], |device, ids| tt_ops::fill::fill(device, ids[0], &unit))
}

/// Every vector-unit function that a chain may name, as (name, variant).
#[pyfunction]
fn functions() -> Vec<(&'static str, &'static str)> {
    sfpu::FUNCTIONS.iter().copied().flatten().map(|function| (function.name, function.variant)).collect()
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(matmul, module)?)?;
    module.add_function(wrap_pyfunction!(matmul_fast, module)?)?;
    module.add_function(wrap_pyfunction!(unary, module)?)?;
    module.add_function(wrap_pyfunction!(binary, module)?)?;
    module.add_function(wrap_pyfunction!(ternary, module)?)?;
    module.add_function(wrap_pyfunction!(softmax, module)?)?;
    module.add_function(wrap_pyfunction!(reduce, module)?)?;
    module.add_function(wrap_pyfunction!(product, module)?)?;
    module.add_function(wrap_pyfunction!(argmax, module)?)?;
    module.add_function(wrap_pyfunction!(embedding_backward, module)?)?;
    module.add_function(wrap_pyfunction!(move_elements, module)?)?;
    module.add_function(wrap_pyfunction!(copy_pages, module)?)?;
    module.add_function(wrap_pyfunction!(fill, module)?)?;
    module.add_function(wrap_pyfunction!(functions, module)?)
}
