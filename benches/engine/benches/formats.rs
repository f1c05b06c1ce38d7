//! Format conversions at the size of a 4096 x 4096 tensor.
fn main() {
    divan::main();
}
