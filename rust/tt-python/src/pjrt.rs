//! The PJRT plugin of jax over the Python compiler.
//!
//! The host program calls from any thread, with or without the interpreter lock. What needs Python attaches to the
//! interpreter here; everything else is answered by `tt-pjrt` alone.
#![allow(unsafe_code, reason = "a C symbol and a capsule; each block carries its proof")]

use std::any::Any;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyMemoryError, PyNotImplementedError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use tt_pjrt::abi::Api;
use tt_pjrt::backend::{Argument, Backend, Compiled, Contents, Program, Value};
use tt_pjrt::failure::{Code, Failure};
use tt_pjrt::host::HostMemory;
use tt_pjrt::types::{ElementType, TensorType};
use tt_pjrt::wire::{CompileOptions, OptionValue};

/// Module with the functions that compile and execute.
const MODULE: &str = "ttnn.compiler.frontends.jax.plugin";

/// Bytes in use on the device, and its size, as Python stated them last.
static MEMORY: [AtomicI64; 2] = [AtomicI64::new(0), AtomicI64::new(0)];

/// Runs Python code, whoever holds the interpreter lock.
fn attached<T>(run: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T, Failure> {
    let result = Python::try_attach(|py| run(py).map_err(|error| failure(py, &error)));
    result.unwrap_or_else(|| Err(Failure::new(Code::FailedPrecondition, "tt: the Python interpreter is shutting down")))
}

/// The error that the host program gets for an exception.
fn failure(py: Python<'_>, error: &PyErr) -> Failure {
    let code = if error.is_instance_of::<PyNotImplementedError>(py) {
        Code::Unimplemented
    } else if error.is_instance_of::<PyMemoryError>(py) {
        Code::ResourceExhausted
    } else if error.is_instance_of::<PyValueError>(py) || error.is_instance_of::<PyTypeError>(py) {
        Code::InvalidArgument
    } else {
        Code::Internal
    };
    let text = error.value(py).str().map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned());
    let class = error.get_type(py).name().map_or_else(|_| String::new(), |name| name.to_string());
    // Exceptions of other packages often say nothing without their class.
    let text = if code == Code::Internal || text.is_empty() { format!("{class}: {text}") } else { text };
    Failure::new(code, text)
}

/// An array of the host program, in the form that numpy reads without a copy.
#[pyclass(frozen, module = "ttnn._engine")]
struct HostArray {
    memory: Arc<HostMemory>,
}

#[pymethods]
impl HostArray {
    /// Address, shape and strides of the elements, which are bytes without a type.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tensor = self.memory.tensor();
        let description = PyDict::new(py);
        description.set_item("version", 3)?;
        description.set_item("shape", PyTuple::new(py, &tensor.dims)?)?;
        description.set_item("typestr", format!("|V{}", tensor.element.bytes))?;
        description.set_item("strides", PyTuple::new(py, self.memory.strides())?)?;
        description.set_item("data", (self.memory.address(), true))?;
        Ok(description)
    }

    /// Name of the type of the elements.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.memory.tensor().element.name
    }
}

/// A tensor of the Python side.
#[derive(Debug)]
struct PythonValue(Py<PyAny>);

impl Value for PythonValue {
    fn read(&self, receive: &mut dyn FnMut(&[u8]) -> Result<(), Failure>) -> Result<(), Failure> {
        let mut result = Ok(());
        attached(|py| {
            let elements: PyReadonlyArray1<'_, u8> = self.0.bind(py).call_method0("elements")?.extract()?;
            result = receive(elements.as_slice()?);
            Ok(())
        })?;
        result
    }
}

/// Returns the Python tensor of a buffer; the first use makes it.
fn python_value(py: Python<'_>, contents: &Contents) -> PyResult<Py<PyAny>> {
    if contents.value.get().is_none() {
        let memory = contents.host.as_ref().map(Arc::clone);
        let memory = memory.ok_or_else(|| PyValueError::new_err("tt: a buffer has no elements"))?;
        let made = py.import(MODULE)?.call_method1("from_host", (HostArray { memory },))?;
        // Another thread may have been faster; its tensor stays.
        let _ = contents.value.set(Box::new(PythonValue(made.unbind())));
    }
    let value = contents.value.get().map(|value| &**value as &dyn Any);
    let value = value.and_then(|value| value.downcast_ref::<PythonValue>());
    Ok(value.ok_or_else(|| PyValueError::new_err("tt: a buffer belongs to another plugin"))?.0.clone_ref(py))
}

