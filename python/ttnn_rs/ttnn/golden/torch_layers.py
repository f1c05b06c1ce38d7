"""Torch layers, computed as by the official golden functions.

Products, a convolution, norms, softmax and heads.

Arguments of each function: the module torch, then the official arguments. Options that change no values are ignored.

Source: TT-NN, `ttnn/ttnn/operations` (`matmul.py`, `conv2d.py`, `normalization.py`, `transformer.py`, `unary.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

Function = Callable[..., Any]


def activated(torch: Any, functions: dict[str, Function], x: Any, activation: Any) -> Any:
    """Return an activation of a tensor, by name or type.

    The type may have parameters.

    Args:
        torch: The module.
        functions: Functions of one tensor by their names.
        x: The tensor.
        activation: "relu", "gelu_approx", `ttnn.UnaryOpType.RELU` or `ttnn.UnaryWithParam`; None returns `x`.
    """
    if activation is None:
        return x
    kind = getattr(activation, "op_type", activation)
    name = str(getattr(kind, "name", kind)).lower()
    if name == "gelu_approx":
        return functions["gelu"](torch, x, approximate="tanh")
    return functions[name.removesuffix("_approx")](torch, x, *getattr(activation, "params", ()))


def _fused(program_config: Any, activation: Any) -> Any:
    return getattr(program_config, "fused_activation", None) or activation


def products(functions: dict[str, Function]) -> dict[str, Function]:
    """Return products and the convolution, whose activations are among `functions`."""

    def matmul(
        torch: Any,
        a: Any,
        b: Any,
        transpose_a: bool = False,
        transpose_b: bool = False,
        *_args: Any,
        program_config: Any = None,
        activation: Any = None,
        bias: Any = None,
        **_: Any,
    ) -> Any:
        left = a.transpose(-1, -2) if transpose_a else a
        right = b.transpose(-1, -2) if transpose_b else b
        result = torch.matmul(left, right.to(left.dtype))
        if bias is not None:
            # A tile of rows has the bias in the first.
            result = result + (bias[..., :1, :] if bias.ndim > 1 and bias.shape[-2] != result.shape[-2] else bias)
        result = activated(torch, functions, result, _fused(program_config, activation))
        while result.ndim > a.ndim:
            result = result.squeeze(0)
        return result

    def plain(torch: Any, *args: Any, bias: Any = None, **options: Any) -> Any:
        return matmul(torch, *args, **options)

    def conv2d(
        torch: Any,
        x: Any,
        weight: Any,
        *_args: Any,
        in_channels: int,
        batch_size: int,
        input_height: int,
        input_width: int,
        padding: Any = (0, 0),
        stride: Any = (1, 1),
        dilation: Any = (1, 1),
        groups: int = 1,
        bias_tensor: Any = None,
        conv_config: Any = None,
        return_output_dim: bool = False,
        return_weights_and_bias: bool = False,
        **_: Any,
    ) -> Any:
        """Return the float32 convolution of [1, 1, N * H * W, C].

        With [O, C / groups, kh, kw].
        """
        images = x.reshape(batch_size, input_height, input_width, -1)[..., :in_channels].permute(0, 3, 1, 2)
        sides = (padding, padding) if isinstance(padding, int) else tuple(padding)
        top, bottom, left, right = sides if len(sides) == 4 else (sides[0], sides[0], sides[1], sides[1])
        padded = torch.nn.functional.pad(images.float(), (left, right, top, bottom))
        bias = None if bias_tensor is None else bias_tensor.reshape(-1).float()
        options = {"stride": stride, "dilation": dilation, "groups": groups}
        result = torch.nn.functional.conv2d(padded, weight.float(), bias, **options)
        result = activated(torch, functions, result, getattr(conv_config, "activation", None))
        result = result.permute(0, 2, 3, 1).reshape(1, 1, -1, result.shape[1])
        return [result] if return_output_dim or return_weights_and_bias else result

    return {"matmul": plain, "linear": matmul, "addmm": _addmm, "conv2d": conv2d}


def _addmm(torch: Any, x: Any, a: Any, b: Any, alpha: float = 1.0, beta: float = 1.0, *_args: Any, **_: Any) -> Any:
    return torch.addmm(x, a, b, alpha=alpha, beta=beta)


def _softmax(torch: Any, x: Any, dim: int | None = None, *_args: Any, **_: Any) -> Any:
    return torch.softmax(x, dim=-1 if dim is None else dim)


def _scaled_softmax(
    torch: Any,
    x: Any,
    first: Any = None,
    second: Any = None,
    *_args: Any,
    **options: Any,
) -> Any:
    """Return the softmax in float32.

    Scale and mask are positional in this order, or keyword arguments.
    """
    given = [value for value in (first, second) if value is not None]
    numbers = [value for value in given if not torch.is_tensor(value)]
    masks = [value for value in given if torch.is_tensor(value)]
    factor = next((options[name] for name in ("scale", "scalar") if name in options), *numbers[:1] or (None,))
    added = next((options[name] for name in ("mask", "attention_mask") if name in options), *masks[:1] or (None,))
    scores = x.float() if factor is None else x.float() * factor
    return torch.softmax(scores if added is None else scores + added, dim=-1)


def _attention_softmax(
    torch: Any, x: Any, *_args: Any, head_size: int | None = None, attention_mask: Any = None, **_: Any
) -> Any:
    scores = x * (1.0 if head_size is None else 1 / head_size**0.5)
    return torch.softmax(scores if attention_mask is None else scores + attention_mask, dim=-1)


def _parameter(value: Any, x: Any) -> Any:
    return None if value is None else value.reshape(-1).to(x.dtype)


def _layer_norm(
    torch: Any,
    x: Any,
    *_args: Any,
    epsilon: float = 1e-12,
    weight: Any = None,
    bias: Any = None,
    residual_input_tensor: Any = None,
    **_: Any,
) -> Any:
    total = x if residual_input_tensor is None else x + residual_input_tensor
    parameters = _parameter(weight, x), _parameter(bias, x)
    return torch.nn.functional.layer_norm(total, total.shape[-1:], *parameters, eps=epsilon)


def _rms_norm(
    torch: Any,
    x: Any,
    weight: Any = None,
    *_args: Any,
    epsilon: float = 1e-12,
    bias: Any = None,
    residual_input_tensor: Any = None,
    **_: Any,
) -> Any:
    """Return the RMS norm: float32, unless the weight has 16 bits."""
    total = x if residual_input_tensor is None else x + residual_input_tensor
    result = total * torch.rsqrt(total.float().pow(2).mean(-1, keepdim=True) + epsilon)
    if weight is None:
        return result if bias is None else result + bias
    if weight.dtype in (torch.float16, torch.bfloat16):
        result = result.to(weight.dtype)
    # Rows of 32 weights, as a row-major weight is stored.
    whole = weight.reshape(-1) if weight.ndim > 1 and weight.shape[-1] != x.shape[-1] else weight
    return whole * result if bias is None else whole * result + bias


def _normalized(over: tuple[int, ...] | None) -> Function:
    def function(torch: Any, x: Any, *_args: Any, **_: Any) -> Any:
        dims = tuple(range(x.ndim)) if over is None else over
        return (x - torch.mean(x, dims, keepdim=True)) / torch.std(x, dims, keepdim=True)

    return function


def _concatenated_heads(_torch: Any, x: Any, *_args: Any, **_: Any) -> Any:
    batch, heads, rows, columns = x.shape
    return x.permute(0, 2, 1, 3).reshape(batch, rows, heads * columns)


def _rotary(torch: Any, x: Any, cos: Any, sin: Any, token_idx: Any = None, *_args: Any, **more: Any) -> Any:
    token = more.get("token_index", token_idx)
    if token is not None:
        cos, sin = (cache[:, :, token : token + 1] for cache in (cos, sin))
    first, second = torch.chunk(x, 2, dim=-1)
    rows = x.shape[-2]
    return x * cos[..., :rows, :] + torch.cat((-second, first), dim=-1) * sin[..., :rows, :]


def _xielu(torch: Any, x: Any, alpha_p: float = 0.8, alpha_n: float = 0.8, *_args: Any, **_: Any) -> Any:
    """Return xIELU, of bfloat16 in float32."""
    wide = x.float() if x.dtype == torch.bfloat16 else x
    small = torch.minimum(wide, torch.full_like(wide, -1e-6))
    below = alpha_n * torch.expm1(small) - alpha_n * wide + 0.5 * wide
    return torch.where(wide > 0, alpha_p * wide * wide + 0.5 * wide, below).to(x.dtype)


LAYERS: Final[dict[str, Function]] = {
    **dict.fromkeys(("softmax", "softmax_in_place"), _softmax),
    **dict.fromkeys(
        ("scale_mask_softmax", "scale_mask_softmax_in_place", "scale_causal_mask_hw_dims_softmax_in_place"),
        _scaled_softmax,
    ),
    **dict.fromkeys(("transformer.attention_softmax", "transformer.attention_softmax_"), _attention_softmax),
    "experimental.rotary_embedding": _rotary,
    **dict.fromkeys(("transformer.concatenate_heads", "experimental.concatenate_heads"), _concatenated_heads),
    "glu": lambda torch, x, dim=-1, *_, **__: torch.nn.functional.glu(x, dim),
    "layer_norm": _layer_norm,
    "normalize_global": _normalized(None),
    "normalize_hw": _normalized((-2, -1)),
    "rms_norm": _rms_norm,
    "xielu": _xielu,
}
"""Layers by the names of operators."""
