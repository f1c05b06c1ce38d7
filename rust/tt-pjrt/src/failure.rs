//! Errors: a code and a sentence.
#![allow(clippy::unnecessary_wraps, reason = "every function of the table has one form")]

use std::ffi::{c_char, c_int, c_void};
use std::fmt;
use std::ptr;
use std::sync::atomic::AtomicPtr;

use crate::abi::{
    Error_Destroy_Args, Error_ForEachPayload_Args, Error_GetCode_Args, Error_Message_Args, PayloadVisitor,
};
use crate::raw;

/// Kind of an error, as the host program sorts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// An argument or an option is wrong.
    InvalidArgument = 3,
    /// Memory is exhausted.
    ResourceExhausted = 8,
    /// The state of the process or of an object does not allow the call.
    FailedPrecondition = 9,
    /// This is not supported.
    Unimplemented = 12,
    /// Everything else.
    Internal = 13,
}

/// An error on its way to the host program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Kind of the error.
    pub code: Code,
    /// Sentence for the user.
    pub message: String,
}

impl Failure {
    /// Returns an error of this kind.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// Returns an error about an argument.
    pub fn argument(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, message)
    }

    /// Returns an error about something that is not supported.
    pub fn unimplemented(message: impl Into<String>) -> Self {
        Self::new(Code::Unimplemented, message)
    }

    /// Returns an error about a bug of this plugin.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, message)
    }

    pub(crate) fn into_raw(self) -> *mut Error {
        Box::into_raw(Box::new(Error { functions: &ERROR_FUNCTIONS, failure: self }))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// `PJRT_Error`: its first word points to functions of the error.
#[repr(C)]
#[derive(Debug)]
pub struct Error {
    functions: &'static ErrorFunctions,
    failure: Failure,
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
        // SAFETY: errors are made by `into_raw` alone, and the caller destroys each once.
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
