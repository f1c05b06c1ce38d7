//! The PJRT plugin of jax.
//!
//! It is a table of C functions over a compiler and a device.
//!
//! jax calls the functions of [`api`] to list devices, to hand over arrays, and to compile and execute programs. This
//! crate answers them; the compiler and the device are a [`backend::Backend`], which the extension module implements.
//! No function lets a panic out, and those that are not supported return an error with their own name.
#![allow(unsafe_code, reason = "handles, arrays and structures of a C interface; each block carries its proof")]

pub mod abi;
pub mod backend;
pub mod buffer;
pub mod client;
mod copy;
mod entry;
pub mod error;
pub mod event;
pub mod executable;
pub mod failure;
pub mod host;
mod raw;
pub mod table;
pub mod types;
pub mod wire;

/// Sets compiler and device, and returns the table of functions.
pub fn api(backend: &'static dyn backend::Backend) -> &'static abi::Api {
    client::set_backend(backend);
    &table::API
}
