//! Operators on device buffers.
//!
//! The keyword arguments of each are the parameters of its program, which runs by the rules of the chip generation of its
//! output's device.

use std::sync::Arc;

use pyo3::prelude::*;
use tt_formats::DataFormat;
use tt_fpu::{Arch, EltwiseOp};
use tt_memory::{BufferId, Device};
use tt_ops::OpError;
use tt_ops::argmax::ArgmaxProgram;
use tt_ops::binary::{BinaryProgram, Other, Unit};
use tt_ops::embedding_backward::EmbeddingBackwardProgram;
use tt_ops::experts::{ExpertRows, ExpertSums, Logits};
use tt_ops::group_norm::GroupNormProgram;
use tt_ops::indexed::{self, Combine, IndexProgram};
use tt_ops::matmul::{Bias, MatmulProgram, Ring};
use tt_ops::movement::{Movement, Packed, View};
use tt_ops::reduce::product::{Factors, MatrixAxis, ProductProgram};
use tt_ops::reduce::{Axis, Fill, Join, ReduceStep};
use tt_ops::row_gather;
use tt_ops::row_writes::{self, WindowCopy};
use tt_ops::sort::{SortProgram, Wanted};
use tt_ops::sticks::{GridProgram, LargestProgram, StickProgram};
use tt_ops::ternary::TernaryProgram;
use tt_ops::unary::UnaryProgram;

use crate::arguments::{Functions, Given, add_functions};
use crate::buffer::PyBuffer as Buffer;
use crate::chips::Chips;
use crate::error::{EngineError, engine_bug, exception};
use crate::keywords::{
    BinaryArguments, CopyArguments, EmbeddingBackwardArguments, GatherArguments, GridArguments, GroupNormArguments,
    IndexArguments, LargestArguments, MatmulArguments, MoveArguments, ProductArguments, Program, ReduceArguments,
    RotateArguments, ScatterArguments, SortArguments, StickArguments, TernaryArguments, UnaryArguments,
    WindowArguments, keywords,
};
use crate::{interrupt, slots};

/// An operand of an element-wise operator.
#[derive(FromPyObject)]
enum TensorOrNumber<'py> {
    Tensor(PyRef<'py, Buffer>),
    Number(f64),
}

