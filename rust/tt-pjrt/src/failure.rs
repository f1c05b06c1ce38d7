//! Errors: a code and a sentence.
use std::fmt;

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
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
