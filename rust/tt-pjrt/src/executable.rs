//! Compiled programs.
#![allow(clippy::unnecessary_wraps, clippy::wildcard_imports, reason = "functions of one form for many structures")]

use std::ffi::{c_char, c_int};
use std::mem::offset_of;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, OnceLock};

use crate::abi::*;
use crate::backend::{Argument, Compiled};
use crate::buffer::Buffer;
use crate::client::{Client, Device, KEEP};
use crate::entry::clear_after;
use crate::event::Event;
use crate::failure::{Code, Failure};
use crate::raw;
use crate::wire::{self, CompileOptions};

/// Start of a serialized program.
const MAGIC: &[u8] = b"ttnn PJRT program 1\n";
/// Format of program texts.
const FORMAT: &str = "mlir";
/// Kind of memory that results are in.
const OUTPUT_MEMORY: &str = "device";

/// `PJRT_Executable`: what is known of a program without its devices.
#[derive(Debug)]
pub struct Executable {
    compiled: Compiled,
    options: CompileOptions,
    types: Vec<c_int>,
    dims: Vec<i64>,
    dim_sizes: Vec<usize>,
    memory_kinds: Vec<AtomicPtr<c_char>>,
    memory_kind_sizes: Vec<usize>,
    fingerprint: String,
    serialized: Vec<u8>,
    /// Text of the program, once it was asked for.
    text: OnceLock<String>,
}

/// `PJRT_LoadedExecutable`: a program and its devices.
#[derive(Debug)]
pub struct LoadedExecutable {
    client: Arc<Client>,
    executable: Arc<Executable>,
    devices: Vec<AtomicPtr<Device>>,
    ids: Vec<LogicalDeviceIds>,
    assignment: Vec<u8>,
    deleted: AtomicBool,
}

/// Returns a number of 128 bits for the bytes (FNV-1a).
fn hash(parts: &[&[u8]]) -> u128 {
    let start = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    let bytes = parts.iter().flat_map(|part| part.iter());
    bytes.fold(start, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b))
}

impl Executable {
    fn new(compiled: Compiled, options: CompileOptions, artifact: &[u8], proto: &[u8]) -> Self {
        let outputs = &compiled.outputs;
        let mut serialized = MAGIC.to_vec();
        serialized.extend((proto.len() as u64).to_le_bytes());
        serialized.extend(proto);
        serialized.extend(artifact);
        Self {
            types: outputs.iter().map(|tensor| tensor.element.code).collect(),
            dims: outputs.iter().flat_map(|tensor| tensor.dims.iter().copied()).collect(),
            dim_sizes: outputs.iter().map(|tensor| tensor.dims.len()).collect(),
            memory_kinds: outputs.iter().map(|_| AtomicPtr::new(OUTPUT_MEMORY.as_ptr().cast_mut().cast())).collect(),
            memory_kind_sizes: vec![OUTPUT_MEMORY.len(); outputs.len()],
            fingerprint: format!("{:032x}", hash(&[proto, artifact])),
            serialized,
            text: OnceLock::new(),
            options,
            compiled,
        }
    }
}

/// Compiles a program for the devices that its options name.
fn load(client: &Arc<Client>, artifact: &[u8], proto: &[u8]) -> Result<*mut LoadedExecutable, Failure> {
    client.check()?;
    let mut options = CompileOptions::read(proto)?;
    let count = options.replicas.checked_mul(options.partitions).filter(|&count| count > 0);
    let count = count.ok_or_else(|| Failure::argument("tt: a program for 0 devices was asked for"))?;
    if options.devices.is_empty() {
        client.device(count as i64 - 1)?;
        options.devices = (0..count as i64).collect();
    }
    if options.devices.len() != count {
        let (got, replicas, partitions) = (options.devices.len(), options.replicas, options.partitions);
        let sentence = format!("tt: {got} devices for {replicas} replicas of {partitions} partitions");
        return Err(Failure::argument(sentence));
    }
    let devices = options.devices.iter().map(|&id| client.device(id).map(AtomicPtr::new));
    let devices = devices.collect::<Result<Vec<_>, _>>()?;
    let ids = (0..count).map(|index| LogicalDeviceIds {
        replica: (index / options.partitions) as c_int,
        partition: (index % options.partitions) as c_int,
    });
    let ids = ids.collect();
    let assignment = wire::write_assignment(options.replicas, options.partitions, &options.devices);
    let compiled = client.backend.compile(artifact, &options)?;
    let executable = Arc::new(Executable::new(compiled, options, artifact, proto));
    let loaded = LoadedExecutable {
        client: Arc::clone(client),
        executable,
        devices,
        ids,
        assignment,
        deleted: AtomicBool::new(false),
    };
    Ok(Box::into_raw(Box::new(loaded)))
}

