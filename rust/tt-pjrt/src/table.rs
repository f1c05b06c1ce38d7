//! The table of functions, in the order of the interface.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::AtomicPtr;

use crate::abi::{Api, FUNCTIONS, Function, MAJOR, MINOR, Version};
use crate::entry;
use crate::error::Error;
use crate::failure::Failure;
use crate::{buffer, client, error, event, executable};

macro_rules! table {
    ($($name:ident $(= $function:path)?;)*) => {
        /// Names of the functions.
        pub const NAMES: [&str; FUNCTIONS] = [$(concat!("PJRT_", stringify!($name))),*];

        const TABLE: [Function; FUNCTIONS] = [$(table!(@function $name $($function)?)),*];
    };
    (@function $name:ident) => {{
        unsafe extern "C" fn refuse(_: *mut c_void) -> *mut Error {
            Error::of(Failure::unimplemented(concat!("tt: PJRT_", stringify!($name), " is not supported")))
        }
        refuse as Function
    }};
    (@function $name:ident $function:path) => {{
        unsafe extern "C" fn run(args: *mut c_void) -> *mut Error {
            // SAFETY: the host program calls with the structure of this function.
            unsafe { entry::call(args, concat!("PJRT_", stringify!($name)), $function) }
        }
        run as Function
    }};
}

/// The table that the host program gets.
pub static API: Api = Api {
    struct_size: size_of::<Api>(),
    extension_start: AtomicPtr::new(ptr::null_mut()),
    version: Version {
        struct_size: size_of::<Version>(),
        extension_start: AtomicPtr::new(ptr::null_mut()),
        major: MAJOR,
        minor: MINOR,
    },
    functions: TABLE,
};

