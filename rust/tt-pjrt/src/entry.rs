//! Calls of the host program: sizes of structures, errors and panics.

use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{mem, ptr};

use crate::abi::Plain;
use crate::error::Error;
use crate::failure::Failure;

/// Smallest structure: its size and the list of extensions.
const SMALLEST: usize = size_of::<usize>() + size_of::<*mut c_void>();

/// Calls a function of the plugin with a copy of the caller's structure.
///
/// A caller of another version may have fields more or less: those that both know are copied, the others are zero.
///
/// # Safety
/// `args` is null or points to a structure of the interface that starts with its size.
pub(crate) unsafe fn call<T: Plain>(
    args: *mut c_void,
    name: &str,
    function: fn(&mut T) -> Result<(), Failure>,
) -> *mut Error {
    // SAFETY: the caller's promise.
    let run = || unsafe { call_with_copy(args, name, function) };
    let result = catch_unwind(AssertUnwindSafe(run));
    let result = result.unwrap_or_else(|panic| Err(panicked(name, &*panic)));
    result.err().map_or(ptr::null_mut(), Error::of)
}

unsafe fn call_with_copy<T: Plain>(
    args: *mut c_void,
    name: &str,
    function: fn(&mut T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let Some(&size) = (unsafe { args.cast::<usize>().as_ref() }) else {
        return Err(Failure::argument(format!("{name}: the pointer to the arguments is null")));
    };
    if size < SMALLEST {
        return Err(Failure::argument(format!("{name}: struct_size is {size}, expected at least {SMALLEST}")));
    }
    let common = size.min(size_of::<T>());
    // SAFETY: `T` is plain data, so zeros and what the caller wrote are values of it; both have `common` bytes.
    unsafe {
        let mut copy: T = mem::zeroed();
        ptr::copy_nonoverlapping(args.cast::<u8>(), (&raw mut copy).cast(), common);
        let result = function(&mut copy);
        ptr::copy_nonoverlapping((&raw const copy).cast::<u8>(), args.cast(), common);
        result
    }
}

/// Sets the fields from an offset on to zero: callers do not initialise outputs.
pub(crate) fn clear_after<T: Plain>(args: &mut T, offset: usize) {
    let count = size_of::<T>().saturating_sub(offset);
    // SAFETY: the bytes lie inside `args`, and zeros are a value of plain data.
    unsafe { ptr::write_bytes(ptr::from_mut(args).cast::<u8>().wrapping_add(offset), 0, count) };
}

fn panicked(name: &str, panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a text");
    Failure::internal(format!("{name} panicked: {text}. This is a bug of the plugin, please report it."))
}
