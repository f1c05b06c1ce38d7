//! Errors as objects of the interface.
#![allow(clippy::unnecessary_wraps, reason = "every function of the table has one form")]

use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::AtomicPtr;

use crate::abi::{
    Error_Destroy_Args, Error_ForEachPayload_Args, Error_GetCode_Args, Error_Message_Args, PayloadVisitor,
};
use crate::failure::{Code, Failure};
use crate::raw;

/// `PJRT_Error`: its first word points to functions of the error.
#[repr(C)]
#[derive(Debug)]
pub struct Error {
    functions: &'static ErrorFunctions,
    failure: Failure,
}

impl Error {
    pub(crate) fn of(failure: Failure) -> *mut Self {
        Box::into_raw(Box::new(Self { functions: &ERROR_FUNCTIONS, failure }))
    }
}

#[repr(C)]
#[derive(Debug)]
struct ErrorFunctions {
    struct_size: usize,
    instance_size: usize,
    extension_start: AtomicPtr<c_void>,
    destroy: unsafe extern "C" fn(*mut Error),
    message: unsafe extern "C" fn(*const Error, *mut *const c_char, *mut usize),
    get_code: unsafe extern "C" fn(*const Error) -> c_int,
    for_each_payload: unsafe extern "C" fn(*const Error, PayloadVisitor, *mut c_void),
}

static ERROR_FUNCTIONS: ErrorFunctions = ErrorFunctions {
    struct_size: size_of::<ErrorFunctions>(),
    instance_size: size_of::<*const ErrorFunctions>(),
    extension_start: AtomicPtr::new(ptr::null_mut()),
    destroy: destroy_error,
    message: error_message,
    get_code: error_code,
    for_each_payload: no_payload,
};

unsafe extern "C" fn destroy_error(error: *mut Error) {
    if !error.is_null() {
        // SAFETY: errors are made by `Error::of` alone, and the caller destroys each once.
        drop(unsafe { Box::from_raw(error) });
    }
}

unsafe extern "C" fn error_message(error: *const Error, message: *mut *const c_char, size: *mut usize) {
    if let Ok(error) = raw::handle(error, "error") {
        let text = &error.failure.message;
        raw::store(message, text.as_ptr().cast());
        raw::store(size, text.len());
    }
}

unsafe extern "C" fn error_code(error: *const Error) -> c_int {
    raw::handle(error, "error").map_or(Code::Internal as c_int, |error| error.failure.code as c_int)
}

/// Errors of this plugin carry no details besides their sentence.
unsafe extern "C" fn no_payload(_: *const Error, _: PayloadVisitor, _: *mut c_void) {}

pub(crate) fn destroy(args: &mut Error_Destroy_Args) -> Result<(), Failure> {
    // SAFETY: the caller passes an error of this plugin, once.
    unsafe { destroy_error(args.error) };
    Ok(())
}

pub(crate) fn message(args: &mut Error_Message_Args) -> Result<(), Failure> {
    let text = &raw::handle(args.error, "error")?.failure.message;
    (args.message, args.message_size) = (text.as_ptr().cast(), text.len());
    Ok(())
}

pub(crate) fn code(args: &mut Error_GetCode_Args) -> Result<(), Failure> {
    args.code = raw::handle(args.error, "error")?.failure.code as c_int;
    Ok(())
}

pub(crate) fn for_each_payload(_: &mut Error_ForEachPayload_Args) -> Result<(), Failure> {
    Ok(())
}
