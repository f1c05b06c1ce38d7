//! Properties of the chips that a device can be.
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tt_memory::Device;
use tt_memory::chip::{CHIPS, ChipSpec, Dispatch, Harvesting, LogicalCore, SFPU_EPS, SFPU_INF, SFPU_NAN};

use crate::arguments::add_functions;
use crate::error::{EngineError, exception};

/// The chip of this name.
///
/// # Errors
/// `DeviceError`: there is none.
pub fn chip_by_name(py: Python<'_>, name: &str) -> PyResult<&'static ChipSpec> {
    ChipSpec::by_name(name).ok_or_else(|| {
        let text = format!("there is no chip {name:?}; choose one of {}", chip_names().join(", "));
        exception(py, "DeviceError", (text,))
    })
}

/// The named chip with some dispatch cores.
///
/// They are "row", "column" or "ethernet", by default those of the chip.
///
/// # Errors
/// `DeviceError`: there is none, or it has no such choice.
pub fn chip_by_dispatch(py: Python<'_>, name: &str, dispatch: Option<&str>) -> PyResult<&'static ChipSpec> {
    let chip = chip_by_name(py, name)?;
    let Some(cores) = dispatch else { return Ok(chip) };
    Dispatch::by_name(cores).and_then(|dispatch| chip.dispatching(dispatch)).ok_or_else(|| {
        let text = format!("{name} does not support dispatch cores {cores:?}");
        exception(py, "DeviceError", (text,))
    })
}

/// Names of the chips that a device can be, the default first.
#[pyfunction]
fn chip_names() -> Vec<&'static str> {
    CHIPS.iter().map(|chip| chip.name).collect()
}

/// Everything known about a chip.
#[pyfunction]
#[pyo3(signature = (name, dispatch=None))]
fn chip_info<'py>(py: Python<'py>, name: &str, dispatch: Option<&str>) -> PyResult<Bound<'py, PyDict>> {
    let chip = chip_by_dispatch(py, name, dispatch)?;
    let pair = |core: LogicalCore| (core.x, core.y);
    let banks = 0..chip.grid.cores();
    let cores = banks.filter_map(|bank| {
        let core = chip.l1_bank_core(bank)?;
        chip.worker_coord(core).map(|coord| (pair(core), (coord.x, coord.y)))
    });
    let (direction, lines) = match chip.harvesting {
        Harvesting::Rows(lines) => ("rows", lines),
        Harvesting::Columns(lines) => ("columns", lines),
    };
    let workers = chip.optimal_dram_workers;
    let workers = workers.map(|networks| networks.map(|cores| cores.iter().copied().map(pair).collect::<Vec<_>>()));
    let dict = PyDict::new(py);
    let file_bytes = Device::file_bytes(chip).map_err(|error| error.into_exception(py))?;
    dict.set_item("name", chip.name)?;
    dict.set_item("file_bytes", file_bytes)?;
    dict.set_item("arch", chip.arch as u8)?;
    dict.set_item("arch_name", chip.arch.name())?;
    dict.set_item("grid", (chip.grid.x, chip.grid.y))?;
    dict.set_item("dram_grid", (chip.dram_banks(), 1))?;
    dict.set_item("noc_grid", (chip.noc_grid.x, chip.noc_grid.y))?;
    dict.set_item("harvested", (direction, lines))?;
    dict.set_item("worker_coords", cores.collect::<Vec<_>>())?;
    dict.set_item("dram_cores", chip.dram_cores.iter().map(|coord| (coord.x, coord.y)).collect::<Vec<_>>())?;
    dict.set_item("optimal_dram_workers", workers.map(Vec::from))?;
    dict.set_item("dram_banks", chip.dram_banks())?;
    dict.set_item("dram_bank_bytes", chip.dram_bank_bytes)?;
    dict.set_item("dram_base", chip.dram_base)?;
    dict.set_item("dram_alignment", chip.dram_alignment)?;
    dict.set_item("l1_bytes", chip.l1_bytes)?;
    dict.set_item("l1_base", chip.l1_base)?;
    dict.set_item("l1_alignment", chip.l1_alignment)?;
    dict.set_item("max_worker_l1_unreserved", chip.max_worker_l1_unreserved)?;
    dict.set_item("circular_buffers", chip.circular_buffers)?;
    dict.set_item("semaphores", chip.semaphores)?;
    dict.set_item("aiclk_mhz", chip.aiclk_mhz)?;
    dict.set_item("noc_link_bytes", chip.noc_link_bytes)?;
    dict.set_item("noc_packet_bytes", chip.noc_packet_bytes)?;
    dict.set_item("sfpu_eps", SFPU_EPS)?;
    dict.set_item("sfpu_nan", SFPU_NAN)?;
    dict.set_item("sfpu_inf", SFPU_INF)?;
    Ok(dict)
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add_functions!(module: chip_names, chip_info)
}
