//! Calls of the table of functions, over a stand-in for the device.
#![allow(unsafe_code, reason = "calls through a table of C functions")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use tt_pjrt::abi::*;
use tt_pjrt::backend::{Argument, Backend, Compiled, Program as Run, Value};
use tt_pjrt::error::Error;
use tt_pjrt::failure::Failure;
use tt_pjrt::table::NAMES;
use tt_pjrt::types::{ElementType, TensorType};
use tt_pjrt::wire::CompileOptions;

#[derive(Debug)]
struct StandIn;

#[derive(Debug)]
struct Bytes(Vec<u8>);

impl Value for Bytes {
    fn read(&self, receive: &mut dyn FnMut(&[u8]) -> Result<(), Failure>) -> Result<(), Failure> {
        receive(&self.0)
    }
}

/// Returns the bytes 1, 2, 3, 4 as a 2 x 2 array.
#[derive(Debug)]
struct Four;

impl Run for Four {
    fn execute(&self, arguments: &[Argument<'_>], _: &[i64]) -> Result<Vec<Box<dyn Value>>, Failure> {
        assert!(arguments.len() < 2, "too many arguments");
        Ok(vec![Box::new(Bytes(vec![1, 2, 3, 4]))])
    }

    fn text(&self) -> Result<String, Failure> {
        Ok("module {}".into())
    }
}

impl Backend for StandIn {
    fn compile(&self, artifact: &[u8], _: &CompileOptions) -> Result<Compiled, Failure> {
        if artifact != b"four" {
            return Err(Failure::unimplemented("no such program"));
        }
        Ok(Compiled {
            program: Arc::new(Four),
            name: "four".into(),
            outputs: vec![TensorType::new(ElementType::named("uint8")?, vec![2, 2])?],
            donated: vec![0],
            argument_bytes: 4,
            code_bytes: 0,
        })
    }

    fn device_kind(&self) -> &'static str {
        "stand-in"
    }

    fn memory(&self) -> (i64, i64) {
        (5, 7)
    }
}

fn call<T>(name: &str, args: &mut T) -> Result<(), (i32, String)> {
    let index = NAMES.iter().position(|one| one.strip_prefix("PJRT_") == Some(name)).unwrap();
    let functions = &tt_pjrt::api(&StandIn).functions;
    let function = |name: &str| functions[NAMES.iter().position(|one| *one == name).unwrap()];
    // SAFETY: every structure here is the one of its function.
    unsafe {
        let error = functions[index](ptr::from_mut(args).cast());
        if error.is_null() {
            return Ok(());
        }
        let mut message: Error_Message_Args = new();
        message.error = error;
        function("PJRT_Error_Message")((&raw mut message).cast());
        let text = std::slice::from_raw_parts(message.message.cast::<u8>(), message.message_size);
        let text = String::from_utf8(text.to_vec()).unwrap();
        let mut code: Error_GetCode_Args = new();
        code.error = error;
        function("PJRT_Error_GetCode")((&raw mut code).cast());
        destroy(error, function("PJRT_Error_Destroy"));
        Err((code.code, text))
    }
}

unsafe fn destroy(error: *mut Error, function: Function) {
    let mut args: Error_Destroy_Args = new();
    args.error = error;
    // SAFETY: the structure is the one of the function.
    unsafe { function((&raw mut args).cast()) };
}

/// Returns a structure whose size is set.
fn new<T: Plain>() -> T {
    // SAFETY: zeros are a value of plain data, which starts with its size.
    unsafe {
        let mut args: T = std::mem::zeroed();
        (&raw mut args).cast::<usize>().write(size_of::<T>());
        args
    }
}

fn client() -> *mut tt_pjrt::client::Client {
    let mut args: Client_Create_Args = new();
    call("Client_Create", &mut args).unwrap();
    args.client
}

fn buffer(data: *const u8, dims: &[i64], strides: &[i64], semantics: i32) -> Client_BufferFromHostBuffer_Args {
    let mut args: Client_BufferFromHostBuffer_Args = new();
    args.client = client();
    args.data = data.cast();
    args.element_type = ElementType::named("uint8").unwrap().code;
    (args.dims, args.num_dims) = (dims.as_ptr(), dims.len());
    (args.byte_strides, args.num_byte_strides) = (strides.as_ptr(), strides.len());
    args.host_buffer_semantics = semantics;
    call("Client_BufferFromHostBuffer", &mut args).unwrap();
    args
}

