//! `Pipeline`: programs of the tile pipeline, described by Python; see `tt_ops::pipeline`.

use std::sync::Arc;

use pyo3::prelude::*;
use tt_formats::DataFormat;
use tt_fpu::{Arch, Broadcast, EltwiseOp};
use tt_ops::pipeline::{Axis, Join, Load, Moment, Operand, Padding, Part, Pass, Pipeline, Settings, Target, Tensor};
use tt_sfpu::BinaryCall;

use crate::arguments::{Argument, Functions};
use crate::buffer::PyBuffer as Buffer;
use crate::error::{EngineError, engine_bug};
use crate::keywords::{PipelineSettings, Program, keywords};
use crate::ops::run_step;

/// A tensor: format, shape, broadcast within a tile if it is given; with a broadcast of "rotated", the first tile of
/// its lines. Without a shape: lines of so many tiles.
type TensorArgument = (u8, Option<Vec<usize>>, Option<String>, usize);
/// An operand: "tensor" or "value" and its number, or "constant", format and FP32 bits.
type OperandArgument = (String, usize, u32);
/// Some tiles of an operand: the first, and the one behind the last.
type PartArgument = (OperandArgument, usize, usize);
/// A function of the SFPU on two operands.
type FunctionArgument = (String, String, Vec<u32>);

/// A pass: how it loads, from what, and what becomes of that.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct PassArgument<'py> {
    load: String,
    parts: Vec<PartArgument>,
    eltwise: Option<String>,
    function: Option<FunctionArgument>,
    scaler: Option<(u8, u32)>,
    factors: Option<(u32, u32)>,
    used: Option<usize>,
    padding: Option<String>,
    chain: Bound<'py, PyAny>,
    format: u8,
    until: Option<usize>,
    start: Option<OperandArgument>,
    output: Option<(usize, usize, usize)>,
}

/// A program, made once, for any tensors of its formats and shapes.
#[pyclass(name = "Pipeline", module = "ttnn._engine", frozen)]
pub struct PyPipeline {
    /// For each generation of chips.
    programs: [(Arch, Arc<Pipeline>); 2],
}

#[pymethods]
impl PyPipeline {
    #[new]
    #[pyo3(signature = (tensors, passes, **settings))]
    fn new(
        py: Python<'_>,
        tensors: Vec<TensorArgument>,
        passes: Vec<PassArgument<'_>>,
        settings: Option<&Program<'_>>,
    ) -> PyResult<Self> {
        let PipelineSettings { domain, axis, format, dst32, direct, fidelity } = keywords(py, settings)?;
        let axis = match axis {
            -1 => Axis::Width,
            -2 => Axis::Height,
            inner if inner < -2 => Axis::Inner(usize::try_from(-3 - inner).unwrap_or(usize::MAX)),
            leading => Axis::Leading(usize::try_from(leading).map_err(|_| unknown(py, "axis", &leading.to_string()))?),
        };
        let tensors = tensors.into_iter().map(|tensor| tensor_of(py, tensor)).collect::<PyResult<Vec<_>>>()?;
        let program = |arch| -> PyResult<(Arch, Arc<Pipeline>)> {
            let settings = Settings { domain: domain.clone(), axis, format, dst32, direct, fidelity, arch };
            let passes = passes.iter().map(|pass| pass_of(py, arch, pass)).collect::<PyResult<_>>()?;
            let program = Pipeline::new(settings, tensors.clone(), passes).map_err(|error| error.into_exception(py))?;
            Ok((arch, Arc::new(program)))
        };
        Ok(Self { programs: [program(Arch::Wormhole)?, program(Arch::Blackhole)?] })
    }

    /// Reads the inputs and writes the outputs, in the order in which the program has them.
    fn run(&self, py: Python<'_>, inputs: Vec<PyRef<'_, Buffer>>, outputs: Vec<PyRef<'_, Buffer>>) -> PyResult<()> {
        let buffers: Vec<&Buffer> = inputs.iter().chain(&outputs).map(|buffer| &**buffer).collect();
        let count = inputs.len();
        let arch = buffers.first().map_or(Arch::Wormhole, |buffer| buffer.arch());
        let program = Arc::clone(&self.programs[usize::from(arch != self.programs[0].0)].1);
        run_step(py, "pipeline", &buffers, move |device, ids| {
            let (inputs, outputs) = ids.split_at(count);
            program.run(device, inputs, outputs)
        })
    }
}

fn unknown(py: Python<'_>, what: &str, name: &str) -> PyErr {
    engine_bug(py, &format!("the tile pipeline has no {what} {name:?}"))
}

fn format_of(py: Python<'_>, code: u8) -> PyResult<DataFormat> {
    DataFormat::from_code(code).ok_or_else(|| unknown(py, "format", &code.to_string()))
}

