//! Structures of the PJRT C interface, version 0.114.
//!
//! Names, order and types of the fields are those of `OpenXLA`'s public header; only what this plugin reads or writes is
//! declared. Every structure starts with its size and a list of extensions, so that callers of other versions can be
//! served: see [`crate::entry`].
#![allow(missing_docs, reason = "fields carry the names of the C interface")]

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::AtomicPtr;

use crate::buffer::Buffer;
use crate::client::{Client, Device, Memory};
use crate::error::Error;
use crate::event::Event;
use crate::executable::{Executable, LoadedExecutable};

/// Version of the interface.
pub const MAJOR: c_int = 0;
/// Version of the interface.
pub const MINOR: c_int = 114;
/// Functions of the table.
pub const FUNCTIONS: usize = 138;

/// A function of the table.
///
/// Those that return nothing in C have this type too: their caller ignores the register.
pub type Function = unsafe extern "C" fn(*mut c_void) -> *mut Error;

/// The table that the host program gets.
#[repr(C)]
#[derive(Debug)]
pub struct Api {
    pub struct_size: usize,
    pub extension_start: AtomicPtr<c_void>,
    pub version: Version,
    pub functions: [Function; FUNCTIONS],
}

/// Version inside the table.
#[repr(C)]
#[derive(Debug)]
pub struct Version {
    pub struct_size: usize,
    pub extension_start: AtomicPtr<c_void>,
    pub major: c_int,
    pub minor: c_int,
}

/// Structures that are plain C data.
///
/// # Safety
/// Any bytes that C code writes into the fields, all zero ones included, are values of the type.
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($name:ident { $($field:ident: $type:ty),* $(,)? })*) => {$(
        #[doc = concat!("`PJRT_", stringify!($name), "`.")]
        #[repr(C)]
        #[derive(Debug, Clone, Copy)]
        pub struct $name {
            pub struct_size: usize,
            pub extension_start: *mut c_void,
            $(pub $field: $type,)*
        }
        // SAFETY: integers, raw pointers and optional function pointers; a C bool is declared as `u8`, since an output may hold anything before the call.
        unsafe impl Plain for $name {}
    )*};
}

/// Reader of an error's details.
pub type PayloadVisitor = Option<unsafe extern "C" fn(*const c_char, usize, *const c_char, usize, *mut c_void)>;
/// Function to call when an event is ready.
pub type ReadyCallback = Option<unsafe extern "C" fn(*mut Error, *mut c_void)>;
/// Destructor of an opaque object.
pub type Deleter = Option<unsafe extern "C" fn(*mut c_void)>;