fn elements(buffer: *mut tt_pjrt::buffer::Buffer, count: usize) -> Vec<u8> {
    let mut to = vec![0; count];
    let mut args: Buffer_ToHostBuffer_Args = new();
    (args.src, args.dst, args.dst_size) = (buffer, to.as_mut_ptr().cast(), count);
    call("Buffer_ToHostBuffer", &mut args).unwrap();
    let mut event: Event_Destroy_Args = new();
    event.event = args.event;
    call("Event_Destroy", &mut event).unwrap();
    to
}

#[test]
fn unsupported_functions_return_their_own_name() {
    let mut args: Event_Error_Args = new();
    let (code, text) = call("Client_DmaMap", &mut args).unwrap_err();
    assert_eq!((code, text.as_str()), (12, "tt: PJRT_Client_DmaMap is not supported"));
}

#[test]
fn arrays_of_any_strides_arrive_dense() {
    let bytes: Vec<u8> = (0..24).collect();
    for semantics in [ONLY_DURING_CALL, IMMUTABLE_ZERO_COPY] {
        // Transposed, reversed, every second column, one row repeated.
        for (start, dims, strides, expected) in [
            (0, [3, 2], [1, 3], [0, 3, 1, 4, 2, 5]),
            (5, [2, 3], [-3, -1], [5, 4, 3, 2, 1, 0]),
            (1, [2, 3], [8, 2], [1, 3, 5, 9, 11, 13]),
            (4, [2, 3], [0, 1], [4, 5, 6, 4, 5, 6]),
        ] {
            let made = buffer(bytes[start..].as_ptr(), &dims, &strides, semantics);
            assert_eq!(elements(made.buffer, 6), expected, "{dims:?} {strides:?}");
        }
    }
}

#[test]
fn lent_memory_is_returned_when_the_buffer_is_deleted() {
    let bytes = [7_u8; 4];
    let made = buffer(bytes.as_ptr(), &[4], &[], IMMUTABLE_ZERO_COPY);
    let is_ready = || {
        let mut args: Event_IsReady_Args = new();
        args.event = made.done_with_host_buffer;
        call("Event_IsReady", &mut args).unwrap();
        args.is_ready
    };
    assert_eq!(is_ready(), 0);
    let mut args: Buffer_Args = new();
    args.buffer = made.buffer;
    call("Buffer_Delete", &mut args).unwrap();
    assert_eq!(is_ready(), 1);
    let mut args: Buffer_ToHostBuffer_Args = new();
    (args.src, args.dst, args.dst_size) = (made.buffer, [0_u8; 4].as_mut_ptr().cast::<c_void>(), 4);
    let (code, text) = call("Buffer_ToHostBuffer", &mut args).unwrap_err();
    assert_eq!(code, 9);
    assert!(text.contains("deleted"), "{text}");
}

#[test]
fn small_host_memory_is_refused() {
    let bytes = [7_u8; 4];
    let made = buffer(bytes.as_ptr(), &[4], &[], ONLY_DURING_CALL);
    let mut args: Buffer_ToHostBuffer_Args = new();
    (args.src, args.dst, args.dst_size) = (made.buffer, [0_u8; 4].as_mut_ptr().cast::<c_void>(), 3);
    let (code, text) = call("Buffer_ToHostBuffer", &mut args).unwrap_err();
    assert_eq!(code, 3);
    assert!(text.contains("3 bytes is too small"), "{text}");
}

fn compile(code: &[u8]) -> Result<*mut tt_pjrt::executable::LoadedExecutable, (i32, String)> {
    let mut program: Program = new();
    (program.code, program.code_size) = (code.as_ptr().cast_mut().cast(), code.len());
    (program.format, program.format_size) = (c"mlir".as_ptr(), 4);
    let mut args: Client_Compile_Args = new();
    (args.client, args.program) = (client(), &raw const program);
    call("Client_Compile", &mut args)?;
    Ok(args.executable)
}

