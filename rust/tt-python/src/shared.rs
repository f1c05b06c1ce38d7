//! The device of a Python object and buffers, and its users.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use tt_formats::Arch;
use tt_memory::buffer::BufferId;
use tt_memory::device::Device;
use tt_memory::error::MemoryError;
use tt_ops::OpError;

use crate::chips::Chips;
use crate::error::{Either, EngineError, Poisoned, enter_engine, exception, warn_unwritten};
use crate::inside::require_host;
use crate::ranks::{Links, StepError};
use crate::slots;

/// Why a call that looks at a device cannot become a program.
const STATE: &str = "the state of the device is used";

/// A device that its Python object and all its buffers hold.
#[derive(Debug)]
pub struct SharedDevice {
    device: Mutex<Device>,
    open: AtomicBool,
    arch: Arch,
    /// The way to the processes of other chips, if there are any.
    pub links: Option<Links>,
    /// Buffers whose Python objects went away while somebody else was using the device.
    dropped: Mutex<Vec<BufferId>>,
    /// Why the device is stopped, and the class of error that says so.
    failure: Mutex<Option<(String, String)>>,
}

/// Chips of a device that are closed together.
///
/// A mesh, or a part of one.
#[derive(Debug)]
pub struct Part {
    /// The device.
    pub shared: Arc<SharedDevice>,
    /// Its chips.
    pub chips: Chips,
    closed: AtomicBool,
}

impl Part {
    /// An open part of a device.
    pub fn new(shared: Arc<SharedDevice>, chips: Chips) -> Arc<Self> {
        Arc::new(Self { shared, chips, closed: AtomicBool::new(false) })
    }

    /// Closes it.
    ///
    /// Its buffers become invalid; their memory stays until their objects go away.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// Returns true if neither it nor the device has been closed.
    pub fn is_open(&self) -> bool {
        !self.closed.load(Ordering::Acquire) && self.shared.is_open()
    }
}

impl SharedDevice {
    /// A device that was just opened.
    pub fn new(device: Device, links: Option<Links>) -> Self {
        let (dropped, failure) = (Mutex::new(Vec::new()), Mutex::new(None));
        let arch = device.chip().arch;
        Self { arch, links, device: Mutex::new(device), open: AtomicBool::new(true), dropped, failure }
    }

    /// Generation of its chip.
    pub fn arch(&self) -> Arch {
        self.arch
    }

    /// Frees all memory; works after an engine bug too.
    ///
    /// # Errors
    /// The device is closed.
    pub fn close(&self) -> Result<(), MemoryError> {
        self.device.lock().unwrap_or_else(PoisonError::into_inner).close()?;
        self.open.store(false, Ordering::Release);
        Ok(())
    }