impl EngineError for OpError {
    fn into_exception(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Memory(error) => error.into_exception(py),
            Self::Stopped => interrupt::again(py),
            Self::Index { .. } => exception(py, "ParameterError", (self.to_string(),)),
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

/// Runs an operator step on the buffers' device.
///
/// Without the interpreter lock; while the call is resolved, notes it.
pub fn run_step(
    py: Python<'_>,
    function: &'static str,
    buffers: &[&Buffer],
    run: impl Fn(&mut Device, &[BufferId]) -> Result<(), OpError> + Send + Sync + 'static,
) -> PyResult<()> {
    start(py, function, buffers, run, None)
}

/// [`run_step`] for a step of all chips together, which runs once.
///
/// It reads its first `crossing` buffers on other chips than the one that it writes to.
pub fn run_on_mesh(
    py: Python<'_>,
    function: &'static str,
    buffers: &[&Buffer],
    crossing: usize,
    run: impl Fn(&mut Device, &[BufferId]) -> Result<(), OpError> + Send + Sync + 'static,
) -> PyResult<()> {
    start(py, function, buffers, run, Some(crossing))
}

fn start(
    py: Python<'_>,
    function: &'static str,
    buffers: &[&Buffer],
    run: impl Fn(&mut Device, &[BufferId]) -> Result<(), OpError> + Send + Sync + 'static,
    crossing: Option<usize>,
) -> PyResult<()> {
    if slots::is_active() {
        let of_buffers: Vec<_> = buffers.iter().map(|buffer| buffer.slot()).collect();
        return slots::step(function, &of_buffers, Arc::new(run), crossing);
    }
    let (mesh, device) = (buffers[0].part(), buffers[0].device());
    if buffers.iter().any(|buffer| !Arc::ptr_eq(buffer.part(), mesh)) {
        let text = format!("ttnn.{function}: the tensors are on different devices");
        return Err(exception(py, "DeviceError", (text,)));
    }
    if buffers.iter().any(|buffer| buffer.slot().is_some()) {
        return Err(engine_bug(py, &format!("{function} runs on a slot of a program that is not made any more")));
    }
    let chips = common_chips(py, function, buffers[0].chips(), buffers)?;
    let ids: Vec<BufferId> = buffers.iter().map(|buffer| buffer.id()).collect();
    if let Some(crossing) = crossing {
        return device
            .launch(py, |locked| device.together(locked, function, &ids, crossing, |locked| run(locked, &ids)));
    }
    device.launch(py, |device| chips.each(device, |device| run(device, &ids)))
}

/// The chips that have the contents of all buffers.
///
/// # Errors
/// `DeviceError`: there are none.
pub fn common_chips<'a>(
    py: Python<'_>,
    function: &str,
    first: Chips,
    buffers: impl IntoIterator<Item = &'a &'a Buffer>,
) -> PyResult<Chips> {
    let both = buffers.into_iter().try_fold(first, |chips, buffer| chips.and(buffer.chips()));
    both.ok_or_else(|| {
        let text = format!("ttnn.{function}: no chip of the mesh has all tensors");
        exception(py, "DeviceError", (text,))
    })
}

/// A matrix multiplication; all modes of arithmetic have the same program.
macro_rules! matmul_function {
    ($(#[$doc:meta])* $name:ident, $run:path) => {
        $(#[$doc])*
        #[pyfunction]
        #[pyo3(signature = (a, b, bias, out, **program))]
        fn $name(
            py: Python<'_>,
            a: &Buffer,
            b: &Buffer,
            bias: Option<&Buffer>,
            out: &Buffer,
            program: Option<&Program<'_>>,
        ) -> PyResult<()> {
            let given: MatmulArguments = keywords(py, program)?;
            let (left, right, bias_format, result) = given.formats;
            let program = MatmulProgram {
                formats: (left, right, result),
                batch: given.batch,
                m: given.mt,
                k: given.kt,
                n: given.nt,
                k_datums: given.k,
                k_block: given.kb,
                ring: given.ring.map(|(columns, k_tiles)| Ring { columns, k_tiles }),
                fidelity: given.fidelity,
                dst32: given.dst32,
                packer_l1_acc: given.l1_acc,
                reload_direct: given.reload_direct,
                relu: given.relu,
                activation: given.activation.on(py, out.arch())?,
                left: given.left,
                transpose_a: given.transpose_a,
                transpose_b: given.transpose_b,
                arch: out.arch(),
            };
            let buffers: Vec<&Buffer> = [Some(a), Some(b), Some(out), bias].into_iter().flatten().collect();
            run_step(py, "matmul", &buffers, move |device, ids| {
                let bias = ids.get(3).map(|&buffer| Bias { buffer, format: bias_format, tile_rows: given.bias_tile_rows });
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

/// Runs a chain of SFPU functions; see `tt_ops::unary`.
#[pyfunction]
#[pyo3(signature = (input, output, **program))]
fn unary(py: Python<'_>, input: &Buffer, output: &Buffer, program: Option<&Program<'_>>) -> PyResult<()> {
    let UnaryArguments { formats, chain, dst32, tiled, packer_relu, precise } = keywords(py, program)?;
    let chain = chain.on(py, output.arch())?;
    let program = UnaryProgram { formats, dst32, tiled, packer_relu, precise, arch: output.arch() };
    run_step(py, "unary", &[input, output], move |device, ids| {
        tt_ops::unary::unary(device, ids[0], ids[1], &program, &chain)
    })
}

/// Turns pairs of neighbouring columns by 90 degrees; see `tt_ops::rotate`.
#[pyfunction]
#[pyo3(signature = (input, output, **program))]
fn rotate(py: Python<'_>, input: &Buffer, output: &Buffer, program: Option<&Program<'_>>) -> PyResult<()> {
    let RotateArguments { formats, dst32, tiled } = keywords(py, program)?;
    let program = UnaryProgram { formats, dst32, tiled, packer_relu: false, precise: false, arch: output.arch() };
    run_step(py, "rotate", &[input, output], move |device, ids| {
        tt_ops::rotate::rotate(device, ids[0], ids[1], &program)
    })
}

fn unit(arch: Arch, engine: &str, (op, variant): (&str, &str), parameters: &[u32]) -> PyResult<Unit> {
    Ok(match (engine, op) {
        ("fpu", "add") => Unit::Fpu(EltwiseOp::Add),
        ("fpu", "sub") => Unit::Fpu(EltwiseOp::Sub),
        ("fpu", "mul") => Unit::Fpu(EltwiseOp::Mul),
        ("sfpu", _) => {
            let function = tt_sfpu::lookup_binary(arch, op, variant)
                .ok_or_else(|| engine_error(format!("SFPU: no function {op}/{variant} of two operands")))?;
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
#[pyo3(signature = (a, b, output, **program))]
fn binary(
    py: Python<'_>,
    a: &Buffer,
    b: Option<&Buffer>,
    output: &Buffer,
    program: Option<&Program<'_>>,
) -> PyResult<()> {
    let given: BinaryArguments = keywords(py, program)?;
    let chain = |functions: Functions| functions.on(py, output.arch());
    let program = BinaryProgram {
        formats: given.formats,
        unit: unit(output.arch(), &given.engine, (&given.op, &given.variant), &given.parameters)?,
        shape_a: given.shape_a,
        shape_b: given.shape_b,
        shape_out: given.shape_out,
        scalar_is_left: given.scalar_is_lhs,
        tiled: given.tiled,
        fidelity: given.fidelity,
        dst32: given.dst32,
        chains: [chain(given.pre_a)?, chain(given.pre_b)?, chain(given.post)?],
        packer_relu: given.packer_relu,
        arch: output.arch(),
    };
    let scalar = given.scalar.map(|value| scalar_bits(program.formats.1, value));
    if b.is_none() && scalar.is_none() {
        return Err(engine_error("binary needs a second tensor or a scalar".to_owned()));
    }
    let buffers: Vec<&Buffer> = [Some(a), Some(output), b].into_iter().flatten().collect();
    run_step(py, "binary", &buffers, move |device, ids| {
        let other = scalar.map_or_else(|| Other::Tensor(ids[2]), Other::Scalar);
        tt_ops::binary::binary(device, ids[0], other, ids[1], &program)
    })
}

/// Runs an SFPU function of three operands, each a tensor or a number; see `tt_ops::ternary`.
#[pyfunction]
#[pyo3(signature = (operands, output, **program))]
fn ternary(
    py: Python<'_>,
    operands: [TensorOrNumber<'_>; 3],
    output: &Buffer,
    program: Option<&Program<'_>>,
) -> PyResult<()> {
    let TernaryArguments { formats, op, parameters, shapes, shape_out, dst32, tiled } = keywords(py, program)?;
    let (a, b, c, result) = formats;
    let function = tt_sfpu::lookup_ternary(output.arch(), &op, "default")
        .ok_or_else(|| engine_error(format!("SFPU: no function {op} of three operands")))?;
    let program = TernaryProgram {
        formats: ([a, b, c], result),
        function: function.with(&parameters).map_err(|error| engine_error(format!("{op}: {error}")))?,
        shapes,
        shape_out,
        tiled,
        dst32,
        arch: output.arch(),
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
    run_step(py, "ternary", &buffers, move |device, ids| {
        let others = [0, 1, 2].map(|i| places[i].map_or(Other::Scalar(numbers[i]), |place| Other::Tensor(ids[place])));
        tt_ops::ternary::ternary(device, others, ids[0], &program)
    })
}

/// One step of a reduction; see `tt_ops::reduce`.
#[pyfunction]
#[pyo3(signature = (input, output, **program))]
fn reduce(py: Python<'_>, input: &Buffer, output: &Buffer, program: Option<&Program<'_>>) -> PyResult<()> {
    let ReduceArguments { formats, outer, rows, columns, axis, join, length, scaler, scale, fill, fidelity, dst32 } =
        keywords(py, program)?;
    let axis = match axis.as_str() {
        "w" => Axis::Width,
        "h" => Axis::Height,
        "tile" => Axis::Tile,
        "leading" => Axis::Leading(length),
        "transposed" => Axis::Transposed(length),
        _ => return Err(engine_error(format!("no axis {axis:?}"))),
    };
    let join = match join.as_str() {
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
    let (format, _): (DataFormat, DataFormat) = formats;
    let identity = |value: f64| {
        if format.is_integer() { tt_ops::fill::word(format, value) } else { (value as f32).to_bits() }
    };
    // A 16-bit Dst holds half of an integer; what the chip does with the rest is not known. They are joined as a whole.
    let whole = matches!(join, Join::IntSum | Join::IntMax | Join::IntMin);
    let step = ReduceStep {
        formats,
        outer,
        rows,
        columns,
        fill: fill.map(|(height, width, value)| Fill { height, width, value: identity(value) }),
        axis,
        join,
        scale: scale.to_bits(),
        dst32: dst32 || whole,
        fidelity,
        arch: output.arch(),
    };
    run_step(py, "reduce", &[input, output], move |device, ids| tt_ops::reduce::reduce(device, ids[0], ids[1], &step))
}

/// A product; see `tt_ops::reduce::product`.
#[pyfunction]
#[pyo3(signature = (input, output, **program))]
fn product(py: Python<'_>, input: &Buffer, output: &Buffer, program: Option<&Program<'_>>) -> PyResult<()> {
    let ProductArguments { format, leading, lines, matrix, fidelity } = keywords(py, program)?;
    let factors = match (leading, lines, matrix) {
        (None, None, None) => Factors::Tiles,
        (None, None, Some((height, width))) => Factors::Matrix { height, width },
        (Some((length, inside)), None, None) => Factors::Leading { length, inside },
        (None, Some((outer, matrices, height, width, columns, flush)), None) => {
            Factors::Matrices(MatrixAxis { outer, matrices, height, width, columns, flush })
        }
        _ => return Err(engine_error("a product of leading or of lines".to_owned())),
    };
    let program = ProductProgram { format, factors, fidelity, arch: output.arch() };
    run_step(py, "product", &[input, output], move |device, ids| {
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
    format: Given<DataFormat>,
    tiled: bool,
    shape: Vec<usize>,
    dim: Option<usize>,
) -> PyResult<()> {
    let program = ArgmaxProgram { format: format.0, tiled, shape, dim };
    run_step(py, "argmax", &[input, output], move |device, ids| {
        tt_ops::argmax::argmax(device, ids[0], ids[1], &program)
    })
}

/// Rows of a gradient added to the rows of a table; see `tt_ops::embedding_backward`.
#[pyfunction]
#[pyo3(signature = (indices, grad, output, **program))]
fn embedding_backward(
    py: Python<'_>,
    indices: &Buffer,
    grad: &Buffer,
    output: &Buffer,
    program: Option<&Program<'_>>,
) -> PyResult<()> {
    let EmbeddingBackwardArguments { formats, row_length, rows, tiles_wide } = keywords(py, program)?;
    let (index_format, format) = formats;
    let program = EmbeddingBackwardProgram { index_format, format, row_length, rows, tiles_wide, arch: output.arch() };
    run_step(py, "embedding_bw", &[indices, grad, output], move |device, ids| {
        tt_ops::embedding_backward::embedding_backward(device, ids[0], ids[1], ids[2], &program)
    })
}

/// The weighted sums of the rows of every token; see `tt_ops::experts`. `routes` are indices and a table, or nothing.
#[pyfunction]
#[pyo3(signature = (rows, weights, routes, output, *, slots, width))]
fn sum_experts(
    py: Python<'_>,
    rows: &Buffer,
    weights: &Buffer,
    routes: Option<(PyRef<'_, Buffer>, PyRef<'_, Buffer>)>,
    output: &Buffer,
    slots: usize,
    width: usize,
) -> PyResult<()> {
    let program = ExpertSums { slots, width, arch: output.arch() };
    let mut buffers = vec![rows, weights, output];
    if let Some((indices, table)) = &routes {
        buffers.extend([&**indices, &**table]);
    }
    run_step(py, "post_combine_reduce", &buffers, move |device, ids| {
        let routes = if let [_, _, _, indices, table] = *ids { Some((indices, table)) } else { None };
        program.run(device, &ExpertRows { rows: ids[0], weights: ids[1], routes }, ids[2])
    })
}

/// The largest logits of every row, and their columns; see `tt_ops::experts`.
#[pyfunction]
fn router_topk(
    py: Python<'_>,
    own: &Buffer,
    added: Vec<PyRef<'_, Buffer>>,
    values: &Buffer,
    columns: &Buffer,
) -> PyResult<()> {
    let arch = values.arch();
    let mut buffers = vec![own, values, columns];
    buffers.extend(added.iter().map(|buffer| &**buffer));
    run_step(py, "topk_router_gpt", &buffers, move |device, ids| {
        let logits = Logits { own: ids[0], added: ids[3..].to_vec() };
        tt_ops::experts::router_topk(device, &logits, (ids[1], ids[2]), arch)
    })
}

/// Moves datums to other places; see `tt_ops::movement`.
#[pyfunction]
#[pyo3(signature = (input, output, **program))]
fn move_elements(py: Python<'_>, input: &Buffer, output: &Buffer, program: Option<&Program<'_>>) -> PyResult<()> {
    let MoveArguments {
        formats,
        in_shape,
        out_shape,
        strides,
        offset,
        in_tile,
        out_tile,
        window,
        pad_value,
        through_dst,
        packed,
    } = keywords(py, program)?;
    let (format_in, format_out) = formats;
    let window = window.unwrap_or_else(|| out_shape.iter().map(|&length| (0, length)).collect());
    run_step(py, "move", &[input, output], move |device, ids| {
        let movement = Movement {
            input: View { buffer: ids[0], format: format_in, tile: in_tile, shape: in_shape.clone() },
            output: View { buffer: ids[1], format: format_out, tile: out_tile, shape: out_shape.clone() },
            offset,
            strides: strides.clone(),
            window: window.clone(),
            padding: tt_ops::fill::word(format_out, pad_value),
            through_dst,
            packed: packed.map(|(format, precise)| Packed { format, precise }),
        };
        tt_ops::movement::move_datums(device, &movement)
    })
}

/// Copies a window of rows and leaves the rest of the output as it is; see `tt_ops::row_writes`.
#[pyfunction]
#[pyo3(signature = (input, output, **program))]
fn write_window(py: Python<'_>, input: &Buffer, output: &Buffer, program: Option<&Program<'_>>) -> PyResult<()> {
    let WindowArguments { element_bytes, width, shape, window, offset, strides } = keywords(py, program)?;
    let copy = WindowCopy { element_bytes, width, shape, window, offset, strides };
    run_step(py, "copy", &[input, output], move |device, ids| copy.run(device, ids[0], ids[1]))
}

/// Copies the rows of a table that indices name.
#[pyfunction]
#[pyo3(signature = (indices, table, output, **program))]
fn gather_rows(
    py: Python<'_>,
    indices: &Buffer,
    table: &Buffer,
    output: &Buffer,
    program: Option<&Program<'_>>,
) -> PyResult<()> {
    let GatherArguments { format, sizes, tiled } = keywords(py, program)?;
    run_step(py, "gather", &[indices, table, output], move |device, ids| {
        row_gather::gather_rows(device, (ids[0], format, sizes), ids[1], ids[2], tiled)
    })
}

/// Replaces rows of tiles: for each output page, input page, row and row of the output's tile.
#[pyfunction]
#[pyo3(signature = (input, output, tiles, *, formats, dst32=false))]
fn replace_tile_rows(
    py: Python<'_>,
    input: &Buffer,
    output: &Buffer,
    tiles: Vec<(usize, row_writes::TileRows)>,
    formats: Given<(DataFormat, DataFormat)>,
    dst32: bool,
) -> PyResult<()> {
    let arch = output.arch();
    run_step(py, "tile rows", &[input, output], move |device, ids| {
        row_writes::replace_tile_rows(device, (ids[0], formats.0.0), (ids[1], formats.0.1), &tiles, (dst32, arch))
    })
}

/// Group norm; see `tt_ops::group_norm`. `parameters` are the factors and what is added, those that there are.
#[pyfunction]
#[pyo3(signature = (input, parameters, output, **program))]
fn group_norm(
    py: Python<'_>,
    input: &Buffer,
    parameters: Vec<PyRef<'_, Buffer>>,
    output: &Buffer,
    program: Option<&Program<'_>>,
) -> PyResult<()> {
    let given: GroupNormArguments = keywords(py, program)?;
    let program = GroupNormProgram {
        formats: given.formats,
        parameters: given.parameter_formats,
        batch: given.batch,
        rows: given.rows,
        used_rows: given.used_rows,
        channels: given.channels,
        group: given.group,
        blocks: given.blocks,
        adds_tiles: given.adds_tiles,
        welford: given.welford,
        local: given.local.to_bits(),
        global: given.across.map(f32::to_bits),
        epsilon: given.epsilon.to_bits(),
        rsqrt: given.rsqrt.on(py, output.arch())?,
        fidelity: given.fidelity,
        dst32: given.dst32,
        arch: output.arch(),
    };
    let buffers: Vec<&Buffer> = [input, output].into_iter().chain(parameters.iter().map(|buffer| &**buffer)).collect();
    run_step(py, "group_norm", &buffers, move |device, ids| {
        tt_ops::group_norm::group_norm(device, ids[0], &ids[2..], ids[1], &program)
    })
}

/// The largest or weighted sums of sticks; see `tt_ops::sticks`.
#[pyfunction]
#[pyo3(signature = (input, output, **program))]
fn pool_sticks(py: Python<'_>, input: &Buffer, output: &Buffer, program: Option<&Program<'_>>) -> PyResult<()> {
    let StickArguments { format, channels, window, sticks, weights, rows, dst32, fidelity } = keywords(py, program)?;
    let weights = weights.into_iter().map(f32::to_bits).collect();
    let arch = output.arch();
    let program = StickProgram { format, channels, window, sticks, weights, rows, dst32, fidelity, arch };
    run_step(py, "pool", &[input, output], move |device, ids| tt_ops::sticks::pool(device, ids[0], ids[1], &program))
}

/// Copies sticks; see `tt_ops::sticks`.
#[pyfunction]
#[pyo3(signature = (input, output, **program))]
fn copy_sticks(py: Python<'_>, input: &Buffer, output: &Buffer, program: Option<&Program<'_>>) -> PyResult<()> {
    let CopyArguments { sticks, bytes } = keywords(py, program)?;
    run_step(py, "move", &[input, output], move |device, ids| {
        tt_ops::sticks::copy_sticks(device, ids[0], ids[1], &sticks, bytes)
    })
}

/// The largest elements of windows of sticks, and their indices; see `tt_ops::sticks`.
#[pyfunction]
#[pyo3(signature = (input, output, indices, **program))]
fn pool_largest(
    py: Python<'_>,
    input: &Buffer,
    output: &Buffer,
    indices: &Buffer,
    program: Option<&Program<'_>>,
) -> PyResult<()> {
    let given: LargestArguments = keywords(py, program)?;
    let program = LargestProgram {
        channels: given.channels,
        window: given.window,
        sticks: given.sticks,
        indices: given.pixels,
        dst32: given.dst32,
    };
    run_step(py, "pool", &[input, output, indices], move |device, ids| {
        tt_ops::sticks::largest_and_indices(device, ids[0], ids[1], ids[2], &program)
    })
}

/// Images sampled at the points of a grid; see `tt_ops::sticks`.
#[pyfunction]
#[pyo3(signature = (input, grid, output, **program))]
fn grid_sample(
    py: Python<'_>,
    input: &Buffer,
    grid: &Buffer,
    output: &Buffer,
    program: Option<&Program<'_>>,
) -> PyResult<()> {
    let GridArguments { formats, channels, image, points, align_corners, dst32, fidelity } = keywords(py, program)?;
    let arch = output.arch();
    let program = GridProgram { formats, channels, image, points, align_corners, dst32, fidelity, arch };
    run_step(py, "grid_sample", &[input, grid, output], move |device, ids| {
        tt_ops::sticks::grid_sample(device, ids[0], ids[1], ids[2], &program)
    })
}

/// Sorts rows, or finds the first elements of their order: so many tiles; see `tt_ops::sort`.
#[pyfunction]
#[pyo3(signature = (input, values, indices, **program))]
fn sort(
    py: Python<'_>,
    input: &Buffer,
    values: &Buffer,
    indices: &Buffer,
    program: Option<&Program<'_>>,
) -> PyResult<()> {
    let SortArguments { formats, rows, width, ascending, stable, first } = keywords(py, program)?;
    let (format, index_format) = formats;
    let wanted = first.map_or(Wanted::Sorted, Wanted::First);
    let program =
        SortProgram { format, indices: index_format, rows, width, ascending, stable, wanted, arch: values.arch() };
    run_step(py, "sort", &[input, values, indices], move |device, ids| {
        tt_ops::sort::sort(device, ids[0], (ids[1], ids[2]), &program)
    })
}

/// Elements that indices name along rows; see `tt_ops::indexed`.
#[pyfunction]
#[pyo3(signature = (input, indices, output, **program))]
fn gather_elements(
    py: Python<'_>,
    input: &Buffer,
    indices: &Buffer,
    output: &Buffer,
    program: Option<&Program<'_>>,
) -> PyResult<()> {
    let IndexArguments { formats, width, count, rows } = keywords(py, program)?;
    let (format, index) = formats;
    let program = IndexProgram { format, index, width, count, rows };
    run_step(py, "gather", &[input, indices, output], move |device, ids| {
        indexed::gather(device, ids[0], ids[1], ids[2], &program)
    })
}

/// Elements placed where indices say along rows; see `tt_ops::indexed`.
#[pyfunction]
#[pyo3(signature = (input, indices, source, output, **program))]
fn scatter_elements(
    py: Python<'_>,
    input: &Buffer,
    indices: &Buffer,
    source: &Buffer,
    output: &Buffer,
    program: Option<&Program<'_>>,
) -> PyResult<()> {
    let ScatterArguments { formats, width, count, rows, combine } = keywords(py, program)?;
    let (format, index) = formats;
    let program = IndexProgram { format, index, width, count, rows };
    let combine = match combine {
        0 => Combine::Last,
        1 => Combine::Add,
        _ => Combine::Multiply,
    };
    run_step(py, "scatter", &[input, indices, source, output], move |device, ids| {
        indexed::scatter(device, (ids[0], ids[1], ids[2]), ids[3], &program, combine)
    })
}

/// Positions of elements that are not zero, and their number.
#[pyfunction]
#[pyo3(signature = (input, counts, output, *, element_bytes, width))]
fn nonzero(
    py: Python<'_>,
    input: &Buffer,
    counts: &Buffer,
    output: &Buffer,
    element_bytes: usize,
    width: usize,
) -> PyResult<()> {
    run_step(py, "nonzero", &[input, counts, output], move |device, ids| {
        indexed::nonzero(device, ids[0], (ids[1], ids[2]), (element_bytes, width))
    })
}

/// Adds one to the integers of a buffer.
#[pyfunction]
#[pyo3(signature = (output, *, width, skip_negative))]
fn plus_one(py: Python<'_>, output: &Buffer, width: usize, skip_negative: bool) -> PyResult<()> {
    run_step(py, "plus_one", &[output], move |device, ids| indexed::plus_one(device, ids[0], width, skip_negative))
}

/// Marks the elements that are among others.
#[pyfunction]
#[pyo3(signature = (input, others, output, *, widths, element_bytes, invert))]
fn is_in(
    py: Python<'_>,
    input: &Buffer,
    others: &Buffer,
    output: &Buffer,
    widths: (usize, usize),
    element_bytes: usize,
    invert: bool,
) -> PyResult<()> {
    run_step(py, "isin", &[input, others, output], move |device, ids| {
        indexed::is_in(device, (ids[0], widths.0), (ids[1], widths.1), ids[2], (element_bytes, invert))
    })
}

/// Copies page i to page i.
#[pyfunction]
fn copy_pages(py: Python<'_>, input: &Buffer, output: &Buffer) -> PyResult<()> {
    run_step(py, "copy", &[input, output], move |device, ids| tt_ops::fill::copy_pages(device, ids[0], ids[1]))
}

/// Writes one value over a whole buffer, padding included.
#[pyfunction]
#[pyo3(signature = (output, *, format, value))]
fn fill(py: Python<'_>, output: &Buffer, format: Given<DataFormat>, value: f64) -> PyResult<()> {
    let unit = tt_ops::fill::unit(format.0, value);
    run_step(py, "fill", &[output], move |device, ids| tt_ops::fill::fill(device, ids[0], &unit))
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add_functions!(module: matmul, matmul_fast, unary, rotate, binary, ternary, reduce, product, argmax,
        embedding_backward, sum_experts, router_topk, move_elements, write_window, gather_rows, replace_tile_rows, group_norm, copy_sticks, pool_sticks, pool_largest, grid_sample, sort, gather_elements,
        scatter_elements, nonzero, plus_one, is_in, copy_pages, fill)
}