/// A compiled program of the Python side.
#[derive(Debug)]
struct PythonProgram(Py<PyAny>);

impl Program for PythonProgram {
    fn execute(&self, arguments: &[Argument<'_>], devices: &[i64]) -> Result<Vec<Box<dyn Value>>, Failure> {
        attached(|py| {
            let values = arguments.iter().map(|argument| python_value(py, argument.contents));
            let values = values.collect::<PyResult<Vec<_>>>()?;
            let donated: Vec<usize> = (0..arguments.len()).filter(|&index| arguments[index].donated).collect();
            let results =
                self.0.bind(py).call_method1("execute", (PyList::new(py, values)?, donated, devices.to_vec()))?;
            let results = results.try_iter()?;
            results.map(|value| Ok(Box::new(PythonValue(value?.unbind())) as Box<dyn Value>)).collect()
        })
    }

    fn text(&self) -> Result<String, Failure> {
        attached(|py| self.0.bind(py).getattr("text")?.extract())
    }
}

/// What the plugin runs on.
#[derive(Debug)]
struct PythonBackend;

static BACKEND: PythonBackend = PythonBackend;

impl Backend for PythonBackend {
    fn compile(&self, artifact: &[u8], options: &CompileOptions) -> Result<Compiled, Failure> {
        let (program, name, outputs, donated, argument_bytes, code_bytes) = attached(|py| {
            let user = PyDict::new(py);
            for (name, value) in &options.user {
                match value {
                    OptionValue::Text(value) => user.set_item(name, value)?,
                    OptionValue::Bool(value) => user.set_item(name, value)?,
                    OptionValue::Integer(value) => user.set_item(name, value)?,
                    OptionValue::Float(value) => user.set_item(name, value)?,
                }
            }
            let arguments = (PyBytes::new(py, artifact), user, options.replicas, options.partitions);
            let program = py.import(MODULE)?.call_method1("compile", arguments)?;
            let types: Vec<String> = program.getattr("output_types")?.extract()?;
            let shapes: Vec<Vec<i64>> = program.getattr("output_shapes")?.extract()?;
            Ok((
                PythonProgram(program.clone().unbind()),
                program.getattr("name")?.extract::<String>()?,
                types.into_iter().zip(shapes).collect::<Vec<_>>(),
                program.getattr("donated")?.extract()?,
                program.getattr("argument_bytes")?.extract()?,
                program.getattr("code_bytes")?.extract()?,
            ))
        })?;
        let outputs = outputs.into_iter().map(|(name, dims)| TensorType::new(ElementType::named(&name)?, dims));
        let outputs = outputs.collect::<Result<_, _>>()?;
        Ok(Compiled { program: Arc::new(program), name, outputs, donated, argument_bytes, code_bytes })
    }

    fn device_kind(&self) -> &'static str {
        match std::env::var("ARCH_NAME").as_deref() {
            Ok("blackhole") => "Blackhole",
            _ => "Wormhole",
        }
    }

    fn memory(&self) -> (i64, i64) {
        (MEMORY[0].load(Ordering::Relaxed), MEMORY[1].load(Ordering::Relaxed))
    }
}

/// The table of functions, for programs that load this library themselves.
#[allow(non_snake_case, reason = "the name that PJRT clients look for")]
#[unsafe(no_mangle)]
pub extern "C" fn GetPjrtApi() -> *const Api {
    ptr::from_ref(tt_pjrt::api(&BACKEND))
}

/// Capsule of the table of functions of the PJRT plugin.
#[pyfunction]
fn pjrt_api(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: the table and the name are static; the capsule has no destructor.
    unsafe {
        let capsule = ffi::PyCapsule_New(GetPjrtApi().cast_mut().cast(), c"pjrt_c_api".as_ptr(), None);
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

/// Names of the functions of the PJRT interface, in the order of its table.
#[pyfunction]
fn pjrt_functions() -> Vec<&'static str> {
    tt_pjrt::table::NAMES.to_vec()
}

/// Sets the bytes in use on the device, and its size, that jax is told.
#[pyfunction]
fn pjrt_set_memory(in_use: i64, size: i64) {
    MEMORY[0].store(in_use, Ordering::Relaxed);
    MEMORY[1].store(size, Ordering::Relaxed);
}

/// Adds the functions of the plugin to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<HostArray>()?;
    module.add_function(wrap_pyfunction!(pjrt_api, module)?)?;
    module.add_function(wrap_pyfunction!(pjrt_functions, module)?)?;
    module.add_function(wrap_pyfunction!(pjrt_set_memory, module)?)
}