    /// The error that blocks further work, if any.
    ///
    /// A message and the class of the error.
    pub fn failure(&self) -> MutexGuard<'_, Option<(String, String)>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Exclusive use of the device, whose first chip is the current one.
    ///
    /// Buffers that were dropped in the meantime are freed first.
    ///
    /// # Errors
    /// [`Poisoned`] if a panic interrupted an earlier use.
    pub fn lock(&self) -> Result<MutexGuard<'_, Device>, Poisoned> {
        let mut device = self.device.lock().map_err(|_| Poisoned)?;
        self.free_dropped(&mut device);
        device.select_first();
        Ok(device)
    }

    /// [`SharedDevice::lock`] with the interpreter lock held.
    ///
    /// It is released while another thread uses the device: an operator that runs there asks for it now and then.
    ///
    /// # Errors
    /// As [`SharedDevice::lock`].
    pub fn lock_attached(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Device>> {
        slots::refuse(STATE)?;
        self.look(py)
    }

    /// [`SharedDevice::lock_attached`] with a chip as the current one.
    ///
    /// # Errors
    /// As [`SharedDevice::lock`]; there is no such chip.
    pub fn lock_on(&self, py: Python<'_>, chip: usize) -> PyResult<MutexGuard<'_, Device>> {
        let mut device = self.lock_attached(py)?;
        device.select(chip).map_err(|error| error.into_exception(py))?;
        Ok(device)
    }

    /// [`SharedDevice::lock_attached`] for what does not change while the device is open.
    ///
    /// # Errors
    /// As [`SharedDevice::lock`].
    pub fn look(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Device>> {
        let locked = self.device.lock_py_attached(py);
        let mut device = locked.map_err(|_| Poisoned.into_exception(py))?;
        self.free_dropped(&mut device);
        device.select_first();
        Ok(device)
    }

    /// Refuses work while the device is stopped, until it is reset.
    ///
    /// # Errors
    /// The class and the sentence that it was stopped with.
    pub fn require_running(&self, py: Python<'_>) -> PyResult<()> {
        match &*self.failure() {
            None => Ok(()),
            Some((sentence, class)) => Err(exception(py, class, (sentence,))),
        }
    }

    /// Runs engine code on the locked device, if it is not stopped.
    ///
    /// Without the interpreter lock. An operator's first read of pages that nobody has written becomes a warning.
    ///
    /// # Errors
    /// Those of `run`, a stopped or poisoned device, and `EngineBugError` for a panic.
    pub fn run<T: Send, E: EngineError>(
        &self,
        py: Python<'_>,
        run: impl FnOnce(&mut Device) -> Result<T, E> + Send,
    ) -> PyResult<T> {
        slots::refuse(STATE)?;
        self.launch(py, run)
    }

    /// [`SharedDevice::run`] for programs, and for what is allocated outside of them.
    ///
    /// # Errors
    /// As [`SharedDevice::run`].
    pub fn launch<T: Send, E: EngineError>(
        &self,
        py: Python<'_>,
        run: impl FnOnce(&mut Device) -> Result<T, E> + Send,
    ) -> PyResult<T> {
        self.require_running(py)?;
        let (value, unwritten) =
            self.enter(py, |device| run(device).map(|value| (value, device.take_unwritten_read())))?;
        if let Some(unwritten) = unwritten {
            warn_unwritten(py, &unwritten)?;
        }
        Ok(value)
    }

    /// [`SharedDevice::run`] on a device that may be stopped.
    ///
    /// # Errors
    /// Those of `run`, a poisoned device, and `EngineBugError` for a panic.
    pub fn inspect<T: Send, E: EngineError>(
        &self,
        py: Python<'_>,
        run: impl FnOnce(&mut Device) -> Result<T, E> + Send,
    ) -> PyResult<T> {
        slots::refuse(STATE)?;
        self.enter(py, run)
    }

    fn enter<T: Send, E: EngineError>(
        &self,
        py: Python<'_>,
        run: impl FnOnce(&mut Device) -> Result<T, E> + Send,
    ) -> PyResult<T> {
        require_host(py)?;
        enter_engine(py, || {
            let mut device = self.lock().map_err(Either::First)?;
            run(&mut device).map_err(Either::Second)
        })
    }

    /// Runs a step of all chips, on the locked device.
    ///
    /// It reads its first `crossing` buffers on chips of other processes.
    ///
    /// # Errors
    /// Those of the step; other processes disagree, or died.
    pub fn together(
        &self,
        device: &mut Device,
        function: &str,
        ids: &[BufferId],
        crossing: usize,
        run: impl FnOnce(&mut Device) -> Result<(), OpError>,
    ) -> Result<(), StepError> {
        match &self.links {
            None => Ok(run(device)?),
            Some(links) => links.together(device, function, ids, crossing, run),
        }
    }

    /// Returns true if the device has not been closed.
    pub fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// Frees a buffer as soon as nobody uses the device; never waits.
    pub fn forget(&self, id: BufferId) {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner).push(id);
        if let Ok(mut device) = self.device.try_lock() {
            self.free_dropped(&mut device);
        }
    }

    fn free_dropped(&self, device: &mut Device) {
        let dropped = std::mem::take(&mut *self.dropped.lock().unwrap_or_else(PoisonError::into_inner));
        for id in dropped {
            // It may have been deallocated by hand, or have gone with its device.
            let _ = device.deallocate(id);
        }
    }
}
