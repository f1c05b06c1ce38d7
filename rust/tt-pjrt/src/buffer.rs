//! Buffers: tensors that the host program holds.
#![allow(clippy::unnecessary_wraps, clippy::wildcard_imports, reason = "functions of one form for many structures")]

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::abi::*;
use crate::backend::{Contents, Value};
use crate::client::{self, Client, Device};
use crate::event::{Event, Signal};
use crate::failure::{Code, Failure};
use crate::host::{self, HostMemory};
use crate::raw;
use crate::types::{ElementType, TensorType};

/// `PJRT_Buffer`.
#[derive(Debug)]
pub struct Buffer {
    client: Arc<Client>,
    device: AtomicPtr<Device>,
    tensor: TensorType,
    /// `None` once the buffer is deleted.
    contents: Mutex<Option<Arc<Contents>>>,
    deleted: AtomicBool,
}

impl Buffer {
    fn from_contents(client: Arc<Client>, device: *mut Device, contents: Arc<Contents>) -> *mut Self {
        let tensor = contents.tensor.clone();
        Box::into_raw(Box::new(Self {
            client,
            device: AtomicPtr::new(device),
            tensor,
            contents: Mutex::new(Some(contents)),
            deleted: AtomicBool::new(false),
        }))
    }

    /// Returns the handle of a result of a program.
    pub(crate) fn from_value(
        client: Arc<Client>,
        device: *mut Device,
        tensor: TensorType,
        value: Box<dyn Value>,
    ) -> *mut Self {
        let contents = Contents { tensor, host: None, value: OnceLock::from(value) };
        Self::from_contents(client, device, Arc::new(contents))
    }

    fn from_host(client: Arc<Client>, device: *mut Device, memory: HostMemory) -> *mut Self {
        let tensor = memory.tensor().clone();
        let contents = Contents { tensor, host: Some(Arc::new(memory)), value: OnceLock::new() };
        Self::from_contents(client, device, Arc::new(contents))
    }

    /// Returns the elements.
    ///
    /// # Errors
    /// The buffer is deleted.
    pub(crate) fn contents(&self) -> Result<Arc<Contents>, Failure> {
        let contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner).clone();
        contents.ok_or_else(|| {
            let sentence = "tt: the buffer is deleted or was donated to a program; keep a copy of what is used again";
            Failure::new(Code::FailedPrecondition, sentence)
        })
    }

    /// Ends the life of the elements as far as this buffer is concerned.
    pub(crate) fn delete(&self) {
        self.deleted.store(true, Ordering::Release);
        // Elements may be freed here, which must not happen under the lock.
        let contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(contents);
    }
}

pub(crate) fn from_host_buffer(args: &mut Client_BufferFromHostBuffer_Args) -> Result<(), Failure> {
    let client = raw::shared(args.client, "client")?;
    client.check_process()?;
    let device = client::place(&client, args.device, args.memory)?;
    let dims = raw::array(args.dims, args.num_dims).to_vec();
    let tensor = TensorType::new(ElementType::of(args.element_type)?, dims)?;
    let strides = match raw::array(args.byte_strides, args.num_byte_strides) {
        [] => tensor.dense_strides(),
        strides if strides.len() == tensor.dims.len() => strides.to_vec(),
        strides => {
            let (got, expected) = (strides.len(), tensor.dims.len());
            return Err(Failure::argument(format!("tt: a host buffer has {got} strides for {expected} dimensions")));
        }
    };
    if args.data.is_null() && tensor.bytes() > 0 {
        return Err(Failure::argument("tt: the address of a host buffer is null"));
    }
    let memory = if args.host_buffer_semantics == IMMUTABLE_ZERO_COPY {
        let signal = Arc::<Signal>::default();
        args.done_with_host_buffer = Event::of(Arc::clone(&signal));
        // SAFETY: the caller keeps the memory readable until the event is ready.
        unsafe { HostMemory::lent(tensor, args.data, strides, signal) }
    } else {
        args.done_with_host_buffer = Event::ready();
        // SAFETY: the caller's memory is readable during the call.
        unsafe { HostMemory::copied(tensor, args.data, &strides) }
    };
    args.buffer = Buffer::from_host(client, device, memory);
    Ok(())
}

/// Memory that the host program did not write holds zeros.
pub(crate) fn uninitialized(args: &mut Client_CreateUninitializedBuffer_Args) -> Result<(), Failure> {
    let client = raw::shared(args.client, "client")?;
    client.check_process()?;
    let device = client::place(&client, args.device, args.memory)?;
    let dims = raw::array(args.shape_dims, args.shape_num_dims).to_vec();
    let tensor = TensorType::new(ElementType::of(args.shape_element_type)?, dims)?;
    args.buffer = Buffer::from_host(client, device, HostMemory::zeros(tensor));
    Ok(())
}

pub(crate) fn destroy(args: &mut Buffer_Args) -> Result<(), Failure> {
    raw::destroy(args.buffer);
    Ok(())
}

pub(crate) fn element_type(args: &mut Buffer_ElementType_Args) -> Result<(), Failure> {
    args.element_type = raw::handle(args.buffer, "buffer")?.tensor.element.code;
    Ok(())
}

pub(crate) fn dimensions(args: &mut Buffer_Dimensions_Args) -> Result<(), Failure> {
    let dims = &raw::handle(args.buffer, "buffer")?.tensor.dims;
    (args.dims, args.num_dims) = (dims.as_ptr(), dims.len());
    Ok(())
}

