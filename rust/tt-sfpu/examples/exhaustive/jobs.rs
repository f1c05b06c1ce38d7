//! Jobs: one per function, its 2^32 inputs in chunks of 2^16.

use tt_cpu::Level;
use tt_formats::Arch;
use tt_fpu::MathFidelity;
use tt_sfpu::{BinaryFunction, DstWidth, Function, binary_functions, functions};

use crate::engine::{self, Operation, TILE};

/// Inputs of a chunk.
pub const CHUNK: usize = 1 << 16;
/// Chunks of a job.
pub const CHUNKS: u64 = 1 << 16;

/// Checks a chunk at every CPU level; the text says where the first difference is.
type Check = Box<dyn Fn(u64) -> Result<(), String> + Sync>;

/// One function or operation.
pub struct Job {
    /// Its names in the specification's listings, and what its parameters are.
    pub name: String,
    /// Checks the chunk of a number.
    pub check: Check,
}

/// Any values do, as long as they are not those that tables of recorded vectors have.
const PARAMETERS: [f32; 4] = [0.7, 1.3, 2.5, 3.5];

fn parameters(names: &[&str]) -> (Vec<u32>, String) {
    let words = PARAMETERS[..names.len()].iter().map(|value| value.to_bits()).collect();
    let shown: Vec<String> = names.iter().zip(PARAMETERS).map(|(name, value)| format!(" {name}={value}")).collect();
    (words, shown.concat())
}

fn faster_levels() -> Vec<Level> {
    Level::supported().iter().copied().filter(|&level| level != Level::Scalar).collect()
}

/// All 2^32 words of 32-bit Dst through unary functions.
pub fn of_inputs() -> Vec<Job> {
    functions(Arch::Wormhole).map(of_function).collect()
}

fn of_function(function: &Function) -> Job {
    let (words, shown) = parameters(function.parameters);
    let call = function.with(&words).expect("as many as it takes");
    let name = format!("{function:?}{shown}");
    let levels = faster_levels();
    let check = move |chunk: u64| {
        let inputs: Vec<u32> = (0..CHUNK as u32).map(|i| (chunk as u32) << 16 | i).collect();
        let mut expected = inputs.clone();
        call.run_program(&mut expected, DstWidth::Bits32, Level::Scalar);
        let mut got = vec![0; CHUNK];
        for &level in &levels {
            got.copy_from_slice(&inputs);
            call.run_program(&mut got, DstWidth::Bits32, level);
            if let Some(i) = (0..CHUNK).find(|&i| got[i] != expected[i]) {
                let (input, got, expected) = (inputs[i], got[i], expected[i]);
                return Err(format!("{level}: {input:08x} gives {got:08x}, the scalar form {expected:08x}"));
            }
        }
        Ok(())
    };
    Job { name, check: Box::new(check) }
}

/// All BF16 pairs through FPU operations and binary functions.
///
/// The operations at every fidelity, the functions of two operands in a 16-bit Dst, also in the way that takes whole
/// pages. A chunk is one first operand with all second ones.
pub fn of_pairs() -> Vec<Job> {
    let operations = engine::operations(&MathFidelity::ALL).into_iter().map(of_operation);
    let functions = binary_functions(Arch::Wormhole);
    let pages = functions.clone().filter_map(of_pages);
    operations.chain(functions.map(of_binary_function)).chain(pages).collect()
}

fn of_operation(operation: Operation) -> Job {
    let check = move |chunk: u64| {
        let first = engine::in_src(&[chunk as u16; TILE]);
        for start in (0..CHUNK).step_by(TILE) {
            let second = engine::in_src(&std::array::from_fn(|i| (start + i) as u16));
            operation.check(&first, &second, Level::supported())?;
        }
        Ok(())
    };
    Job { name: operation.to_string(), check: Box::new(check) }
}

fn of_binary_function(function: &BinaryFunction) -> Job {
    let (words, shown) = parameters(function.parameters);
    let call = function.with(&words).expect("as many as it takes");
    let name = format!("{function:?}{shown}");
    let levels = faster_levels();
    let check = move |chunk: u64| {
        let first = vec![(chunk as u32) << 16; CHUNK];
        let second: Vec<u32> = (0..CHUNK as u32).map(|i| i << 16).collect();
        let mut expected = first.clone();
        call.run(&mut expected, &second, DstWidth::Bits16, Level::Scalar);
        let mut got = vec![0; CHUNK];
        for &level in &levels {
            got.copy_from_slice(&first);
            call.run(&mut got, &second, DstWidth::Bits16, level);
            if let Some(i) = (0..CHUNK).find(|&i| got[i] != expected[i]) {
                let (a, b, got, expected) = (first[i], second[i], got[i], expected[i]);
                return Err(format!("{level}: {a:08x} with {b:08x} gives {got:08x}, the scalar form {expected:08x}"));
            }
        }
        Ok(())
    };
    Job { name, check: Box::new(check) }
}

/// The way of a function that takes whole pages, against lanes of words.
fn of_pages(function: &BinaryFunction) -> Option<Job> {
    let (words, shown) = parameters(function.parameters);
    let call = function.with(&words).expect("as many as it takes");
    call.bf16()?;
    let levels = faster_levels();
    let page = |datum: &dyn Fn(usize) -> u16| {
        let mut page = [0; 2 * TILE];
        page.as_chunks_mut::<2>().0.iter_mut().enumerate().for_each(|(i, bytes)| *bytes = datum(i).to_le_bytes());
        page
    };
    // Without an exponent, a datum comes into Dst as zero.
    let in_dst = |half: u16| if half & 0x7f80 == 0 { 0 } else { u32::from(half) << 16 };
    let check = move |chunk: u64| {
        let first = page(&|_| chunk as u16);
        for start in (0..CHUNK).step_by(TILE) {
            let second = page(&|i| (start + i) as u16);
            let mut expected = [in_dst(chunk as u16); TILE];
            let others: [u32; TILE] = std::array::from_fn(|i| in_dst((start + i) as u16));
            call.run(&mut expected, &others, DstWidth::Bits16, Level::current());
            for &level in &levels {
                let mut got = [0; TILE];
                if !call.run_bf16(level, &mut got, [&first, &second]) {
                    continue;
                }
                if let Some(i) = (0..TILE).find(|&i| u32::from(got[i]) << 16 != expected[i]) {
                    let (a, b, got, expected) = (chunk, start + i, got[i], expected[i]);
                    return Err(format!("{level}: {a:04x} with {b:04x} gives {got:04x}, in words {expected:08x}"));
                }
            }
        }
        Ok(())
    };
    Some(Job { name: format!("{function:?}{shown} of pages"), check: Box::new(check) })
}
