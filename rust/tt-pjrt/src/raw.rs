//! Pointers of the C interface as references.
//!
//! The contract of the interface is what makes this sound: the caller passes handles that this plugin returned and has
//! not destroyed, and pointers to arrays of the stated length that live during the call. Null pointers are errors here.

use std::ffi::c_char;
use std::slice;
use std::sync::Arc;

use crate::failure::Failure;

/// Returns the object of a handle.
pub(crate) fn handle<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Failure> {
    // SAFETY: not null is checked; the rest is the contract of the interface.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::argument(format!("PJRT: the pointer to the {what} is null")))
}

/// Returns another owner of the object of a handle made by `Arc::into_raw`.
pub(crate) fn shared<T>(pointer: *const T, what: &str) -> Result<Arc<T>, Failure> {
    handle(pointer, what)?;
    // SAFETY: handles of shared objects are made by `Arc::into_raw`, and the caller has not destroyed this one.
    unsafe {
        Arc::increment_strong_count(pointer);
        Ok(Arc::from_raw(pointer))
    }
}

/// Ends the caller's ownership of a handle made by `Arc::into_raw`.
pub(crate) fn release<T>(pointer: *const T) {
    if !pointer.is_null() {
        // SAFETY: as in `shared`; the caller destroys each handle once.
        drop(unsafe { Arc::from_raw(pointer) });
    }
}

/// Ends the caller's ownership of a handle made by `Box::into_raw`.
pub(crate) fn destroy<T>(pointer: *mut T) {
    if !pointer.is_null() {
        // SAFETY: such handles are made by `Box::into_raw`, and the caller destroys each once.
        drop(unsafe { Box::from_raw(pointer) });
    }
}

/// Returns the elements of an array of the caller, none for a null pointer.
pub(crate) fn array<'a, T>(pointer: *const T, count: usize) -> &'a [T] {
    if pointer.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller's array has `count` elements and lives during the call.
    unsafe { slice::from_raw_parts(pointer, count) }
}

/// Returns the bytes of a text of the caller.
pub(crate) fn bytes<'a>(pointer: *const c_char, count: usize) -> &'a [u8] {
    array(pointer.cast(), count)
}

/// Writes a result through a pointer of the caller; null means that it is not wanted.
pub(crate) fn store<T>(pointer: *mut T, value: T) {
    if !pointer.is_null() {
        // SAFETY: the caller passes a place for one value.
        unsafe { pointer.write(value) };
    }
}

/// Writes element `index` of an array of the caller.
pub(crate) fn store_at<T>(pointer: *mut T, index: usize, value: T) {
    if !pointer.is_null() {
        // SAFETY: the caller passes an array with a place for each index that the interface states.
        unsafe { pointer.add(index).write(value) };
    }
}
