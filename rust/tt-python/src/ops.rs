//! Operators on device buffers. The keyword arguments of each are the parameters of its program.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tt_formats::DataFormat;
use tt_memory::{BufferId, Device};
use tt_ops::OpError;
use tt_ops::argmax::ArgmaxProgram;
use tt_ops::binary::{BinaryProgram, Other, Unit};
use tt_ops::embedding_backward::EmbeddingBackwardProgram;
use tt_ops::matmul::{Bias, MatmulProgram, Ring};
use tt_ops::movement::{Movement, Packed, View};
use tt_ops::reduce::product::{Factors, MatrixAxis, ProductProgram};
use tt_ops::reduce::{Axis, Fill, Join, ReduceStep};
use tt_ops::softmax::SoftmaxProgram;
use tt_ops::ternary::TernaryProgram;
use tt_ops::unary::UnaryProgram;
use tt_tensix::fpu::{Arch, EltwiseOp, MathFidelity};
use tt_tensix::sfpu;

use crate::arguments::{Fidelity, Format, Functions, Generation, Tile, add_functions, keywords};
use crate::buffer::PyBuffer as Buffer;
use crate::error::{EngineError, engine_bug, exception};
use crate::interrupt;

/// The keyword arguments of a call.
type Given<'py> = Bound<'py, PyDict>;

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

/// The chip that programs run for unless they say so.
const WORMHOLE: Generation = Generation(Arch::Wormhole);

keywords! {
    /// Parameters of a matrix multiplication: formats of a, b, bias and output; sizes in tiles, `k` in datums.
    MatmulArguments {
        formats: (Format, Format, Format, Format),
        batch: (usize, usize, usize),
        mt: usize,
        kt: usize,
        nt: usize,
        k: usize,
        kb: usize,
        ring: Option<(usize, usize)>,
        fidelity: Fidelity,
        dst32: bool,
        l1_acc: bool,
        relu: bool,
        activation: Functions,
        transpose_a: bool,
        transpose_b: bool,
        arch: Generation,
    }
}

