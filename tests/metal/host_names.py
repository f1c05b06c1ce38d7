"""TT-Metalium host API names, in C++ and Python spelling."""

from __future__ import annotations

import re

METAL = """
CreateDevice CreateDeviceMinimal CloseDevice CreateProgram Program CreateKernel CreateKernelFromString
CreateCircularBuffer GetCircularBufferConfig UpdateCircularBufferTotalSize UpdateCircularBufferPageSize
UpdateDynamicCircularBufferAddress UpdateDynamicCircularBufferAddressAndTotalSize CreateSemaphore CreateGlobalSemaphore
CreateBuffer DeallocateBuffer AssignGlobalBufferToProgram SetRuntimeArgs SetCommonRuntimeArgs GetRuntimeArgs
GetCommonRuntimeArgs EnqueueWriteBuffer EnqueueReadBuffer EnqueueProgram Finish EnqueueRecordEvent EnqueueWaitForEvent
EventSynchronize EventQuery WriteToBuffer ReadFromBuffer LaunchProgram CompileProgram WriteToDeviceL1 ReadFromDeviceL1
WriteToDeviceDRAMChannel ReadFromDeviceDRAMChannel BeginTraceCapture EndTraceCapture ReplayTrace ReleaseTrace
IsGalaxyCluster SetRootDir Synchronize EnqueueWriteMeshBuffer EnqueueReadMeshBuffer WriteShard ReadShard
EnqueueMeshWorkload CreateGlobalCircularBuffer MakeProgramFromSpec MakeMeshWorkloadFromSpec MakeMeshWorkloadFromSpecs
SetProgramRunArgs UpdateProgramRunArgs UpdateTensorArgs ProducerOf ConsumerOf StridedConsumerOf AllConsumerOf
BlockedConsumerOf
"""
"""Functions of `ttnn.metal`."""

SPELLED_AS_IN_CPP = """
GetNumAvailableDevices GetNumPCIeDevices GetPCIeDeviceID split_work_to_cores
"""

TYPES = """
CoreCoord CoreRange CoreRangeSet Program Buffer InterleavedBufferConfig ShardedBufferConfig ShardSpecBuffer
CircularBufferConfig DataMovementConfig ReaderDataMovementConfig WriterDataMovementConfig ComputeConfig EthernetConfig
DataFormat NOC NOC_0 NOC_1 MathFidelity UnpackToDestMode DataMovementProcessor BufferType CommandQueue Event MeshBuffer
MeshWorkload MeshCommandQueue MeshEvent ReplicatedBufferConfig DeviceLocalBufferConfig MeshDeviceConfig
MeshCoordinateRange TensorAccessorArgs GlobalSemaphore GlobalCircularBuffer KernelBuildOptLevel ProgramSpec KernelSpec
DataflowBufferSpec SemaphoreSpec ScratchpadSpec TensorParameter WorkUnitSpec DFBBinding SemaphoreBinding
ScratchpadBinding TensorBinding DFBEndpointType DFBAccessPattern KernelAdvancedOptions DFBAdvancedOptions
SemaphoreAdvancedOptions TensorSpecRelaxations DataMovementHardwareConfig ComputeHardwareConfig UnpackMode Precision
ProgramRunArgs AdvancedKernelRunArgs TensorArgument NodeCoord NodeRange NodeRangeSet
"""

MESH_DEVICE = """
create create_unit_mesh close mesh_command_queue command_queue begin_mesh_trace end_mesh_trace replay_mesh_trace
release_mesh_trace create_sub_device_manager load_sub_device_manager remove_sub_device_manager
clear_loaded_sub_device_manager set_sub_device_stall_group reset_sub_device_stall_group
"""

QUEUE = "enqueue_record_event enqueue_record_event_to_host enqueue_wait_for_event finish"

MESH_BUFFER = """
create address size device_local_size page_size num_pages get_device_buffer deallocate
"""

CIRCULAR_BUFFER_CONFIG = """
set_page_size set_data_format set_tile_dims set_total_size set_globally_allocated_address index remote_index
"""

TTNN = """
ProgramDescriptor MeshProgramDescriptor KernelDescriptor CBDescriptor CBFormatDescriptor SemaphoreDescriptor
TileDescriptor FaceGeometry ReaderConfigDescriptor WriterConfigDescriptor DataMovementConfigDescriptor
ComputeConfigDescriptor RuntimeArgs TensorAccessorArgs generic_op merge_program_descriptors
compute_program_descriptor_hash cb_descriptor_from_sharded_tensor get_cb_address create_global_semaphore
get_global_semaphore_address reset_global_semaphore_value create_global_circular_buffer record_event wait_for_event
event_synchronize begin_trace_capture end_trace_capture execute_trace release_trace is_trace_capture_active
get_current_command_queue_id_for_thread command_queue SubDevice SubDeviceId SubDeviceManagerId MeshTraceId MeshEvent
MeshShape MeshCoordinate MeshCoordinateRange MeshCoordinateRangeSet split_work_to_cores GlobalSemaphore
synchronize_device open_mesh_device close_mesh_device
"""
"""Names of the Python package around programs."""


def snake_case(name: str) -> str:
    """Return a C++ name in Python's spelling."""
    words = re.findall(r"DRAM|L1|[A-Z][a-z]*", name)
    return "_".join(word.lower() for word in words)