plain! {
    Error_Destroy_Args { error: *mut Error }
    Error_Message_Args { error: *const Error, message: *const c_char, message_size: usize }
    Error_GetCode_Args { error: *const Error, code: c_int }
    Error_ForEachPayload_Args { error: *const Error, visitor: PayloadVisitor, user_arg: *mut c_void }
    NamedValue {
        name: *const c_char, name_size: usize, kind: c_int, value: *const c_void, value_size: usize,
    }
    Plugin_Initialize_Args {}
    Plugin_Attributes_Args { attributes: *const NamedValue, num_attributes: usize }
    Event_Destroy_Args { event: *mut Event }
    Event_IsReady_Args { event: *mut Event, is_ready: u8 }
    Event_Error_Args { event: *mut Event }
    Event_Await_Args { event: *mut Event }
    Event_OnReady_Args { event: *mut Event, callback: ReadyCallback, user_arg: *mut c_void }
    Client_Create_Args {
        create_options: *const NamedValue, num_options: usize,
        kv_get_callback: *mut c_void, kv_get_user_arg: *mut c_void,
        kv_put_callback: *mut c_void, kv_put_user_arg: *mut c_void,
        client: *mut Client,
        kv_try_get_callback: *mut c_void, kv_try_get_user_arg: *mut c_void,
    }
    Client_Destroy_Args { client: *mut Client }
    Client_PlatformName_Args { client: *mut Client, platform_name: *const c_char, platform_name_size: usize }
    Client_ProcessIndex_Args { client: *mut Client, process_index: c_int }
    Client_PlatformVersion_Args { client: *mut Client, platform_version: *const c_char, platform_version_size: usize }
    Client_TopologyDescription_Args { client: *mut Client, topology: *const Client }
    Client_Devices_Args { client: *mut Client, devices: *const AtomicPtr<Device>, num_devices: usize }
    Client_LookupDevice_Args { client: *mut Client, id: c_int, device: *mut Device }
    Client_AddressableMemories_Args {
        client: *mut Client, addressable_memories: *const AtomicPtr<Memory>, num_addressable_memories: usize,
    }
    Program { code: *mut c_char, code_size: usize, format: *const c_char, format_size: usize }
    Client_Compile_Args {
        client: *mut Client, program: *const Program,
        compile_options: *const c_char, compile_options_size: usize,
        executable: *mut LoadedExecutable,
    }
    Client_DefaultDeviceAssignment_Args {
        client: *mut Client, num_replicas: c_int, num_partitions: c_int,
        default_assignment_size: usize, default_assignment: *mut c_int,
    }
    Client_BufferFromHostBuffer_Args {
        client: *mut Client, data: *const c_void, element_type: c_int,
        dims: *const i64, num_dims: usize, byte_strides: *const i64, num_byte_strides: usize,
        host_buffer_semantics: c_int, device: *mut Device, memory: *mut Memory, device_layout: *mut c_void,
        done_with_host_buffer: *mut Event, buffer: *mut Buffer,
    }
    Client_CreateUninitializedBuffer_Args {
        client: *mut Client, shape_dims: *const i64, shape_num_dims: usize, shape_element_type: c_int,
        shape_layout: *mut c_void, device: *mut Device, memory: *mut Memory, buffer: *mut Buffer,
    }
    DeviceDescription_Id_Args { device_description: *mut Device, id: c_int }
    DeviceDescription_Attributes_Args {
        device_description: *mut Device, num_attributes: usize, attributes: *const NamedValue,
    }
    DeviceDescription_Kind_Args { device_description: *mut Device, device_kind: *const c_char, device_kind_size: usize }
    Device_GetDescription_Args { device: *mut Device, device_description: *const Device }
    Device_IsAddressable_Args { device: *mut Device, is_addressable: u8 }
    Device_AddressableMemories_Args { device: *mut Device, memories: *const AtomicPtr<Memory>, num_memories: usize }
    Device_DefaultMemory_Args { device: *mut Device, memory: *mut Memory }
    Device_MemoryStats_Args {
        device: *mut Device, bytes_in_use: i64,
        peak_bytes_in_use: i64, peak_bytes_in_use_is_set: u8,
        num_allocs: i64, num_allocs_is_set: u8,
        largest_alloc_size: i64, largest_alloc_size_is_set: u8,
        bytes_limit: i64, bytes_limit_is_set: u8,
        bytes_reserved: i64, bytes_reserved_is_set: u8,
        peak_bytes_reserved: i64, peak_bytes_reserved_is_set: u8,
        bytes_reservable_limit: i64, bytes_reservable_limit_is_set: u8,
        largest_free_block_bytes: i64, largest_free_block_bytes_is_set: u8,
        pool_bytes: i64, pool_bytes_is_set: u8,
        peak_pool_bytes: i64, peak_pool_bytes_is_set: u8,
        peak_allocated_bytes: i64, peak_allocated_bytes_is_set: u8,
    }
    Device_GetAttributes_Args {
        device: *mut Device, attributes: *const NamedValue, num_attributes: usize,
        device_attributes: *mut c_void, attributes_deleter: Deleter,
    }
    Memory_Id_Args { memory: *mut Memory, id: c_int }
    Memory_Kind_Args { memory: *mut Memory, kind: *const c_char, kind_size: usize }
    Memory_AddressableByDevices_Args { memory: *mut Memory, devices: *const AtomicPtr<Device>, num_devices: usize }
    Executable_Args { executable: *mut Executable }
    Executable_Text_Args { executable: *mut Executable, text: *const c_char, text_size: usize }
    Executable_Count_Args { executable: *mut Executable, count: usize }
    Executable_GetCostAnalysis_Args {
        executable: *mut Executable, num_properties: usize, properties: *const NamedValue,
    }
    Executable_GetCompiledMemoryStats_Args {
        executable: *mut Executable, generated_code_size_in_bytes: i64, argument_size_in_bytes: i64,
        output_size_in_bytes: i64, alias_size_in_bytes: i64, temp_size_in_bytes: i64,
        host_sizes: [i64; 5], peak_memory_in_bytes: i64, total_size_in_bytes: i64,
        total_allocation_bytes: i64, indefinite_allocations: i64, peak_unpadded_heap_bytes: i64,
    }
    Executable_OutputElementTypes_Args {
        executable: *mut Executable, output_types: *const c_int, num_output_types: usize,
    }
    Executable_OutputDimensions_Args {
        executable: *mut Executable, num_outputs: usize, dims: *const i64, dim_sizes: *const usize,
    }
    Executable_OutputMemoryKinds_Args {
        executable: *mut Executable, num_outputs: usize,
        memory_kinds: *const AtomicPtr<c_char>, memory_kind_sizes: *const usize,
    }
    Executable_OptimizedProgram_Args { executable: *mut Executable, program: *mut Program }
    Executable_Serialize_Args {
        executable: *const Executable, serialized_bytes: *const c_char, serialized_bytes_size: usize,
        owner: *mut c_void, deleter: Deleter,
    }
    Executable_DeserializeAndLoad_Args {
        client: *mut Client, serialized_executable: *const c_char, serialized_executable_size: usize,
        loaded_executable: *mut LoadedExecutable,
        overridden_serialized_compile_options: *const c_char, overridden_serialized_compile_options_size: usize,
    }
    LoadedExecutable_Args { executable: *mut LoadedExecutable }
    LoadedExecutable_GetExecutable_Args { loaded_executable: *mut LoadedExecutable, executable: *mut Executable }
    LoadedExecutable_AddressableDevices_Args {
        executable: *mut LoadedExecutable, addressable_devices: *const AtomicPtr<Device>,
        num_addressable_devices: usize,
    }
    LoadedExecutable_AddressableDeviceLogicalIds_Args {
        executable: *mut LoadedExecutable, ids: *const LogicalDeviceIds, num_ids: usize,
    }
    LoadedExecutable_GetDeviceAssignment_Args {
        executable: *mut LoadedExecutable, serialized_bytes: *const c_char, serialized_bytes_size: usize,
        owner: *mut c_void, deleter: Deleter,
    }
    LoadedExecutable_IsDeleted_Args { executable: *mut LoadedExecutable, is_deleted: u8 }
    LoadedExecutable_Fingerprint_Args {
        executable: *mut LoadedExecutable, executable_fingerprint: *const c_char, executable_fingerprint_size: usize,
    }
    ExecuteOptions {
        send_callbacks: *mut c_void, recv_callbacks: *mut c_void, num_send_ops: usize, num_recv_ops: usize,
        launch_id: c_int, non_donatable_input_indices: *const i64, num_non_donatable_input_indices: usize,
    }
    LoadedExecutable_Execute_Args {
        executable: *mut LoadedExecutable, options: *mut ExecuteOptions,
        argument_lists: *const *const *mut Buffer, num_devices: usize, num_args: usize,
        output_lists: *const *mut *mut Buffer, device_complete_events: *mut *mut Event,
        execute_device: *mut Device,
    }
    Buffer_Args { buffer: *mut Buffer }
    Buffer_ElementType_Args { buffer: *mut Buffer, element_type: c_int }
    Buffer_Dimensions_Args { buffer: *mut Buffer, dims: *const i64, num_dims: usize }
    Buffer_DynamicDimensionIndices_Args {
        buffer: *mut Buffer, dynamic_dim_indices: *const usize, num_dynamic_dims: usize,
    }
    Buffer_OnDeviceSizeInBytes_Args { buffer: *mut Buffer, on_device_size_in_bytes: usize }
    Buffer_Device_Args { buffer: *mut Buffer, device: *mut Device }
    Buffer_Memory_Args { buffer: *mut Buffer, memory: *mut Memory }
    Buffer_IsDeleted_Args { buffer: *mut Buffer, is_deleted: u8 }
    Buffer_IsOnCpu_Args { buffer: *mut Buffer, is_on_cpu: u8 }
    Buffer_CopyToDevice_Args { buffer: *mut Buffer, dst_device: *mut Device, dst_buffer: *mut Buffer }
    Buffer_CopyToMemory_Args { buffer: *mut Buffer, dst_memory: *mut Memory, dst_buffer: *mut Buffer }
    Buffer_ReadyEvent_Args { buffer: *mut Buffer, event: *mut Event }
    Buffer_ToHostBuffer_Args {
        src: *mut Buffer, host_layout: *const MemoryLayout, dst: *mut c_void, dst_size: usize, event: *mut Event,
    }
    Topology_Text_Args { topology: *const Client, text: *const c_char, text_size: usize }
    Topology_Args { topology: *const Client }
    TopologyDescription_GetDeviceDescriptions_Args {
        topology: *const Client, descriptions: *const AtomicPtr<Device>, num_descriptions: usize,
    }
    TopologyDescription_Attributes_Args {
        topology: *const Client, attributes: *const NamedValue, num_attributes: usize,
    }
}

