//! Compiler and device, as the plugin needs them.

use std::any::Any;
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use crate::failure::Failure;
use crate::host::HostMemory;
use crate::types::TensorType;
use crate::wire::CompileOptions;

/// Compiler and device.
pub trait Backend: Debug + Send + Sync {
    /// Compiles a `StableHLO` portable artifact.
    ///
    /// # Errors
    /// The program or an option is not supported.
    fn compile(&self, artifact: &[u8], options: &CompileOptions) -> Result<Compiled, Failure>;

    /// Returns the name of the chip.
    fn device_kind(&self) -> &'static str;

    /// Returns the bytes in use and the size of a device's memory.
    fn memory(&self) -> (i64, i64);
}

/// A compiled program and its facts.
#[derive(Debug)]
pub struct Compiled {
    /// The program.
    pub program: Arc<dyn Program>,
    /// Name of the program.
    pub name: String,
    /// Types of the results on one device.
    pub outputs: Vec<TensorType>,
    /// Arguments whose memory the program may reuse.
    pub donated: Vec<usize>,
    /// Size of the arguments in bytes.
    pub argument_bytes: usize,
    /// Size of the compiled binary in bytes.
    pub code_bytes: usize,
}

/// A program that can be executed.
pub trait Program: Debug + Send + Sync {
    /// Returns the results for these arguments: those of the first device, then those of the next.
    ///
    /// # Errors
    /// The program stopped.
    fn execute(&self, arguments: &[Argument<'_>], devices: &[i64]) -> Result<Vec<Box<dyn Value>>, Failure>;

    /// Returns the `StableHLO` text of the program.
    ///
    /// # Errors
    /// The text cannot be written.
    fn text(&self) -> Result<String, Failure>;
}

/// Argument of a program.
#[derive(Debug)]
pub struct Argument<'a> {
    /// Contents of the buffer.
    pub contents: &'a Contents,
    /// True if the program may reuse the memory of the buffer.
    pub donated: bool,
}

/// A tensor of the backend, on the device or on the host.
pub trait Value: Any + Debug + Send + Sync {
    /// Calls `receive` with the elements in dense row-major order.
    ///
    /// # Errors
    /// The tensor cannot be read.
    fn read(&self, receive: &mut dyn FnMut(&[u8]) -> Result<(), Failure>) -> Result<(), Failure>;
}

/// Elements of a buffer; copies of the buffer share them.
#[derive(Debug)]
pub struct Contents {
    /// Type and dimensions.
    pub tensor: TensorType,
    /// Elements in host memory, for a buffer that came from there.
    pub host: Option<Arc<HostMemory>>,
    /// Tensor of the backend, which the first use makes.
    pub value: OnceLock<Box<dyn Value>>,
}
