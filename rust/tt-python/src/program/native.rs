//! Compiled kernels of a run.
//!
//! Their images, their turns, and what they print.
use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use tt_program::Run;
use tt_program::native::{Kernels, NativeSpec, Next, names};
use tt_riscv::Image;

use super::ProgramRun;
use crate::error::{Either, exception};
use crate::interrupt;

/// A compiled kernel.
///
/// Number, ELF image, its own runtime arguments, most instructions, folder of the headers, place of its core counted
/// from the kernel's first.
pub type NativeRow = (usize, PyBackedBytes, u32, u64, String, (u32, u32));

/// The compiled kernels of a run. Equal images are read once.
pub fn set_up(py: Python<'_>, run: &mut Run, rows: Vec<NativeRow>) -> PyResult<Kernels> {
    let mut images: BTreeMap<Vec<u8>, Arc<Image>> = BTreeMap::new();
    let mut specs = Vec::new();
    for (kernel, file, own_args, limit, headers, relative) in rows {
        let image = if let Some(image) = images.get(&file[..]) {
            Arc::clone(image)
        } else {
            let image = Image::new(file.to_vec());
            let image = image.map_err(|error| exception(py, "KernelCompileError", (error.to_string(),)))?;
            let image = Arc::new(image);
            images.insert(file.to_vec(), Arc::clone(&image));
            image
        };
        specs.push(NativeSpec { kernel, image, own_args, limit, headers, relative });
    }
    Kernels::new(run, specs).map_err(|what| super::bug(py, &what))
}

#[pymethods]
impl ProgramRun {
    /// Lets the compiled kernel go on that `schedule` chose, then those that come next, until one does that is not
    /// compiled. Returns its number; -1 if nobody can go on.
    fn run_native(&mut self, py: Python<'_>) -> PyResult<i64> {
        let Self { run, natives, device, chip } = self;
        let gone_on = device.run(py, |device| {
            device.select(*chip).map_err(Either::First)?;
            natives.go_on(run, device).map_err(Either::Second)
        })?;
        match gone_on {
            Next::Kernel(kernel) => Ok(kernel as i64),
            Next::Nobody => Ok(-1),
            Next::Stopped => Err(interrupt::again(py)),
        }
    }

    /// Whether a kernel is compiled.
    fn is_native(&self, kernel: usize) -> bool {
        self.natives.is_native(kernel)
    }

    /// The number of the kernel that runs, or ran last.
    fn current(&self) -> usize {
        self.run.current
    }

    /// File and line at which a compiled kernel stands; nothing and 0 if that is unknown.
    fn kernel_place(&self, kernel: usize) -> (String, u32) {
        self.natives.place(kernel).map_or((String::new(), 0), |place| (place.file, place.line))
    }

    /// Most bytes of stack that a compiled kernel has used, and instructions that it has executed.
    fn kernel_usage(&self, kernel: usize) -> (u32, u64) {
        self.natives.usage(kernel).unwrap_or_default()
    }

    /// Lines that compiled kernels have printed since the last question, with the numbers of the kernels.
    fn take_prints(&mut self) -> Vec<(usize, String)> {
        self.natives.take_prints()
    }
}

/// Names of the calls that compiled kernels make, by number.
#[pyfunction]
pub fn kernel_calls() -> Vec<&'static str> {
    names()
}