/// Place of a device in the assignment of a program.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogicalDeviceIds {
    pub replica: c_int,
    pub partition: c_int,
}

/// Kind of [`MemoryLayout`]: order of dimensions, and tiles.
pub const LAYOUT_TILED: c_int = 0;
/// Kind of [`MemoryLayout`]: a stride in bytes for each dimension.
pub const LAYOUT_STRIDES: c_int = 1;

/// `PJRT_Buffer_MemoryLayout`.
///
/// It has a union of two structures, of which the first two fields agree:
/// `first` is `minor_to_major` of the tiled kind and `byte_strides` of the other, `first_size` its length.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MemoryLayout {
    pub struct_size: usize,
    pub extension_start: *mut c_void,
    pub inner_size: usize,
    pub inner_extension: *mut c_void,
    pub first: *const i64,
    pub first_size: usize,
    pub tile_dims: *const i64,
    pub tile_dim_sizes: *const usize,
    pub num_tiles: usize,
    pub kind: c_int,
}

/// `PJRT_NamedValue_Type` of a list of integers.
pub const VALUE_INTEGERS: c_int = 2;

/// Host memory is valid during the call only.
pub const ONLY_DURING_CALL: c_int = 0;
/// Host memory is valid until the event of the transfer.
pub const UNTIL_TRANSFER_COMPLETES: c_int = 1;
/// Host memory is valid as long as the buffer.
pub const IMMUTABLE_ZERO_COPY: c_int = 2;
