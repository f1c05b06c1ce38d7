//! The time of a device operation's plan; see `tt_plan`.
//!
//! A plan crosses the border as nested tuples, steps and tile operations by their names.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use tt_formats::Arch;
use tt_memory::chip::ChipSpec;
use tt_noc::{NocId, Node};
use tt_perf::{Costs, Eltwise, ReduceAxis, SfpuCost};
use tt_plan::{Access, Bound, CoreGroup, Place, Plan, Processor, Step, TileOp, Timing, Transfer};

/// Generation (0 or 1), DRAM banks, L1 banks, CB pages, groups.
///
/// L1 banks are those of interleaved buffers.
pub type PlanArgument<'py> = (u8, u64, u64, Vec<u64>, Vec<GroupArgument<'py>>);
/// Cores; steps of reader, compute kernel and writer.
pub type GroupArgument<'py> = (u64, Vec<Part<'py>>, Vec<Part<'py>>, Vec<Part<'py>>);
pub type Part<'py> = pyo3::Bound<'py, PyTuple>;

fn unknown(what: &str, name: &str) -> PyErr {
    PyTypeError::new_err(format!("a plan has no {what} {name:?}"))
}

fn arch(generation: u8) -> PyResult<Arch> {
    match generation {
        0 => Ok(Arch::Wormhole),
        1 => Ok(Arch::Blackhole),
        other => Err(unknown("chip generation", &other.to_string())),
    }
}

fn place(name: &str) -> PyResult<Place> {
    match name {
        "dram" => Ok(Place::Dram),
        "dram other" => Ok(Place::DramOther),
        "dram own" => Ok(Place::DramOwn),
        "l1" => Ok(Place::L1),
        "local" => Ok(Place::Local),
        _ => Err(unknown("place", name)),
    }
}

fn transfer(step: &Part<'_>) -> PyResult<Transfer> {
    let (_, at, pages, page_bytes, per_barrier, in_step): (String, String, u64, u64, u64, u64) = step.extract()?;
    Ok(Transfer { place: place(&at)?, pages, page_bytes, per_barrier, in_step })
}

fn tile_op(op: &Part<'_>) -> PyResult<TileOp> {
    let name: String = op.get_item(0)?.extract()?;
    let number = |index: usize| -> PyResult<u64> { op.get_item(index)?.extract() };
    let phases = |index: usize| -> PyResult<u32> { op.get_item(index)?.extract() };
    let flag = |index: usize| -> PyResult<bool> { op.get_item(index)?.extract() };
    let text = |index: usize| -> PyResult<String> { op.get_item(index)?.extract() };
    Ok(match name.as_str() {
        "copy" => TileOp::Copy { bytes: number(1)? },
        "eltwise" => {
            let op = match text(1)?.as_str() {
                "add" => Eltwise::Add,
                "sub" => Eltwise::Sub,
                "mul" => Eltwise::Mul,
                other => return Err(unknown("element-wise operation", other)),
            };
            TileOp::Eltwise { op, bytes: (number(2)?, number(3)?), phases: phases(4)? }
        }
        "sfpu" => TileOp::Sfpu { name: text(1)?, approximate: flag(2)?, wide: flag(3)? },
        "matmul" => TileOp::Matmul {
            rows: number(1)?,
            columns: number(2)?,
            inner: number(3)?,
            bytes: (number(4)?, number(5)?),
            phases: phases(6)?,
        },
        "reduce" => {
            let axis = match text(1)?.as_str() {
                "column" => ReduceAxis::Column,
                "row" => ReduceAxis::Row,
                "scalar" => ReduceAxis::Scalar,
                other => return Err(unknown("axis", other)),
            };
            TileOp::Reduce { axis, bytes: number(2)?, phases: phases(3)? }
        }
        "transpose" => TileOp::Transpose { bytes: number(1)? },
        "tilize" => TileOp::Tilize { bytes: number(1)?, columns: number(2)? },
        "pack" => TileOp::Pack { bytes: number(1)?, accumulate: flag(2)? },
        "pack_untilize" => TileOp::PackUntilize { tiles: number(1)?, value_bytes: number(2)? },
        "reconfigure" => TileOp::Reconfigure,
        "initialise" => TileOp::Initialise,
        "switch" => TileOp::Switch,
        other => return Err(unknown("tile operation", other)),
    })
}