#[test]
fn donated_arguments_are_deleted_unless_they_are_kept() {
    let loaded = compile(b"four").unwrap();
    for kept in [false, true] {
        let bytes = [7_u8; 4];
        let made = buffer(bytes.as_ptr(), &[4], &[], IMMUTABLE_ZERO_COPY);
        let mut options: ExecuteOptions = new();
        let indices = [0];
        if kept {
            (options.non_donatable_input_indices, options.num_non_donatable_input_indices) = (indices.as_ptr(), 1);
        }
        let arguments = [made.buffer];
        let lists = [arguments.as_ptr()];
        let mut outputs = [ptr::null_mut()];
        let output_lists = [outputs.as_mut_ptr()];
        let mut args: LoadedExecutable_Execute_Args = new();
        (args.executable, args.options) = (loaded, &raw mut options);
        (args.argument_lists, args.num_devices, args.num_args) = (lists.as_ptr(), 1, 1);
        args.output_lists = output_lists.as_ptr();
        call("LoadedExecutable_Execute", &mut args).unwrap();
        assert_eq!(elements(outputs[0], 4), [1, 2, 3, 4]);
        let mut deleted: Buffer_IsDeleted_Args = new();
        deleted.buffer = made.buffer;
        call("Buffer_IsDeleted", &mut deleted).unwrap();
        assert_eq!(deleted.is_deleted, u8::from(!kept));
    }
}

#[test]
fn results_arrive_in_the_order_of_the_host() {
    let loaded = compile(b"four").unwrap();
    let lists = [ptr::null()];
    let mut outputs = [ptr::null_mut()];
    let output_lists = [outputs.as_mut_ptr()];
    let mut args: LoadedExecutable_Execute_Args = new();
    (args.executable, args.argument_lists, args.num_devices) = (loaded, lists.as_ptr(), 1);
    args.output_lists = output_lists.as_ptr();
    call("LoadedExecutable_Execute", &mut args).unwrap();
    // The first dimension is the fastest.
    let order = [0_i64, 1];
    // SAFETY: zeros are a value of the layout.
    let mut layout: MemoryLayout = unsafe { std::mem::zeroed() };
    (layout.first, layout.first_size) = (order.as_ptr(), 2);
    let mut to = [0_u8; 4];
    let mut args: Buffer_ToHostBuffer_Args = new();
    (args.src, args.dst, args.dst_size) = (outputs[0], to.as_mut_ptr().cast(), 4);
    args.host_layout = &raw const layout;
    call("Buffer_ToHostBuffer", &mut args).unwrap();
    assert_eq!(to, [1, 3, 2, 4]);
}

#[test]
fn errors_and_panics_of_the_backend_are_returned() {
    assert_eq!(compile(b"five").unwrap_err(), (12, "no such program".into()));
    let loaded = compile(b"four").unwrap();
    let bytes = [7_u8; 4];
    let one = buffer(bytes.as_ptr(), &[4], &[], ONLY_DURING_CALL).buffer;
    let arguments = [one, one];
    let lists = [arguments.as_ptr()];
    let mut args: LoadedExecutable_Execute_Args = new();
    (args.executable, args.argument_lists) = (loaded, lists.as_ptr());
    (args.num_devices, args.num_args) = (1, 2);
    let (code, text) = call("LoadedExecutable_Execute", &mut args).unwrap_err();
    assert_eq!(code, 13);
    assert!(text.contains("PJRT_LoadedExecutable_Execute panicked: too many arguments"), "{text}");
}

#[test]
fn callers_of_other_versions_are_served() {
    // An older caller knows the first two statistics only; what follows in its memory stays.
    let mut devices: Client_Devices_Args = new();
    devices.client = client();
    call("Client_Devices", &mut devices).unwrap();
    let mut stats: Device_MemoryStats_Args = new();
    // SAFETY: the client has a device.
    stats.device = unsafe { (*devices.devices).load(std::sync::atomic::Ordering::Relaxed) };
    stats.struct_size = 32;
    stats.bytes_limit = 99;
    call("Device_MemoryStats", &mut stats).unwrap();
    assert_eq!((stats.bytes_in_use, stats.bytes_limit), (5, 99));
    stats.struct_size = size_of::<Device_MemoryStats_Args>();
    stats.peak_bytes_in_use_is_set = 0xff;
    call("Device_MemoryStats", &mut stats).unwrap();
    assert_eq!((stats.bytes_limit, stats.bytes_limit_is_set, stats.peak_bytes_in_use_is_set), (7, 1, 0));
    stats.struct_size = 4;
    let (_, text) = call("Device_MemoryStats", &mut stats).unwrap_err();
    assert!(text.contains("struct_size is 4"), "{text}");
}

#[test]
fn devices_that_are_not_there_are_named() {
    let mut args: Client_LookupDevice_Args = new();
    (args.client, args.id) = (client(), 1);
    let (code, text) = call("Client_LookupDevice", &mut args).unwrap_err();
    assert_eq!((code, text.as_str()), (3, "2 devices asked, 1 present (TTNN_JAX_DEVICES)"));
}
