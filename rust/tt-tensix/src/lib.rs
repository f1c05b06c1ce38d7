//! A Tensix core's register files, unpacker, packer, and tile I/O.
//!
//! Tile I/O: which formats tiles have on their way.
#![allow(unsafe_code, reason = "calls of kernels compiled for a CPU level")]

pub mod pack;
pub mod regs;
pub mod tile_io;
pub mod transpose;
pub mod unpack;