fn step(step: &Part<'_>) -> PyResult<Step> {
    let name: String = step.get_item(0)?.extract()?;
    let number = |index: usize| -> PyResult<u64> { step.get_item(index)?.extract() };
    let index = |index: usize| -> PyResult<usize> { step.get_item(index)?.extract() };
    Ok(match name.as_str() {
        "loop" => Step::Loop(number(1)?, steps(&step.get_item(2)?.extract::<Vec<_>>()?)?),
        "read" => Step::Read(transfer(step)?),
        "write" => Step::Write(transfer(step)?),
        "multicast" => Step::Multicast { bytes: number(1)?, cores: number(2)? },
        "barrier" => Step::Barrier,
        "loads" => Step::Loads(number(1)?),
        "stores" => Step::Stores(number(1)?),
        "instructions" => Step::Instructions(number(1)?),
        "reserve" => Step::Reserve(index(1)?, number(2)?),
        "push" => Step::Push(index(1)?, number(2)?),
        "await" => Step::Await(index(1)?, number(2)?),
        "pop" => Step::Pop(index(1)?, number(2)?),
        "signal" => Step::Signal(index(1)?),
        "wait" => Step::Wait(index(1)?),
        "tiles" => Step::Tiles(tile_op(&step.get_item(1)?.cast_into()?)?, number(2)?),
        other => return Err(unknown("step", other)),
    })
}

fn steps(given: &[Part<'_>]) -> PyResult<Vec<Step>> {
    given.iter().map(step).collect()
}

pub fn plan_of((generation, banks, l1_banks, cbs, groups): PlanArgument<'_>) -> PyResult<Plan> {
    let arch = arch(generation)?;
    let group = |(cores, reader, compute, writer): GroupArgument<'_>| -> PyResult<CoreGroup> {
        Ok(CoreGroup { cores, reader: steps(&reader)?, compute: steps(&compute)?, writer: steps(&writer)? })
    };
    let groups = groups.into_iter().map(group).collect::<PyResult<_>>()?;
    Ok(Plan { arch, banks, l1_banks, cbs, groups })
}

pub fn timing<'py>(py: Python<'py>, timing: &Timing) -> PyResult<pyo3::Bound<'py, PyDict>> {
    let bound = match timing.bound {
        Bound::Dram => "DRAM",
        Bound::L1 => "L1",
        Bound::Compute => "compute",
        Bound::Reader => "reader",
        Bound::Writer => "writer",
    };
    let groups: Vec<_> = timing.groups.iter().map(|group| (group.cores, group.ends, group.busy)).collect();
    let dict = PyDict::new(py);
    dict.set_item("cycles", timing.cycles)?;
    dict.set_item("bound", bound)?;
    dict.set_item("groups", groups)?;
    dict.set_item("dram_read_bytes", timing.dram_read_bytes)?;
    dict.set_item("dram_write_bytes", timing.dram_write_bytes)?;
    dict.set_item("l1_bytes", timing.l1_bytes)?;
    Ok(dict)
}

/// Runs a plan and returns its time; see `tt_plan::time`.
#[pyfunction]
fn time_plan<'py>(py: Python<'py>, plan: PlanArgument<'_>) -> PyResult<pyo3::Bound<'py, PyDict>> {
    let plan = plan_of(plan)?;
    let result = py.detach(|| tt_plan::time(&plan));
    timing(py, &result.map_err(|error| PyValueError::new_err(error.to_string()))?)
}

/// A processor of a recorded kernel: its node, whether it is the BRISC, and its reads as network, node and bytes; one of
/// 0 bytes is a barrier.
type ProcessorArgument = (u32, u32, bool, Vec<(u8, u32, u32, u64)>);

/// Cycles of recorded data movement kernels, run again on a chip's networks; see `tt_plan::replay`.
#[pyfunction]
fn time_trace(py: Python<'_>, chip: &str, processors: Vec<ProcessorArgument>) -> PyResult<u64> {
    let chip = ChipSpec::by_name(chip).ok_or_else(|| unknown("chip", chip))?;
    let access = |(network, x, y, bytes): (u8, u32, u32, u64)| {
        let noc = if network == 0 { NocId::Noc0 } else { NocId::Noc1 };
        if bytes == 0 { Access::Barrier } else { Access::Read { noc, owner: Node { x, y }, bytes } }
    };
    let processor = |(x, y, brisc, steps): ProcessorArgument| Processor {
        node: Node { x, y },
        brisc,
        steps: steps.into_iter().map(access).collect(),
    };
    let processors: Vec<Processor> = processors.into_iter().map(processor).collect();
    Ok(py.detach(|| tt_plan::replay(chip, &processors)))
}

/// Cycles per tile of an SFPU function, and whether they were measured; `None` for one that the table lacks.
#[pyfunction]
fn sfpu_cycles(generation: u8, name: &str, approximate: bool, wide: bool) -> PyResult<Option<(u64, u64)>> {
    let sfpu = &Costs::of(arch(generation)?).sfpu;
    let Some(cost) = sfpu.tile(name, approximate, wide) else { return Ok(None) };
    let counted = sfpu.count(name, approximate, wide).map_or(cost.cycles(), SfpuCost::cycles);
    Ok(Some((cost.cycles(), counted)))
}

/// Adds this file's names to the module.
pub fn register(module: &pyo3::Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(time_plan, module)?)?;
    module.add_function(wrap_pyfunction!(time_trace, module)?)?;
    module.add_function(wrap_pyfunction!(sfpu_cycles, module)?)
}