fn tensor_of(py: Python<'_>, (format, shape, broadcast, tiles): TensorArgument) -> PyResult<Tensor> {
    let format = format_of(py, format)?;
    let Some(shape) = shape else { return Ok(Tensor::Lines(format, tiles)) };
    let broadcast = match broadcast.as_deref() {
        None => None,
        Some("none") => Some(Broadcast::None),
        Some("row") => Some(Broadcast::Row),
        Some("column") => Some(Broadcast::Column),
        Some("scalar") => Some(Broadcast::Scalar),
        Some("rotated") => return Ok(Tensor::Rotated(format, tiles)),
        Some(other) => return Err(unknown(py, "broadcast", other)),
    };
    Ok(Tensor::Broadcast(format, shape, broadcast))
}

fn operand_of(py: Python<'_>, (kind, number, bits): &OperandArgument) -> PyResult<Operand> {
    Ok(match kind.as_str() {
        "tensor" => Operand::Tensor(*number),
        "value" => Operand::Value(*number),
        "constant" => {
            let code = u8::try_from(*number).map_err(|_| unknown(py, "format", &number.to_string()))?;
            Operand::Constant(format_of(py, code)?, *bits)
        }
        _ => return Err(unknown(py, "operand", kind)),
    })
}

fn eltwise_of(py: Python<'_>, name: &str) -> PyResult<EltwiseOp> {
    Ok(match name {
        "add" => EltwiseOp::Add,
        "sub" => EltwiseOp::Sub,
        "mul" => EltwiseOp::Mul,
        _ => return Err(unknown(py, "operation", name)),
    })
}

fn function_of(py: Python<'_>, arch: Arch, (name, variant, parameters): &FunctionArgument) -> PyResult<BinaryCall> {
    let missing = || unknown(py, "function", &format!("{name}/{variant}"));
    let function = tt_sfpu::lookup_binary(arch, name, variant).ok_or_else(missing)?;
    function.with(parameters).map_err(|error| engine_bug(py, &format!("{name}/{variant}: {error}")))
}

fn pass_of(py: Python<'_>, arch: Arch, pass: &PassArgument<'_>) -> PyResult<Pass> {
    let parts = pass.parts.iter().map(|(of, first, end)| Ok((operand_of(py, of)?, *first..*end)));
    let parts: Vec<Part> = parts.collect::<PyResult<_>>()?;
    let eltwise = pass.eltwise.as_deref().map(|name| eltwise_of(py, name)).transpose()?;
    let function = pass.function.as_ref().map(|function| function_of(py, arch, function)).transpose()?;
    let operands: Vec<Operand> = parts.iter().map(|(of, _)| *of).collect();
    let join = eltwise.map(Join::Fpu).or(function.map(Join::Sfpu));
    let load = match (pass.load.as_str(), &operands[..], eltwise, function, join) {
        ("copy", &[of], ..) => Load::Copy(of),
        ("eltwise", &[first, second], Some(op), ..) => Load::Eltwise(op, first, second),
        ("sfpu", &[first, second], _, Some(call), _) => Load::Sfpu(call, first, second),
        ("matmul", &[first, second], ..) => Load::Matmul(first, second),
        ("max", &[of], ..) => Load::Max(of),
        ("accumulate", &[first, second], Some(op), ..) => Load::Accumulate(op, first, second),
        ("fold", &[of], _, _, Some(join)) => Load::Fold(join, of),
        ("scan", &[of], _, _, Some(join)) => Load::Scan(join, of),
        ("scan", &[of], ..) => Load::Scan(Join::Compensated, of),
        ("running sum", &[of], ..) => Load::RunningSum(of),
        ("moving average", &[of], ..) if pass.factors.is_some() => {
            let (old, new) = pass.factors.unwrap_or_default();
            Load::MovingAverage(of, [old, new])
        }
        ("anchor" | "mean" | "correction" | "variance", &[_], ..) if pass.factors.is_some() => {
            let (mean, squares) = pass.factors.unwrap_or_default();
            let moment = match pass.load.as_str() {
                "anchor" => Moment::Anchor,
                "mean" => Moment::Mean(mean),
                "correction" => Moment::Correction(mean),
                _ => Moment::Variance(mean, squares),
            };
            Load::Moment(parts[0].clone(), moment)
        }
        ("centred", &[of, anchor, correction], ..) => Load::Centred(of, anchor, correction),
        ("sum", ..) if pass.scaler.is_some() => {
            let (code, bits) = pass.scaler.unwrap_or_default();
            let start = pass.start.as_ref().map(|start| operand_of(py, start)).transpose()?;
            Load::Sum(parts, (format_of(py, code)?, bits), pass.used, start)
        }
        _ => return Err(unknown(py, "such load", &pass.load)),
    };
    let padding = match pass.padding.as_deref() {
        None => Padding::Kept,
        Some("-inf") => Padding::MinusInfinity,
        Some("zero") => Padding::Zero,
        Some(other) => return Err(unknown(py, "padding", other)),
    };
    let target = pass.output.map_or(Target::Value, |(number, column, columns)| Target::Output(number, column, columns));
    let (chain, format) = (Functions::argument(&pass.chain)?.on(py, arch)?, format_of(py, pass.format)?);
    Ok(Pass { load, padding, chain, format, until: pass.until, target })
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyPipeline>()
}
