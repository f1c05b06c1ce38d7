//! Steps of a mesh whose chips several processes share.
//!
//! Each process computes for its own chips. Before a step reads chips of others, all processes meet; they meet again after
//! it, so that nobody changes what others still read. With the memory of all chips in common that is all. Otherwise each
//! process has copies of the others' chips, and receives the operands of a step before it.
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use tt_memory::{BufferId, Device, MemoryError};
use tt_ops::OpError;

use crate::error::EngineError;

/// An error of a step, or of other processes.
#[derive(Debug)]
pub enum StepError {
    /// Of the engine.
    Op(OpError),
    /// Raised by Python.
    Raised(PyErr),
}

impl From<OpError> for StepError {
    fn from(error: OpError) -> Self {
        Self::Op(error)
    }
}

impl From<MemoryError> for StepError {
    fn from(error: MemoryError) -> Self {
        Self::Op(error.into())
    }
}

impl From<PyErr> for StepError {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

impl EngineError for StepError {
    fn into_exception(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Op(error) => error.into_exception(py),
            Self::Raised(error) => error,
        }
    }
}

/// The way to the other processes of a mesh.
#[derive(Debug)]
pub struct Links {
    /// A Python object with `meet(what, facts)` and `exchange(data)`.
    object: Py<PyAny>,
    /// The number of this process.
    rank: usize,
    /// The process of each chip.
    owners: Vec<usize>,
    /// Each process has copies of the others' chips.
    copies: bool,
}

impl Links {
    /// Links of a process to the owners of chips.
    pub fn new(object: Py<PyAny>, rank: usize, owners: Vec<usize>, copies: bool) -> Self {
        Self { object, rank, owners, copies }
    }

    /// Waits until all processes are here, for the same reason.
    fn meet(&self, what: &str, facts: u64) -> PyResult<()> {
        Python::attach(|py| self.object.call_method1(py, "meet", (what, facts)).map(drop))
    }

    /// Sends bytes to all processes; returns those of each.
    fn exchange(&self, data: &[u8]) -> PyResult<Vec<PyBackedBytes>> {
        Python::attach(|py| {
            let all = self.object.call_method1(py, "exchange", (PyBytes::new(py, data),))?;
            all.extract::<Vec<PyBackedBytes>>(py)
        })
    }

    /// Runs a step between two meetings.
    ///
    /// An error of one process is known to the others at the second one.
    fn between<T, E: From<PyErr>>(&self, what: &str, facts: u64, run: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.meet(what, facts)?;
        match run() {
            Ok(value) => {
                self.meet(what, facts)?;
                Ok(value)
            }
            Err(error) => {
                // Whoever has no error raises one that names this process.
                let _ = self.meet(&format!("{what}, and an error"), facts);
                Err(error)
            }
        }
    }

    /// Runs a step that reads chips of other processes.
    ///
    /// They have operands in its first `crossing` buffers.
    ///
    /// # Errors
    /// Those of the step; the processes disagree, or one died.
    pub fn together(
        &self,
        device: &mut Device,
        function: &str,
        ids: &[BufferId],
        crossing: usize,
        run: impl FnOnce(&mut Device) -> Result<(), OpError>,
    ) -> Result<(), StepError> {
        if crossing == 0 {
            return Ok(run(device)?);
        }
        let facts = facts(device, ids)?;
        self.between(function, facts, || {
            if self.copies {
                for &id in ids.iter().take(crossing) {
                    self.fetch(device, id)?;
                }
            }
            Ok(run(device)?)
        })
    }

    /// Reads bytes of the chip at a place, on all processes.
    ///
    /// # Errors
    /// Those of `read`; the processes disagree, or one died.
    pub fn read<E: From<PyErr>>(
        &self,
        what: &str,
        place: usize,
        facts: u64,
        target: &mut [u8],
        read: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let owner = self.owners.get(place).copied().unwrap_or(self.rank);
        self.between(what, facts.wrapping_add(place as u64), || {
            if !self.copies {
                return read(target);
            }
            if owner == self.rank {
                read(target)?;
            }
            let own: &[u8] = if owner == self.rank { &*target } else { &[] };
            let all = self.exchange(own)?;
            if let Some(bytes) = all.get(owner).filter(|bytes| bytes.len() == target.len()) {
                target.copy_from_slice(bytes);
            }
            Ok(())
        })
    }

    /// Receives a buffer on all chips of other processes.
    fn fetch(&self, device: &mut Device, id: BufferId) -> Result<(), StepError> {
        let buffer = device.buffer(id)?;
        let (bytes, row_bytes) = (buffer.bytes() as usize, buffer.page_columns() * buffer.page_bytes());
        if bytes == 0 {
            return Ok(());
        }
        let places = |rank: usize| (0..self.owners.len()).filter(move |&place| self.owners[place] == rank);
        let mut own = vec![0; places(self.rank).count() * bytes];
        for (place, part) in places(self.rank).zip(own.chunks_exact_mut(bytes)) {
            device.select(place)?;
            match device.read(id, part, row_bytes) {
                Ok(()) | Err(MemoryError::NeverWritten { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let all = self.exchange(&own)?;
        for (rank, parts) in all.iter().enumerate().filter(|&(rank, _)| rank != self.rank) {
            for (place, part) in places(rank).zip(parts.chunks_exact(bytes)) {
                device.select(place)?;
                device.write(id, part, row_bytes)?;
            }
        }
        device.select_first();
        Ok(())
    }
}

/// A number of the addresses and sizes of buffers.
///
/// # Errors
/// Unknown buffers.
pub fn facts(device: &Device, ids: &[BufferId]) -> Result<u64, MemoryError> {
    ids.iter().try_fold(0xcbf2_9ce4_8422_2325, |hash: u64, &id| {
        let buffer = device.buffer(id)?;
        let words = [buffer.address(), buffer.bytes(), buffer.buffer_type() as u64];
        Ok(words.into_iter().fold(hash, |hash, word| (hash ^ word).wrapping_mul(0x100_0000_01b3)))
    })
}
