//! Attention on device buffers; see `tt_ops::attention`.

use pyo3::prelude::*;
use tt_memory::BufferId;
use tt_ops::attention::decode::{DecodeProgram, decode};
use tt_ops::attention::fast;
use tt_ops::attention::prefill::{Buffers, Joint, PrefillProgram, prefill};
use tt_ops::attention::{Cache, Mask, Numerics, PageTable, Sizes};

use crate::arguments::add_functions;
use crate::buffer::PyBuffer as Buffer;
use crate::keywords::{
    CacheArgument, DecodeArguments, MaskArgument, PrefillArguments, Program, TableArgument, keywords,
};
use crate::ops::run_step;

fn cache((count, heads, rows, columns): CacheArgument, table: &TableArgument) -> Cache {
    let table = table.clone().map(|(blocks, per_batch)| PageTable { blocks, per_batch });
    Cache { count, heads, rows, columns, table }
}

fn sizes((batch, heads, kv_heads, width, value_width): (usize, usize, usize, usize, usize)) -> Sizes {
    Sizes { batch, heads, kv_heads, width, value_width }
}

fn mask_of(mask: MaskArgument) -> Option<Mask> {
    mask.map(|(format, batch, heads, rows, columns)| Mask { format, batch, heads, rows, columns })
}

/// Queries, keys, values and output as the program knows them, and behind these the mask, or a second sequence.
fn buffers(ids: &[BufferId]) -> Buffers {
    let (mask, joint) = match ids[4..] {
        [mask] => (Some(mask), None),
        [keys, values] => (None, Some((keys, values))),
        _ => (None, None),
    };
    Buffers { queries: ids[0], keys: ids[1], values: ids[2], output: ids[3], mask, joint }
}

/// Attention of many queries; see `tt_ops::attention::prefill`. `joint` has keys and values of a second sequence.
#[pyfunction]
#[pyo3(signature = (tensors, mask, output, joint = None, **program))]
fn attention_prefill(
    py: Python<'_>,
    tensors: (PyRef<'_, Buffer>, PyRef<'_, Buffer>, PyRef<'_, Buffer>),
    mask: Option<&Buffer>,
    output: &Buffer,
    joint: Option<(PyRef<'_, Buffer>, PyRef<'_, Buffer>)>,
    program: Option<&Program<'_>>,
) -> PyResult<()> {
    let given: PrefillArguments = keywords(py, program)?;
    let program = PrefillProgram {
        numerics: Numerics {
            formats: given.formats,
            fidelity: given.fidelity,
            dst32: given.dst32,
            scale: given.scale.to_bits(),
            approximate: given.approximate,
            polynomial: given.polynomial,
            streaming: given.streaming,
            reciprocal: given.reciprocal.on(py, output.arch())?,
            arch: output.arch(),
        },
        sizes: sizes(given.sizes),
        rows: given.rows,
        positions: given.positions,
        first_row: given.first_row,
        chunks: given.chunks,
        causal: given.causal,
        window: given.window,
        mask: mask_of(given.mask_shape),
        keys: cache(given.keys, &given.table),
        values: cache(given.values, &given.table),
        sinks: given.sinks.into_iter().map(f32::to_bits).collect(),
        joint: given.joint_shapes.map(|(keys, values)| Joint {
            keys: cache(keys, &None),
            values: cache(values, &None),
            positions: given.joint_positions,
        }),
    };
    let (queries, keys, values) = (&*tensors.0, &*tensors.1, &*tensors.2);
    let joint = joint.as_ref().map(|(keys, values)| [&**keys, &**values]).into_iter().flatten();
    let all: Vec<&Buffer> = [queries, keys, values, output].into_iter().chain(mask).chain(joint).collect();
    let run = if given.fast { fast::prefill } else { prefill };
    run_step(py, "attention", &all, move |device, ids| run(device, &buffers(ids), &program))
}

/// Attention of one query per user; see `tt_ops::attention::decode`. A position of -1 leaves a user out.
#[pyfunction]
#[pyo3(signature = (tensors, mask, output, **program))]
fn attention_decode(
    py: Python<'_>,
    tensors: (PyRef<'_, Buffer>, PyRef<'_, Buffer>, PyRef<'_, Buffer>),
    mask: Option<&Buffer>,
    output: &Buffer,
    program: Option<&Program<'_>>,
) -> PyResult<()> {
    let given: DecodeArguments = keywords(py, program)?;
    let program = DecodeProgram {
        numerics: Numerics {
            formats: given.formats,
            fidelity: given.fidelity,
            dst32: given.dst32,
            scale: given.scale.to_bits(),
            approximate: given.approximate,
            polynomial: given.polynomial,
            streaming: given.streaming,
            reciprocal: given.reciprocal.on(py, output.arch())?,
            arch: output.arch(),
        },
        sizes: sizes(given.sizes),
        positions: given.positions.into_iter().map(|count| usize::try_from(count).ok()).collect(),
        causal: given.causal,
        window: given.window,
        chunks: given.chunks,
        cores: given.cores,
        mask: mask_of(given.mask_shape),
        keys: cache(given.keys, &given.table),
        values: cache(given.values, &given.table),
        sinks: given.sinks.into_iter().map(f32::to_bits).collect(),
    };
    let (queries, keys, values) = (&*tensors.0, &*tensors.1, &*tensors.2);
    let all: Vec<&Buffer> =
        [Some(queries), Some(keys), Some(values), Some(output), mask].into_iter().flatten().collect();
    run_step(py, "attention", &all, move |device, ids| decode(device, &buffers(ids), &program))
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add_functions!(module: attention_prefill, attention_decode)
}