pub(crate) fn compile(args: &mut Client_Compile_Args) -> Result<(), Failure> {
    let client = raw::shared(args.client, "client")?;
    let program = raw::handle(args.program, "program")?;
    let format = raw::bytes(program.format, program.format_size);
    if format != FORMAT.as_bytes() {
        let format = String::from_utf8_lossy(format);
        return Err(Failure::unimplemented(format!(
            "tt: programs in format {format:?} are not read; expected \"mlir\""
        )));
    }
    let artifact = raw::bytes(program.code, program.code_size);
    let proto = raw::bytes(args.compile_options, args.compile_options_size);
    args.executable = load(&client, artifact, proto)?;
    Ok(())
}

/// Compiles a serialized program again.
pub(crate) fn deserialize(args: &mut Executable_DeserializeAndLoad_Args) -> Result<(), Failure> {
    let client = raw::shared(args.client, "client")?;
    let damaged = || Failure::argument("tt: a serialized program is damaged or comes from another version");
    let bytes = raw::bytes(args.serialized_executable, args.serialized_executable_size);
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(damaged)?;
    let (size, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
    let size = usize::try_from(u64::from_le_bytes(*size)).map_err(|_| damaged())?;
    let (proto, artifact) = rest.split_at_checked(size).ok_or_else(damaged)?;
    let other = raw::bytes(args.overridden_serialized_compile_options, args.overridden_serialized_compile_options_size);
    args.loaded_executable = load(&client, artifact, if other.is_empty() { proto } else { other })?;
    Ok(())
}

pub(crate) fn destroy(args: &mut Executable_Args) -> Result<(), Failure> {
    raw::release(args.executable);
    Ok(())
}

pub(crate) fn name(args: &mut Executable_Text_Args) -> Result<(), Failure> {
    let name = &raw::handle(args.executable, "executable")?.compiled.name;
    (args.text, args.text_size) = (name.as_ptr().cast(), name.len());
    Ok(())
}

pub(crate) fn fingerprint(args: &mut Executable_Text_Args) -> Result<(), Failure> {
    let text = &raw::handle(args.executable, "executable")?.fingerprint;
    (args.text, args.text_size) = (text.as_ptr().cast(), text.len());
    Ok(())
}

pub(crate) fn replicas(args: &mut Executable_Count_Args) -> Result<(), Failure> {
    args.count = raw::handle(args.executable, "executable")?.options.replicas;
    Ok(())
}

pub(crate) fn partitions(args: &mut Executable_Count_Args) -> Result<(), Failure> {
    args.count = raw::handle(args.executable, "executable")?.options.partitions;
    Ok(())
}

pub(crate) fn outputs(args: &mut Executable_Count_Args) -> Result<(), Failure> {
    args.count = raw::handle(args.executable, "executable")?.types.len();
    Ok(())
}

pub(crate) fn code_size(args: &mut Executable_Count_Args) -> Result<(), Failure> {
    args.count = raw::handle(args.executable, "executable")?.compiled.code_bytes;
    Ok(())
}

pub(crate) fn cost_analysis(args: &mut Executable_GetCostAnalysis_Args) -> Result<(), Failure> {
    (args.num_properties, args.properties) = (0, ptr::null());
    Ok(())
}

pub(crate) fn memory_stats(args: &mut Executable_GetCompiledMemoryStats_Args) -> Result<(), Failure> {
    let compiled = &raw::handle(args.executable, "executable")?.compiled;
    clear_after(args, offset_of!(Executable_GetCompiledMemoryStats_Args, generated_code_size_in_bytes));
    args.generated_code_size_in_bytes = compiled.code_bytes as i64;
    args.argument_size_in_bytes = compiled.argument_bytes as i64;
    args.output_size_in_bytes = compiled.outputs.iter().map(|tensor| tensor.bytes() as i64).sum();
    Ok(())
}

pub(crate) fn output_types(args: &mut Executable_OutputElementTypes_Args) -> Result<(), Failure> {
    let types = &raw::handle(args.executable, "executable")?.types;
    (args.output_types, args.num_output_types) = (types.as_ptr(), types.len());
    Ok(())
}

pub(crate) fn output_dimensions(args: &mut Executable_OutputDimensions_Args) -> Result<(), Failure> {
    let executable = raw::handle(args.executable, "executable")?;
    args.num_outputs = executable.dim_sizes.len();
    (args.dims, args.dim_sizes) = (executable.dims.as_ptr(), executable.dim_sizes.as_ptr());
    Ok(())
}

pub(crate) fn output_memories(args: &mut Executable_OutputMemoryKinds_Args) -> Result<(), Failure> {
    let executable = raw::handle(args.executable, "executable")?;
    args.num_outputs = executable.memory_kinds.len();
    args.memory_kinds = executable.memory_kinds.as_ptr();
    args.memory_kind_sizes = executable.memory_kind_sizes.as_ptr();
    Ok(())
}

/// Returns the text of the program: its size in a first call, the text in a second.
pub(crate) fn optimized_program(args: &mut Executable_OptimizedProgram_Args) -> Result<(), Failure> {
    let executable = raw::handle(args.executable, "executable")?;
    if executable.text.get().is_none() {
        // Outside of a lock: writing the text may wait for the interpreter.
        let _ = executable.text.set(executable.compiled.program.text()?);
    }
    let text = executable.text.get().map_or("", String::as_str);
    let mut program = *raw::handle(args.program, "program")?;
    (program.format, program.format_size) = (FORMAT.as_ptr().cast(), FORMAT.len());
    if program.code.is_null() {
        program.code_size = text.len();
    } else if program.code_size < text.len() {
        let (got, expected) = (program.code_size, text.len());
        return Err(Failure::argument(format!("tt: {got} bytes are too few for a program text of {expected}")));
    } else {
        // SAFETY: the caller's memory has room for the text, which was checked.
        unsafe { ptr::copy_nonoverlapping(text.as_ptr(), program.code.cast(), text.len()) };
    }
    raw::store(args.program, program);
    Ok(())
}

pub(crate) fn serialize(args: &mut Executable_Serialize_Args) -> Result<(), Failure> {
    let bytes = &raw::handle(args.executable, "executable")?.serialized;
    (args.serialized_bytes, args.serialized_bytes_size) = (bytes.as_ptr().cast(), bytes.len());
    (args.owner, args.deleter) = (args.executable.cast_mut().cast(), KEEP);
    Ok(())
}

pub(crate) fn destroy_loaded(args: &mut LoadedExecutable_Args) -> Result<(), Failure> {
    raw::destroy(args.executable);
    Ok(())
}

pub(crate) fn get_executable(args: &mut LoadedExecutable_GetExecutable_Args) -> Result<(), Failure> {
    let loaded = raw::handle(args.loaded_executable, "executable")?;
    args.executable = Arc::into_raw(Arc::clone(&loaded.executable)).cast_mut();
    Ok(())
}

pub(crate) fn loaded_devices(args: &mut LoadedExecutable_AddressableDevices_Args) -> Result<(), Failure> {
    let devices = &raw::handle(args.executable, "executable")?.devices;
    (args.addressable_devices, args.num_addressable_devices) = (devices.as_ptr(), devices.len());
    Ok(())
}

pub(crate) fn logical_ids(args: &mut LoadedExecutable_AddressableDeviceLogicalIds_Args) -> Result<(), Failure> {
    let ids = &raw::handle(args.executable, "executable")?.ids;
    (args.ids, args.num_ids) = (ids.as_ptr(), ids.len());
    Ok(())
}

/// An error here would end the process of the caller.
pub(crate) fn device_assignment(args: &mut LoadedExecutable_GetDeviceAssignment_Args) -> Result<(), Failure> {
    let bytes = &raw::handle(args.executable, "executable")?.assignment;
    (args.serialized_bytes, args.serialized_bytes_size) = (bytes.as_ptr().cast(), bytes.len());
    (args.owner, args.deleter) = (args.executable.cast(), KEEP);
    Ok(())
}

pub(crate) fn delete(args: &mut LoadedExecutable_Args) -> Result<(), Failure> {
    raw::handle(args.executable, "executable")?.deleted.store(true, Ordering::Release);
    Ok(())
}

pub(crate) fn is_deleted(args: &mut LoadedExecutable_IsDeleted_Args) -> Result<(), Failure> {
    args.is_deleted = raw::handle(args.executable, "executable")?.deleted.load(Ordering::Acquire).into();
    Ok(())
}

pub(crate) fn loaded_fingerprint(args: &mut LoadedExecutable_Fingerprint_Args) -> Result<(), Failure> {
    let text = &raw::handle(args.executable, "executable")?.executable.fingerprint;
    (args.executable_fingerprint, args.executable_fingerprint_size) = (text.as_ptr().cast(), text.len());
    Ok(())
}

pub(crate) fn execute(args: &mut LoadedExecutable_Execute_Args) -> Result<(), Failure> {
    let loaded = raw::handle(args.executable, "executable")?;
    loaded.client.check_process()?;
    if loaded.deleted.load(Ordering::Acquire) {
        return Err(Failure::new(Code::FailedPrecondition, "tt: the compiled program is deleted"));
    }
    let devices: Vec<_> = if args.execute_device.is_null() {
        loaded.devices.iter().map(|device| device.load(Ordering::Relaxed)).collect()
    } else {
        vec![args.execute_device]
    };
    if args.num_devices != devices.len() {
        let (got, expected) = (args.num_devices, devices.len());
        return Err(Failure::argument(format!("tt: arguments for {got} devices, the program runs on {expected}")));
    }
    let ids = devices.iter().map(|&device| Ok(raw::handle(device, "device")?.id.into()));
    let ids = ids.collect::<Result<Vec<i64>, Failure>>()?;
    let kept = if args.options.is_null() {
        &[]
    } else {
        let options = raw::handle(args.options, "options")?;
        raw::array(options.non_donatable_input_indices, options.num_non_donatable_input_indices)
    };
    let lists = raw::array(args.argument_lists, devices.len());
    let buffers = lists.iter().flat_map(|&list| raw::array(list, args.num_args));
    let buffers = buffers.map(|&buffer| raw::handle(buffer, "argument")).collect::<Result<Vec<_>, _>>()?;
    let contents = buffers.iter().map(|buffer| buffer.contents()).collect::<Result<Vec<_>, _>>()?;
    let compiled = &loaded.executable.compiled;
    let is_donated = |index: usize| {
        let index = index % args.num_args.max(1);
        compiled.donated.contains(&index) && !kept.contains(&(index as i64))
    };
    // A donated buffer's elements are counted here and in the buffer; any more owner still reads them.
    let arguments = contents
        .iter()
        .enumerate()
        .map(|(index, contents)| Argument { contents, donated: is_donated(index) && Arc::strong_count(contents) == 2 });
    let arguments: Vec<_> = arguments.collect();
    let values = compiled.program.execute(&arguments, &ids)?;
    if values.len() != compiled.outputs.len() * devices.len() {
        let (got, expected) = (values.len(), compiled.outputs.len() * devices.len());
        return Err(Failure::internal(format!("tt: a program returned {got} results, expected {expected}")));
    }
    drop(arguments);
    for (index, buffer) in buffers.iter().enumerate() {
        if is_donated(index) {
            buffer.delete();
        }
    }
    let results = raw::array(args.output_lists, devices.len());
    let mut values = values.into_iter();
    for (&device, &list) in devices.iter().zip(results) {
        for (index, (tensor, value)) in compiled.outputs.iter().zip(values.by_ref()).enumerate() {
            let buffer = Buffer::from_value(Arc::clone(&loaded.client), device, tensor.clone(), value);
            raw::store_at(list, index, buffer);
        }
    }
    if !args.device_complete_events.is_null() {
        for index in 0..devices.len() {
            raw::store_at(args.device_complete_events, index, Event::ready());
        }
    }
    Ok(())
}
