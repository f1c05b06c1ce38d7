"""silero-vad: voice detection per 32 ms of 16 kHz sound.

With the weights of the package (MIT).

A short-time Fourier transform as a product, the magnitude of its 129 frequencies, four convolutions, a cell of an LSTM
whose state is passed from chunk to chunk, and a dense layer. All but the LSTM sees all chunks at once.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import safetensors.torch
import torch
import torch.nn.functional as F

import ttnn

PACKAGE = "silero_vad"
RATE, CHUNK, CONTEXT, PAD = 16000, 512, 64, 64
WINDOW, HOP, FREQUENCIES, STATE = 256, 128, 129, 128
STEPS = (CONTEXT + CHUNK + PAD - WINDOW) // HOP + 1
"""Windows of a chunk: 4."""
STRIDES = (1, 2, 2, 1)
WIDTHS = (FREQUENCIES, 128, 64, 64, 128)

Weights = dict[str, torch.Tensor]


def load_weights() -> Weights:
    """Return the 16 kHz file's tensors by name.

    The package itself is not imported.
    """
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no module named {PACKAGE}", name=PACKAGE)
    weights: Weights = safetensors.torch.load_file(Path(spec.origin).parent / "data" / "silero_vad_16k.safetensors")
    return weights


def chunks(sound: torch.Tensor) -> torch.Tensor:
    """Return extended chunks [N, 640].

    The last 64 samples of the previous chunk, a chunk of 512, and its reflected end.
    """
    sound = F.pad(sound, (CONTEXT, -len(sound) % CHUNK))
    return F.pad(sound.unfold(0, CONTEXT + CHUNK, CHUNK)[None], (0, PAD), "reflect")[0]


def torch_speech(weights: Weights, cut: torch.Tensor) -> torch.Tensor:
    """Return the probability of speech [N] in each chunk [N, 640]."""
    x = F.conv1d(cut[:, None], weights["stft_conv.weight"], stride=HOP)
    x = (x[:, :FREQUENCIES] ** 2 + x[:, FREQUENCIES:] ** 2).sqrt()
    for i, stride in enumerate(STRIDES, 1):
        x = F.relu(F.conv1d(x, weights[f"conv{i}.weight"], weights[f"conv{i}.bias"], stride, 1))
    hidden = cell = torch.zeros(1, STATE)
    found = []
    names = ("weight_ih", "bias_ih", "weight_hh", "bias_hh")
    w_ih, b_ih, w_hh, b_hh = (weights[f"lstm_cell.{name}"] for name in names)
    for row in x[..., 0]:
        gates = F.linear(row[None], w_ih, b_ih) + F.linear(hidden, w_hh, b_hh)
        take, keep, new, show = gates.chunk(4, -1)
        cell = keep.sigmoid() * cell + take.sigmoid() * new.tanh()
        hidden = show.sigmoid() * cell.tanh()
        found.append(hidden)
    scores = F.linear(F.relu(torch.cat(found)), weights["final_conv.weight"][..., 0], weights["final_conv.bias"])
    return scores.sigmoid()[:, 0]


class SileroVad:
    """The network in TT-NN.

    Args:
        dtype: Of the weights of products; all else is bfloat16, with float32 in Dst for the state.
    """

    def __init__(
        self,
        device: ttnn.MeshDevice,
        weights: Weights,
        dtype: ttnn.DataType = ttnn.bfloat16,
        fidelity: ttnn.MathFidelity = ttnn.MathFidelity.HiFi4,
    ) -> None:
        self.device, self.dtype = device, dtype
        self.compute = ttnn.WormholeComputeKernelConfig(
            math_fidelity=fidelity, math_approx_mode=False, fp32_dest_acc_en=True, packer_l1_acc=True
        )
        # Real and imaginary parts as two products, each with 129 columns.
        basis = weights["stft_conv.weight"][:, 0].T
        self.basis = [self.place(part, dtype) for part in (basis[:, :FREQUENCIES], basis[:, FREQUENCIES:])]
        self.convolutions = [
            [
                ttnn.from_torch(weights[f"conv{i}.weight"], dtype=ttnn.bfloat16),
                ttnn.from_torch(weights[f"conv{i}.bias"].reshape(1, 1, 1, -1), dtype=ttnn.bfloat16),
            ]
            for i in range(1, 5)
        ]
        bias = weights["lstm_cell.bias_ih"] + weights["lstm_cell.bias_hh"]
        self.of_input = self.place(weights["lstm_cell.weight_ih"].T, dtype)
        self.of_state = self.place(weights["lstm_cell.weight_hh"].T, dtype)
        self.bias = self.place(bias.reshape(1, 1, 1, -1), ttnn.bfloat16)
        self.final = self.place(weights["final_conv.weight"][..., 0].T, dtype)
        self.final_bias = self.place(weights["final_conv.bias"].reshape(1, 1, 1, 1), ttnn.bfloat16)
        # The state before the first chunk: made here, for a trace makes no tensors on the host.
        self.start = ttnn.zeros((1, 1, 1, STATE), dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)

    def place(self, tensor: torch.Tensor, dtype: ttnn.DataType) -> ttnn.Tensor:
        return ttnn.from_torch(tensor, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=self.device)

    def inputs(self, cut: torch.Tensor) -> ttnn.Tensor:
        """Return windows of chunks [N, 640] as [1, 1, 4 * N, 256]."""
        windows = cut.unfold(1, WINDOW, HOP).reshape(1, 1, -1, WINDOW)
        return ttnn.from_torch(windows, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)

    def linear(self, x: ttnn.Tensor, weight: ttnn.Tensor, bias: ttnn.Tensor | None = None) -> ttnn.Tensor:
        return ttnn.linear(x, weight, bias=bias, dtype=ttnn.bfloat16, compute_kernel_config=self.compute)

    def features(self, windows: ttnn.Tensor) -> ttnn.Tensor:
        """Return what the convolutions make of each chunk [1, 1, N, 128]."""
        real, imaginary = (ttnn.square(self.linear(windows, part)) for part in self.basis)
        x = ttnn.to_layout(ttnn.sqrt(ttnn.add(real, imaginary)), ttnn.ROW_MAJOR_LAYOUT)
        count, length = windows.shape[-2] // STEPS, STEPS
        for i, (weight, bias) in enumerate(self.convolutions):
            x, length, self.convolutions[i] = ttnn.conv1d(
                input_tensor=x,
                weight_tensor=weight,
                bias_tensor=bias,
                device=self.device,
                in_channels=WIDTHS[i],
                out_channels=WIDTHS[i + 1],
                batch_size=count,
                input_length=length,
                kernel_size=3,
                stride=STRIDES[i],
                padding=1,
                dtype=ttnn.bfloat16,
                conv_config=ttnn.Conv1dConfig(
                    weights_dtype=self.dtype, activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)
                ),
                compute_config=self.compute,
                memory_config=ttnn.DRAM_MEMORY_CONFIG,
                return_output_dim=True,
                return_weights_and_bias=True,
            )
        return ttnn.reshape(x, (1, 1, count, STATE))

    def __call__(self, windows: ttnn.Tensor) -> ttnn.Tensor:
        """Return the probability of speech [1, 1, N, 1]."""
        gates_of_input = self.linear(self.features(windows), self.of_input, self.bias)
        gates_of_input = ttnn.to_layout(gates_of_input, ttnn.ROW_MAJOR_LAYOUT)
        hidden = cell = self.start
        found = []
        for i in range(gates_of_input.shape[-2]):
            row = ttnn.slice(gates_of_input, (0, 0, i, 0), (1, 1, i + 1, 4 * STATE))
            state = ttnn.linear(hidden, self.of_state, dtype=ttnn.float32, compute_kernel_config=self.compute)
            gates = ttnn.add(state, ttnn.typecast(ttnn.to_layout(row, ttnn.TILE_LAYOUT), ttnn.float32))
            take, keep, new, show = (
                ttnn.slice(gates, (0, 0, 0, n * STATE), (1, 1, 1, (n + 1) * STATE)) for n in range(4)
            )
            kept = ttnn.multiply(ttnn.sigmoid(keep), cell)
            cell = ttnn.add(kept, ttnn.multiply(ttnn.sigmoid(take), ttnn.tanh(new)))
            hidden = ttnn.multiply(ttnn.sigmoid(show), ttnn.tanh(cell))
            found.append(ttnn.to_layout(hidden, ttnn.ROW_MAJOR_LAYOUT))
        states = ttnn.to_layout(ttnn.concat(found, dim=2), ttnn.TILE_LAYOUT)
        scores = self.linear(ttnn.typecast(ttnn.relu(states), ttnn.bfloat16), self.final, self.final_bias)
        return ttnn.sigmoid(scores)
