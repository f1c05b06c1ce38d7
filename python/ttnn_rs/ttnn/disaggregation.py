"""Official module: caches of keys and values that several hosts share."""

from __future__ import annotations

from ttnn.base.refused import SEVERAL_CHIPS, refusing

globals().update(
    refusing(
        "ttnn.disaggregation",
        "ChunkCompression DeviceGroup DeviceGroupIndex KvCacheLocation KvChunkAddressTable KvChunkAddressTableConfig "
        "KvChunkTensorType export_to_protobuf_file get_or_build_kv_chunk_table import_from_protobuf "
        "import_from_protobuf_file read_dram_umd tensor_from_bf16_bytes tensor_from_bfp8_bytes",
        SEVERAL_CHIPS,
    )
)