/// A matrix multiplication; all modes of arithmetic take the same program.
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
            program: Option<&Given<'_>>,
        ) -> PyResult<()> {
            let given = MatmulArguments::of(py, program)?;
            let program = MatmulProgram {
                formats: (given.formats.0.0, given.formats.1.0, given.formats.3.0),
                batch: given.batch,
                m: given.mt,
                k: given.kt,
                n: given.nt,
                k_datums: given.k,
                k_block: given.kb,
                ring: given.ring.map(|(columns, k_tiles)| Ring { columns, k_tiles }),
                fidelity: given.fidelity.0,
                dst32: given.dst32,
                packer_l1_acc: given.l1_acc,
                relu: given.relu,
                activation: given.activation.0,
                transpose_a: given.transpose_a,
                transpose_b: given.transpose_b,
                arch: given.arch.0,
            };
            let buffers: Vec<&Buffer> = [Some(a), Some(b), Some(out), bias].into_iter().flatten().collect();
            run_on_device(py, "matmul", &buffers, |device, ids| {
                let bias = ids.get(3).map(|&buffer| Bias { buffer, format: given.formats.2.0 });
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

keywords! {
    /// Parameters of a chain of SFPU functions.
    UnaryArguments {
        formats: (Format, Format),
        chain: Functions,
        dst32: bool,
        tiled: bool,
        packer_relu: bool = false,
        precise: bool = false,
        arch: Generation = WORMHOLE,
    }
}

/// Runs a chain of SFPU functions; see `tt_ops::unary`.
#[pyfunction]
#[pyo3(signature = (input, output, **program))]
fn unary(py: Python<'_>, input: &Buffer, output: &Buffer, program: Option<&Given<'_>>) -> PyResult<()> {
    let UnaryArguments { formats, chain, dst32, tiled, packer_relu, precise, arch } = UnaryArguments::of(py, program)?;
    let program =
        UnaryProgram { formats: (formats.0.0, formats.1.0), dst32, tiled, packer_relu, precise, arch: arch.0 };
    run_on_device(py, "unary", &[input, output], |device, ids| {
        tt_ops::unary::unary(device, ids[0], ids[1], &program, &chain.0)
    })
}

fn unit(engine: &str, op: &str, variant: &str, parameters: &[u32]) -> PyResult<Unit> {
    Ok(match (engine, op) {
        ("fpu", "add") => Unit::Fpu(EltwiseOp::Add),
        ("fpu", "sub") => Unit::Fpu(EltwiseOp::Sub),
        ("fpu", "mul") => Unit::Fpu(EltwiseOp::Mul),
        ("sfpu", _) => {
            let function = sfpu::lookup_binary_variant(op, variant)
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

keywords! {
    /// Parameters of an operator of two operands. `engine` is "fpu" or "sfpu"; the chains `pre_a`, `pre_b` and `post`
    /// are the activations of operands and result.
    BinaryArguments {
        formats: (Format, Format, Format),
        op: String,
        engine: String,
        scalar: Option<f64>,
        scalar_is_lhs: bool,
        shape_a: Vec<usize>,
        shape_b: Vec<usize>,
        shape_out: Vec<usize>,
        tiled: bool,
        fidelity: Fidelity,
        dst32: bool,
        pre_a: Functions = Functions::default(),
        pre_b: Functions = Functions::default(),
        post: Functions = Functions::default(),
        packer_relu: bool = false,
        arch: Generation = WORMHOLE,
        variant: String = "default".to_owned(),
        parameters: Vec<u32> = Vec::new(),
    }
}

/// Runs an element-wise operator of two operands; see `tt_ops::binary`.
#[pyfunction]
#[pyo3(signature = (a, b, output, **program))]
fn binary(
    py: Python<'_>,
    a: &Buffer,
    b: Option<&Buffer>,
    output: &Buffer,
    program: Option<&Given<'_>>,
) -> PyResult<()> {
    let given = BinaryArguments::of(py, program)?;
    let program = BinaryProgram {
        formats: (given.formats.0.0, given.formats.1.0, given.formats.2.0),
        unit: unit(&given.engine, &given.op, &given.variant, &given.parameters)?,
        shape_a: given.shape_a,
        shape_b: given.shape_b,
        shape_out: given.shape_out,
        scalar_is_left: given.scalar_is_lhs,
        tiled: given.tiled,
        fidelity: given.fidelity.0,
        dst32: given.dst32,
        chains: [given.pre_a.0, given.pre_b.0, given.post.0],
        packer_relu: given.packer_relu,
        arch: given.arch.0,
    };
    let scalar = given.scalar.map(|value| scalar_bits(program.formats.1, value));
    if b.is_none() && scalar.is_none() {
        return Err(engine_error("binary needs a second tensor or a scalar".to_owned()));
    }
    let buffers: Vec<&Buffer> = [Some(a), Some(output), b].into_iter().flatten().collect();
    run_on_device(py, "binary", &buffers, |device, ids| {
        let other = scalar.map_or_else(|| Other::Tensor(ids[2]), Other::Scalar);
        tt_ops::binary::binary(device, ids[0], other, ids[1], &program)
    })
}

keywords! {
    /// Parameters of an operator of three operands.
    TernaryArguments {
        formats: (Format, Format, Format, Format),
        op: String,
        parameters: Vec<u32>,
        shapes: [Vec<usize>; 3],
        shape_out: Vec<usize>,
        dst32: bool,
        arch: Generation = WORMHOLE,
    }
}

/// Runs an SFPU function of three operands, each a tensor or a number; see `tt_ops::ternary`.
#[pyfunction]
#[pyo3(signature = (operands, output, **program))]
fn ternary(
    py: Python<'_>,
    operands: [TensorOrNumber<'_>; 3],
    output: &Buffer,
    program: Option<&Given<'_>>,
) -> PyResult<()> {
    let TernaryArguments { formats, op, parameters, shapes, shape_out, dst32, arch } =
        TernaryArguments::of(py, program)?;
    let function = sfpu::lookup_ternary(&op, "default")
        .ok_or_else(|| engine_error(format!("SFPU: no function {op} of three operands")))?;
    let program = TernaryProgram {
        formats: ([formats.0.0, formats.1.0, formats.2.0], formats.3.0),
        function: function.with(&parameters).map_err(|error| engine_error(format!("{op}: {error}")))?,
        shapes,
        shape_out,
        dst32,
        arch: arch.0,
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

keywords! {
    /// Parameters of softmax: rows of tiles, and the width in datums.
    SoftmaxArguments {
        format: Format,
        rows: usize,
        width: usize,
        stable: bool,
        exact_exp: bool,
        dst32: bool,
        fidelity: Fidelity,
        arch: Generation = WORMHOLE,
    }
}

/// Softmax over the last dimension; see `tt_ops::softmax`.
#[pyfunction]
#[pyo3(signature = (input, output, **program))]
fn softmax(py: Python<'_>, input: &Buffer, output: &Buffer, program: Option<&Given<'_>>) -> PyResult<()> {
    let SoftmaxArguments { format, rows, width, stable, exact_exp, dst32, fidelity, arch } =
        SoftmaxArguments::of(py, program)?;
    let (format, fidelity, arch) = (format.0, fidelity.0, arch.0);
    let program = SoftmaxProgram { format, rows, width, stable, exact_exp, dst32, fidelity, arch };
    run_on_device(py, "softmax", &[input, output], |device, ids| {
        tt_ops::softmax::softmax(device, ids[0], ids[1], &program)
    })
}

keywords! {
    /// Parameters of a step of a reduction. `axis` is "w", "h", "tile", or "leading" or "transposed" (with `length`);
    /// `scaler` is the FPU's, `scale` the SFPU's; the padding `fill` is height, width, and a value that the format
    /// holds.
    ReduceArguments {
        formats: (Format, Format),
        outer: usize,
        rows: usize,
        columns: usize,
        axis: String,
        join: String,
        length: usize = 1,
        scaler: f32 = 1.0,
        scale: f32 = 1.0,
        fill: Option<(usize, usize, f64)> = None,
        fidelity: Fidelity = Fidelity(MathFidelity::HiFi3),
        dst32: bool = true,
        arch: Generation = WORMHOLE,
    }
}

/// One step of a reduction; see `tt_ops::reduce`.
#[pyfunction]
#[pyo3(signature = (input, output, **program))]
fn reduce(py: Python<'_>, input: &Buffer, output: &Buffer, program: Option<&Given<'_>>) -> PyResult<()> {
    let given = ReduceArguments::of(py, program)?;
    let axis = match given.axis.as_str() {
        "w" => Axis::Width,
        "h" => Axis::Height,
        "tile" => Axis::Tile,
        "leading" => Axis::Leading(given.length),
        "transposed" => Axis::Transposed(given.length),
        _ => return Err(engine_error(format!("no axis {:?}", given.axis))),
    };
    let join = match given.join.as_str() {
        "fpu_sum" => Join::FpuSum { scaler: given.scaler.to_bits() },
        "fpu_max" => Join::FpuMax,
        "fpu_min" => Join::FpuMin,
        "sfpu_sum" => Join::SfpuSum,
        "sfpu_max" => Join::SfpuMax,
        "sfpu_min" => Join::SfpuMin,
        "int_sum" => Join::IntSum,
        "int_max" => Join::IntMax,
        "int_min" => Join::IntMin,
        _ => return Err(engine_error(format!("no join {:?}", given.join))),
    };
    let formats = (given.formats.0.0, given.formats.1.0);
    let identity = |value: f64| {
        if formats.0.is_integer() { tt_ops::fill::word(formats.0, value) } else { (value as f32).to_bits() }
    };
    let step = ReduceStep {
        formats,
        outer: given.outer,
        rows: given.rows,
        columns: given.columns,
        fill: given.fill.map(|(height, width, value)| Fill { height, width, value: identity(value) }),
        axis,
        join,
        scale: given.scale.to_bits(),
        dst32: given.dst32,
        fidelity: given.fidelity.0,
        arch: given.arch.0,
    };
    run_on_device(py, "reduce", &[input, output], |device, ids| tt_ops::reduce::reduce(device, ids[0], ids[1], &step))
}

keywords! {
    /// Parameters of a product. `leading` is the length of a dimension and the tiles inside it, `lines` the matrices,
    /// their height and width, whether columns are multiplied, and whether datums are flushed first; all tiles without.
    ProductArguments {
        format: Format,
        leading: Option<(usize, usize)> = None,
        lines: Option<(usize, usize, usize, usize, bool, bool)> = None,
        fidelity: Fidelity = Fidelity(MathFidelity::HiFi4),
        arch: Generation = WORMHOLE,
    }
}

/// A product; see `tt_ops::reduce::product`.
#[pyfunction]
#[pyo3(signature = (input, output, **program))]
fn product(py: Python<'_>, input: &Buffer, output: &Buffer, program: Option<&Given<'_>>) -> PyResult<()> {
    let given = ProductArguments::of(py, program)?;
    let factors = match (given.leading, given.lines) {
        (None, None) => Factors::Tiles,
        (Some((length, inside)), None) => Factors::Leading { length, inside },
        (None, Some((outer, matrices, height, width, columns, flush))) => {
            Factors::Matrices(MatrixAxis { outer, matrices, height, width, columns, flush })
        }
        _ => return Err(engine_error("a product of leading or of lines".to_owned())),
    };
    let (fidelity, arch) = (given.fidelity.0, given.arch.0);
    let program = ProductProgram { format: given.format.0, factors, fidelity, arch };
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
    format: Format,
    tiled: bool,
    shape: Vec<usize>,
    dim: Option<usize>,
) -> PyResult<()> {
    let program = ArgmaxProgram { format: format.0, tiled, shape, dim };
    run_on_device(py, "argmax", &[input, output], |device, ids| {
        tt_ops::argmax::argmax(device, ids[0], ids[1], &program)
    })
}

keywords! {
    /// Parameters of the gradient of an embedding.
    EmbeddingBackwardArguments {
        formats: (Format, Format),
        row_length: usize,
        rows: usize,
        tiles_wide: usize,
        arch: Generation = WORMHOLE,
    }
}

/// Rows of a gradient added to the rows of a table; see `tt_ops::embedding_backward`.
#[pyfunction]
#[pyo3(signature = (indices, grad, output, **program))]
fn embedding_backward(
    py: Python<'_>,
    indices: &Buffer,
    grad: &Buffer,
    output: &Buffer,
    program: Option<&Given<'_>>,
) -> PyResult<()> {
    let EmbeddingBackwardArguments { formats, row_length, rows, tiles_wide, arch } =
        EmbeddingBackwardArguments::of(py, program)?;
    let (index_format, format, arch) = (formats.0.0, formats.1.0, arch.0);
    let program = EmbeddingBackwardProgram { index_format, format, row_length, rows, tiles_wide, arch };
    run_on_device(py, "embedding_bw", &[indices, grad, output], |device, ids| {
        tt_ops::embedding_backward::embedding_backward(device, ids[0], ids[1], ids[2], &program)
    })
}

keywords! {
    /// Parameters of a movement. `packed` is the format of the block floats that are made of bfloat16, and whether that
    /// skips the step to 7 bits.
    MoveArguments {
        formats: (Format, Format),
        in_shape: Vec<usize>,
        out_shape: Vec<usize>,
        strides: Vec<i64>,
        offset: i64,
        in_tile: Option<Tile>,
        out_tile: Option<Tile>,
        window: Option<Vec<(usize, usize)>> = None,
        pad_value: f64 = 0.0,
        through_dst: bool = false,
        packed: Option<(Format, bool)> = None,
    }
}

/// Gives datums another place; see `tt_ops::movement`.
#[pyfunction]
#[pyo3(signature = (input, output, **program))]
fn move_elements(py: Python<'_>, input: &Buffer, output: &Buffer, program: Option<&Given<'_>>) -> PyResult<()> {
    let given = MoveArguments::of(py, program)?;
    let (format_in, format_out) = (given.formats.0.0, given.formats.1.0);
    let window = given.window.unwrap_or_else(|| given.out_shape.iter().map(|&length| (0, length)).collect());
    run_on_device(py, "move", &[input, output], |device, ids| {
        let view =
            |buffer, format, tile: Option<Tile>, shape| View { buffer, format, tile: tile.map(|tile| tile.0), shape };
        let movement = Movement {
            input: view(ids[0], format_in, given.in_tile, given.in_shape),
            output: view(ids[1], format_out, given.out_tile, given.out_shape),
            offset: given.offset,
            strides: given.strides,
            window,
            padding: tt_ops::fill::word(format_out, given.pad_value),
            through_dst: given.through_dst,
            packed: given.packed.map(|(format, precise)| Packed { format: format.0, precise }),
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
fn fill(py: Python<'_>, output: &Buffer, format: Format, value: f64) -> PyResult<()> {
    let unit = tt_ops::fill::unit(format.0, value);
    run_on_device(py, "fill", &[output], |device, ids| tt_ops::fill::fill(device, ids[0], &unit))
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add_functions!(module: matmul, matmul_fast, unary, binary, ternary, softmax, reduce, product, argmax,
        embedding_backward, move_elements, copy_pages, fill)
}
