//! Sizes of structures, as in the public header of version 0.114.

use tt_pjrt::abi;
use tt_pjrt::table::{API, NAMES};

macro_rules! sizes {
    ($($name:ident $size:literal,)*) => {
        [$((stringify!($name), size_of::<abi::$name>(), $size)),*]
    };
}

#[test]
fn structures_have_the_sizes_of_the_header() {
    let sizes = sizes! {
        Error_Destroy_Args 24,
        Error_Message_Args 40,
        Error_GetCode_Args 32,
        Error_ForEachPayload_Args 40,
        NamedValue 56,
        Plugin_Initialize_Args 16,
        Plugin_Attributes_Args 32,
        Event_Destroy_Args 24,
        Event_IsReady_Args 32,
        Event_Error_Args 24,
        Event_Await_Args 24,
        Event_OnReady_Args 40,
        Client_Create_Args 88,
        Client_Destroy_Args 24,
        Client_PlatformName_Args 40,
        Client_ProcessIndex_Args 32,
        Client_PlatformVersion_Args 40,
        Client_TopologyDescription_Args 32,
        Client_Devices_Args 40,
        Client_LookupDevice_Args 40,
        Client_AddressableMemories_Args 40,
        Program 48,
        Client_Compile_Args 56,
        Client_DefaultDeviceAssignment_Args 48,
        Client_BufferFromHostBuffer_Args 120,
        Client_CreateUninitializedBuffer_Args 80,
        DeviceDescription_Id_Args 32,
        DeviceDescription_Attributes_Args 40,
        DeviceDescription_Kind_Args 40,
        Device_GetDescription_Args 32,
        Device_IsAddressable_Args 32,
        Device_AddressableMemories_Args 40,
        Device_DefaultMemory_Args 32,
        Device_MemoryStats_Args 208,
        Device_GetAttributes_Args 56,
        Memory_Id_Args 32,
        Memory_Kind_Args 40,
        Memory_AddressableByDevices_Args 40,
        Executable_GetCostAnalysis_Args 40,
        Executable_GetCompiledMemoryStats_Args 144,
        Executable_OutputElementTypes_Args 40,
        Executable_OutputDimensions_Args 48,
        Executable_OutputMemoryKinds_Args 48,
        Executable_OptimizedProgram_Args 32,
        Executable_Serialize_Args 56,
        LoadedExecutable_GetExecutable_Args 32,
        LoadedExecutable_AddressableDevices_Args 40,
        LoadedExecutable_AddressableDeviceLogicalIds_Args 40,
        LoadedExecutable_GetDeviceAssignment_Args 56,
        LoadedExecutable_IsDeleted_Args 32,
        LoadedExecutable_Fingerprint_Args 40,
        LoadedExecutable_Execute_Args 80,
        Buffer_ElementType_Args 32,
        Buffer_Dimensions_Args 40,
        Buffer_DynamicDimensionIndices_Args 40,
        Buffer_OnDeviceSizeInBytes_Args 32,
        Buffer_Device_Args 32,
        Buffer_Memory_Args 32,
        Buffer_IsDeleted_Args 32,
        Buffer_IsOnCpu_Args 32,
        Buffer_CopyToDevice_Args 40,
        Buffer_CopyToMemory_Args 40,
        Buffer_ReadyEvent_Args 32,
        Buffer_ToHostBuffer_Args 56,
        TopologyDescription_GetDeviceDescriptions_Args 40,
        TopologyDescription_Attributes_Args 40,
    };
    for (name, got, expected) in sizes {
        assert_eq!(got, expected, "PJRT_{name}");
    }
    assert_eq!((size_of::<abi::Api>(), size_of::<abi::MemoryLayout>()), (1144, 80));
}

#[test]
fn table_states_version_and_size() {
    assert_eq!(API.struct_size, 1144);
    assert_eq!((API.version.major, API.version.minor), (0, 114));
    assert_eq!(API.functions.len(), 138);
    assert_eq!((NAMES[0], NAMES[137]), ("PJRT_Error_Destroy", "PJRT_TopologyDescription_GetMemorySpaceKindIds"));
}