table! {
    Error_Destroy = error::destroy;
    Error_Message = error::message;
    Error_GetCode = error::code;
    Plugin_Initialize = client::initialize;
    Plugin_Attributes = client::attributes;
    Event_Destroy = event::destroy;
    Event_IsReady = event::is_ready;
    Event_Error = event::error;
    Event_Await = event::wait;
    Event_OnReady = event::on_ready;
    Client_Create = client::create;
    Client_Destroy = client::destroy;
    Client_PlatformName = client::platform_name;
    Client_ProcessIndex = client::process_index;
    Client_PlatformVersion = client::platform_version;
    Client_Devices = client::devices;
    Client_AddressableDevices = client::devices;
    Client_LookupDevice = client::lookup_device;
    Client_LookupAddressableDevice = client::lookup_device;
    Client_AddressableMemories = client::memories;
    Client_Compile = executable::compile;
    Client_DefaultDeviceAssignment = client::default_assignment;
    Client_BufferFromHostBuffer = buffer::from_host_buffer;
    DeviceDescription_Id = client::device_id;
    DeviceDescription_ProcessIndex = client::device_process;
    DeviceDescription_Attributes = client::description_attributes;
    DeviceDescription_Kind = client::device_kind;
    DeviceDescription_DebugString = client::device_debug;
    DeviceDescription_ToString = client::device_text;
    Device_GetDescription = client::device_description;
    Device_IsAddressable = client::device_addressable;
    Device_LocalHardwareId = client::device_id;
    Device_AddressableMemories = client::device_memories;
    Device_DefaultMemory = client::device_memory;
    Device_MemoryStats = client::memory_stats;
    Memory_Id = client::memory_id;
    Memory_Kind = client::memory_kind;
    Memory_DebugString = client::memory_text;
    Memory_ToString = client::memory_text;
    Memory_AddressableByDevices = client::memory_devices;
    Executable_Destroy = executable::destroy;
    Executable_Name = executable::name;
    Executable_NumReplicas = executable::replicas;
    Executable_NumPartitions = executable::partitions;
    Executable_NumOutputs = executable::outputs;
    Executable_SizeOfGeneratedCodeInBytes = executable::code_size;
    Executable_GetCostAnalysis = executable::cost_analysis;
    Executable_OutputMemoryKinds = executable::output_memories;
    Executable_OptimizedProgram = executable::optimized_program;
    Executable_Serialize = executable::serialize;
    LoadedExecutable_Destroy = executable::destroy_loaded;
    LoadedExecutable_GetExecutable = executable::get_executable;
    LoadedExecutable_AddressableDevices = executable::loaded_devices;
    LoadedExecutable_Delete = executable::delete;
    LoadedExecutable_IsDeleted = executable::is_deleted;
    LoadedExecutable_Execute = executable::execute;
    Executable_DeserializeAndLoad = executable::deserialize;
    LoadedExecutable_Fingerprint = executable::loaded_fingerprint;
    Buffer_Destroy = buffer::destroy;
    Buffer_ElementType = buffer::element_type;
    Buffer_Dimensions = buffer::dimensions;
    Buffer_UnpaddedDimensions = buffer::dimensions;
    Buffer_DynamicDimensionIndices = buffer::dynamic_dimensions;
    Buffer_GetMemoryLayout;
    Buffer_OnDeviceSizeInBytes = buffer::size;
    Buffer_Device = buffer::device;
    Buffer_Memory = buffer::memory;
    Buffer_Delete = buffer::delete;
    Buffer_IsDeleted = buffer::is_deleted;
    Buffer_CopyToDevice = buffer::copy_to_device;
    Buffer_ToHostBuffer = buffer::to_host_buffer;
    Buffer_IsOnCpu = buffer::is_on_cpu;
    Buffer_ReadyEvent = buffer::ready_event;
    Buffer_UnsafePointer;
    Buffer_IncreaseExternalReferenceCount;
    Buffer_DecreaseExternalReferenceCount;
    Buffer_OpaqueDeviceMemoryDataPointer;
    CopyToDeviceStream_Destroy;
    CopyToDeviceStream_AddChunk;
    CopyToDeviceStream_TotalBytes;
    CopyToDeviceStream_GranuleSize;
    CopyToDeviceStream_CurrentBytes;
    TopologyDescription_Create;
    TopologyDescription_Destroy = client::topology_destroy;
    TopologyDescription_PlatformName = client::topology_name;
    TopologyDescription_PlatformVersion = client::topology_version;
    TopologyDescription_GetDeviceDescriptions = client::topology_devices;
    TopologyDescription_Serialize;
    TopologyDescription_Attributes = client::topology_attributes;
    Compile;
    Executable_OutputElementTypes = executable::output_types;
    Executable_OutputDimensions = executable::output_dimensions;
    Buffer_CopyToMemory = buffer::copy_to_memory;
    Client_CreateViewOfDeviceBuffer;
    Executable_Fingerprint = executable::fingerprint;
    Client_TopologyDescription = client::topology;
    Executable_GetCompiledMemoryStats = executable::memory_stats;
    Memory_Kind_Id = client::memory_kind_id;
    ExecuteContext_Create;
    ExecuteContext_Destroy;
    Buffer_CopyRawToHost;
    AsyncHostToDeviceTransferManager_Destroy;
    AsyncHostToDeviceTransferManager_TransferData;
    Client_CreateBuffersForAsyncHostToDevice;
    AsyncHostToDeviceTransferManager_RetrieveBuffer;
    AsyncHostToDeviceTransferManager_Device;
    AsyncHostToDeviceTransferManager_BufferCount;
    AsyncHostToDeviceTransferManager_BufferSize;
    AsyncHostToDeviceTransferManager_SetBufferError;
    AsyncHostToDeviceTransferManager_AddMetadata;
    Client_DmaMap;
    Client_DmaUnmap;
    Client_CreateUninitializedBuffer = buffer::uninitialized;
    Client_UpdateGlobalProcessInfo;
    TopologyDescription_Deserialize;
    Client_CreateAliasBuffer;
    Client_FulfillAliasBuffer;
    LoadedExecutable_GetDeviceAssignment = executable::device_assignment;
    Client_CreateErrorBuffer;
    AsyncHostToDeviceTransferManager_TransferLiteral;
    Buffer_CopyRawToHostFuture;
    Device_PoisonExecution;
    Device_CreateAsyncTrackingEvent;
    AsyncTrackingEvent_Destroy;
    Executable_GetCompileOptions;
    Buffer_DonateWithControlDependency;
    Event_Create;
    Event_Set;
    Device_GetAttributes = client::device_attributes;
    Client_Load;
    LoadedExecutable_AddressableDeviceLogicalIds = executable::logical_ids;
    Buffer_Bitcast;
    Error_ForEachPayload = error::for_each_payload;
    TopologyDescription_Fingerprint;
    Executable_ParameterMemoryKinds;
    Device_ClearMemoryStats;
    TopologyDescription_MakeCanonicalShapeForMemorySpace;
    TopologyDescription_GetMemorySpaceKindIds;
}
