"""Parameters of single torch modules in the operators' form."""

from __future__ import annotations

from typing import Any, Final

import torch

from ttnn.base.enums import DataType, Layout
from ttnn.base.exceptions import ParameterError
from ttnn.model_preprocessing.parameters import ParameterDict, make_parameter_dict
from ttnn.tensor.conversion import from_torch
from ttnn.tensor.tensor import Tensor

torch_dtype_to_ttnn_dtype: Final = {
    torch.uint8: DataType.UINT8,
    torch.int8: DataType.INT8,
    torch.int16: DataType.UINT16,
    torch.int32: DataType.INT32,
    torch.int64: DataType.UINT32,
    torch.bfloat16: DataType.BFLOAT16,
    torch.float32: DataType.BFLOAT16,
    torch.float64: DataType.BFLOAT16,
}
"""Data type of parameters without a rule of their own."""


def as_tensor(parameter: Any, dtype: DataType, **options: Any) -> Tensor:
    """Return a torch parameter as a tensor on the host."""
    tensor: Tensor = from_torch(parameter.detach(), dtype=dtype, **options)
    return tensor


def preprocess_linear_weight(
    weight: torch.Tensor, *, dtype: DataType, layout: Layout = Layout.TILE, weights_mesh_mapper: Any = None
) -> Tensor:
    """Return a linear layer's transposed weight: [inputs, outputs]."""
    return as_tensor(weight.T.contiguous(), dtype, layout=layout, mesh_mapper=weights_mesh_mapper)


def preprocess_linear_bias(
    bias: torch.Tensor, *, dtype: DataType, layout: Layout = Layout.TILE, weights_mesh_mapper: Any = None
) -> Tensor:
    """Return a linear layer's bias as a row: [1, n]."""
    return as_tensor(bias.reshape(1, -1), dtype, layout=layout, mesh_mapper=weights_mesh_mapper)


def preprocess_layernorm_parameter(parameter: torch.Tensor, *, dtype: DataType, layout: Layout = Layout.TILE) -> Tensor:
    """Return a layer norm's weight or bias as a row: [1, n]."""
    return as_tensor(parameter.reshape(1, -1), dtype, layout=layout)


def preprocess_embedding_weight(weight: torch.Tensor, *, dtype: DataType) -> Tensor:
    """Return the table of an embedding, row-major and of the same shape."""
    return as_tensor(weight, dtype)


def fold_batch_norm2d_into_conv2d(conv: Any, bn: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a convolution's weight and bias with folded batch norm.

    Raises:
        ParameterError: the batch norm has no running mean and variance.
    """
    if not bn.track_running_stats:
        raise ParameterError(
            "fold_batch_norm2d_into_conv2d: bn has no running mean and variance; it needs track_running_stats=True.",
            vendor="BatchNorm2d must have track_running_stats=True to be folded into Conv2d",
        )
    factor = bn.weight / torch.sqrt(bn.running_var + bn.eps)
    weight = conv.weight * factor[:, None, None, None]
    if conv.bias is None:
        return weight, bn.bias - bn.running_mean * factor
    return weight, (conv.bias - bn.running_mean) * factor + bn.bias


def default_preprocessor(model: Any, name: str, ttnn_module_args: Any) -> ParameterDict:
    """Return Linear, LayerNorm or Embedding parameters in bfloat16; else nothing.

    Args:
        model: The torch module.
        name: Its full name; not used.
        ttnn_module_args: Its arguments; not used.
    """
    parameters: dict[str, Tensor] = {}
    if isinstance(model, torch.nn.Embedding):
        parameters["weight"] = preprocess_embedding_weight(model.weight, dtype=DataType.BFLOAT16)
    elif isinstance(model, torch.nn.Linear):
        parameters["weight"] = preprocess_linear_weight(model.weight, dtype=DataType.BFLOAT16)
        if model.bias is not None:
            parameters["bias"] = preprocess_linear_bias(model.bias, dtype=DataType.BFLOAT16)
    elif isinstance(model, torch.nn.LayerNorm):
        for kind in ("weight", "bias"):
            if getattr(model, kind) is not None:
                parameters[kind] = preprocess_layernorm_parameter(getattr(model, kind), dtype=DataType.BFLOAT16)
    return make_parameter_dict(parameters)