/// Shapes are static.
pub(crate) fn dynamic_dimensions(args: &mut Buffer_DynamicDimensionIndices_Args) -> Result<(), Failure> {
    (args.dynamic_dim_indices, args.num_dynamic_dims) = (ptr::null(), 0);
    Ok(())
}

pub(crate) fn size(args: &mut Buffer_OnDeviceSizeInBytes_Args) -> Result<(), Failure> {
    args.on_device_size_in_bytes = raw::handle(args.buffer, "buffer")?.tensor.bytes();
    Ok(())
}

pub(crate) fn device(args: &mut Buffer_Device_Args) -> Result<(), Failure> {
    args.device = raw::handle(args.buffer, "buffer")?.device.load(Ordering::Relaxed);
    Ok(())
}

pub(crate) fn memory(args: &mut Buffer_Memory_Args) -> Result<(), Failure> {
    let device = raw::handle(args.buffer, "buffer")?.device.load(Ordering::Relaxed);
    args.memory = raw::handle(device, "device")?.memory();
    Ok(())
}

pub(crate) fn delete(args: &mut Buffer_Args) -> Result<(), Failure> {
    raw::handle(args.buffer, "buffer")?.delete();
    Ok(())
}

pub(crate) fn is_deleted(args: &mut Buffer_IsDeleted_Args) -> Result<(), Failure> {
    args.is_deleted = raw::handle(args.buffer, "buffer")?.deleted.load(Ordering::Acquire).into();
    Ok(())
}

pub(crate) fn is_on_cpu(args: &mut Buffer_IsOnCpu_Args) -> Result<(), Failure> {
    args.is_on_cpu = 0;
    Ok(())
}

pub(crate) fn ready_event(args: &mut Buffer_ReadyEvent_Args) -> Result<(), Failure> {
    raw::handle(args.buffer, "buffer")?;
    args.event = Event::ready();
    Ok(())
}

pub(crate) fn copy_to_device(args: &mut Buffer_CopyToDevice_Args) -> Result<(), Failure> {
    let buffer = raw::handle(args.buffer, "buffer")?;
    raw::handle(args.dst_device, "device")?;
    buffer.client.check_process()?;
    args.dst_buffer = Buffer::from_contents(Arc::clone(&buffer.client), args.dst_device, buffer.contents()?);
    Ok(())
}

pub(crate) fn copy_to_memory(args: &mut Buffer_CopyToMemory_Args) -> Result<(), Failure> {
    let buffer = raw::handle(args.buffer, "buffer")?;
    let device = raw::handle(args.dst_memory, "memory")?.device.load(Ordering::Relaxed);
    buffer.client.check_process()?;
    args.dst_buffer = Buffer::from_contents(Arc::clone(&buffer.client), device, buffer.contents()?);
    Ok(())
}

/// Returns the strides that the host program wants.
fn host_strides(tensor: &TensorType, layout: *const MemoryLayout) -> Result<Vec<i64>, Failure> {
    if layout.is_null() {
        return Ok(tensor.dense_strides());
    }
    let layout = raw::handle(layout, "layout")?;
    let numbers = raw::array(layout.first, layout.first_size);
    match layout.kind {
        LAYOUT_TILED if layout.num_tiles == 0 => tensor.ordered_strides(numbers),
        LAYOUT_STRIDES if numbers.len() == tensor.dims.len() => Ok(numbers.to_vec()),
        _ => Err(Failure::unimplemented("tt: buffers are not copied to tiled host memory")),
    }
}

/// Checks that an array with these strides lies within the memory of the host program.
fn check_room(tensor: &TensorType, strides: &[i64], room: usize) -> Result<(), Failure> {
    let mut end = tensor.element.bytes as i128;
    for (&dim, &stride) in tensor.dims.iter().zip(strides) {
        if dim == 0 {
            return Ok(());
        }
        end += i128::from(dim - 1) * i128::from(stride);
    }
    let fits = usize::try_from(end).is_ok_and(|end| end <= room) && strides.iter().all(|&stride| stride >= 0);
    let refuse = || Failure::argument(format!("tt: host memory of {room} bytes is too small for a buffer ({end})"));
    if fits { Ok(()) } else { Err(refuse()) }
}

/// Copies the elements before it returns: the caller may hold the interpreter lock while it waits for the event.
pub(crate) fn to_host_buffer(args: &mut Buffer_ToHostBuffer_Args) -> Result<(), Failure> {
    let buffer = raw::handle(args.src, "buffer")?;
    buffer.client.check_process()?;
    let contents = buffer.contents()?;
    let tensor = &contents.tensor;
    if args.dst.is_null() {
        args.dst_size = tensor.bytes();
        args.event = Event::ready();
        return Ok(());
    }
    let strides = host_strides(tensor, args.host_layout)?;
    check_room(tensor, &strides, args.dst_size)?;
    let to: *mut c_void = args.dst;
    if let Some(memory) = &contents.host {
        // SAFETY: the caller's memory has room, which was checked, and is its own.
        unsafe { memory.copy_to(to.cast(), &strides) };
    } else {
        let value = contents.value.get().ok_or_else(|| Failure::internal("tt: a buffer has no elements"))?;
        // SAFETY: the caller's memory has room, which was checked, and is its own.
        value.read(&mut |elements| unsafe { host::write_dense(tensor, elements, to.cast(), &strides) })?;
    }
    args.event = Event::ready();
    Ok(())
}
