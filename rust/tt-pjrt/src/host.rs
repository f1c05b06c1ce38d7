//! Arrays in host memory.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::copy;
use crate::event::Signal;
use crate::failure::Failure;
use crate::types::TensorType;

/// An array in host memory, the plugin's own or a loan.
#[derive(Debug)]
pub struct HostMemory {
    tensor: TensorType,
    strides: Vec<i64>,
    storage: Storage,
}

#[derive(Debug)]
enum Storage {
    Own(Vec<u8>),
    /// Address of the first element, and the signal that ends the loan.
    Lent(AtomicPtr<c_void>, Arc<Signal>),
}

impl HostMemory {
    /// Returns an array of zeros.
    pub(crate) fn zeros(tensor: TensorType) -> Self {
        let (bytes, strides) = (vec![0; tensor.bytes()], tensor.dense_strides());
        Self { tensor, strides, storage: Storage::Own(bytes) }
    }

    /// Returns a dense copy of an array of the host program.
    ///
    /// # Safety
    /// With these strides, `data` is readable at every index of the shape.
    pub(crate) unsafe fn copied(tensor: TensorType, data: *const c_void, strides: &[i64]) -> Self {
        let mut bytes = vec![0; tensor.bytes()];
        let dense = tensor.dense_strides();
        // SAFETY: the caller's promise for the source; the destination is dense and of the right size.
        unsafe { copy::copy(&tensor, (data.cast(), strides), (bytes.as_mut_ptr(), &dense)) };
        Self { tensor, strides: dense, storage: Storage::Own(bytes) }
    }

    /// Returns an array that stays in the memory of the host program.
    ///
    /// # Safety
    /// As [`HostMemory::copied`], until the signal is sent.
    pub(crate) unsafe fn lent(tensor: TensorType, data: *const c_void, strides: Vec<i64>, signal: Arc<Signal>) -> Self {
        Self { tensor, strides, storage: Storage::Lent(AtomicPtr::new(data.cast_mut()), signal) }
    }

    /// Returns type and dimensions.
    pub fn tensor(&self) -> &TensorType {
        &self.tensor
    }

    /// Returns the distance of neighbours in each dimension in bytes.
    pub fn strides(&self) -> &[i64] {
        &self.strides
    }

    /// Returns the address of the first element (index 0 in each dimension).
    pub fn address(&self) -> usize {
        self.pointer().addr()
    }

    fn pointer(&self) -> *const u8 {
        match &self.storage {
            Storage::Own(bytes) => bytes.as_ptr(),
            Storage::Lent(data, _) => data.load(Ordering::Relaxed).cast_const().cast(),
        }
    }

    /// Copies the elements to an array with these strides.
    ///
    /// # Safety
    /// With these strides, `to` is writable at every index of the shape, and overlaps no array of this plugin.
    pub(crate) unsafe fn copy_to(&self, to: *mut u8, strides: &[i64]) {
        // SAFETY: the source is readable by the promise of its maker; the caller's promise for the destination.
        unsafe { copy::copy(&self.tensor, (self.pointer(), &self.strides), (to, strides)) };
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        if let Storage::Lent(_, signal) = &self.storage {
            signal.send();
        }
    }
}

/// Copies dense elements to an array with these strides.
///
/// # Safety
/// As [`HostMemory::copy_to`].
pub(crate) unsafe fn write_dense(
    tensor: &TensorType,
    elements: &[u8],
    to: *mut u8,
    strides: &[i64],
) -> Result<(), Failure> {
    if elements.len() != tensor.bytes() {
        let (got, expected) = (elements.len(), tensor.bytes());
        return Err(Failure::internal(format!("tt: a result has {got} bytes, its type has {expected}")));
    }
    // SAFETY: the source is dense and of the right size; the caller's promise for the destination.
    unsafe { copy::copy(tensor, (elements.as_ptr(), &tensor.dense_strides()), (to, strides)) };
    Ok(())
}
