//! Tests of registers, unpacker and packer, in one binary.

mod block_float;
mod every_bf16;
mod generations;
mod golden_pack;
mod tile_io;
mod transpose;
