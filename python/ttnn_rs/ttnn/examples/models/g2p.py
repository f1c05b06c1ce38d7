"""g2p-en: letters of a word to sounds of English.

With the weights of the package (Apache-2.0).

One GRU cell of 256 reads a word letter by letter; another one speaks, from the state that the first one ends with, one
of 74 phonemes after the other until it emits the end of the word. 32 words are processed at once, a row of a tile each.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import ttnn

PACKAGE = "g2p_en"
WIDTH, LONGEST, ROWS = 256, 20, 32
LETTERS = ("<pad>", "<unk>", "</s>", *"abcdefghijklmnopqrstuvwxyz")
VOWELS = ("AA", "AE", "AH", "AO", "AW", "AY", "EH", "ER", "EY", "IH", "IY", "OW", "OY", "UH", "UW")
CONSONANTS = ("B", "CH", "D", "DH", "F", "G", "HH", "JH", "K", "L", "M", "N", "NG", "P", "R", "S", "SH", "T")
CONSONANTS += ("TH", "V", "W", "Y", "Z", "ZH")
BEGIN, END = 2, 3

Weights = dict[str, torch.Tensor]


def phonemes() -> list[str]:
    """Return the sounds in weight order.

    Vowels without stress count only where the vocabulary has them.
    """
    stressed = [f"{vowel}{stress}" for vowel in VOWELS for stress in "012"]
    return ["<pad>", "<unk>", "<s>", "</s>", *sorted([*stressed, *CONSONANTS, "UW"])]


def load_weights() -> Weights:
    """Return the tensors by name; the package itself is not imported."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no module named {PACKAGE}", name=PACKAGE)
    with np.load(Path(spec.origin).parent / "checkpoint20.npz") as arrays:
        return {name: torch.from_numpy(arrays[name]).float() for name in arrays}


def encode(words: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return letters [N, S] with end marks, and their mask [N, S]."""
    numbers = [[LETTERS.index(c) if c in LETTERS else 1 for c in word] + [LETTERS.index("</s>")] for word in words]
    length = max(map(len, numbers))
    letters = torch.tensor([row + [0] * (length - len(row)) for row in numbers])
    return letters, torch.tensor([[float(i < len(row)) for i in range(length)] for row in numbers])


def decode(spoken: torch.Tensor) -> list[list[str]]:
    """Return the sounds of each word [N, steps], up to its end."""
    names = phonemes()
    words = []
    for row in spoken.tolist():
        row = row[: row.index(END)] if END in row else row
        words.append([names[number] for number in row])
    return words


# torch ----------------------------------------------------------------------------------------------------------------


def torch_cell(weights: Weights, part: str, x: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
    of_input = F.linear(x, weights[f"{part}_w_ih"], weights[f"{part}_b_ih"])
    of_state = F.linear(h, weights[f"{part}_w_hh"], weights[f"{part}_b_hh"])
    (r_i, z_i, n_i), (r_h, z_h, n_h) = of_input.chunk(3, -1), of_state.chunk(3, -1)
    z = (z_i + z_h).sigmoid()
    return (1 - z) * (n_i + (r_i + r_h).sigmoid() * n_h).tanh() + z * h


def torch_speak(weights: Weights, letters: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the phonemes [N, 20] of words."""
    h = torch.zeros(len(letters), WIDTH)
    for step in range(letters.shape[1]):
        new = torch_cell(weights, "enc", weights["enc_emb"][letters[:, step]], h)
        h = torch.where(mask[:, step, None] > 0, new, h)
    said = torch.full((len(letters),), BEGIN)
    spoken = []
    for _ in range(LONGEST):
        h = torch_cell(weights, "dec", weights["dec_emb"][said], h)
        said = F.linear(h, weights["fc_w"], weights["fc_b"]).argmax(-1)
        spoken.append(said)
    return torch.stack(spoken, 1)


# TT-NN ----------------------------------------------------------------------------------------------------------------


class G2p:
    """Both cells in TT-NN, with float32 states.

    Rounding does not add up from step to step.

    Args:
        dtype: Of the weights.
    """

    def __init__(
        self,
        device: ttnn.MeshDevice,
        weights: Weights,
        dtype: ttnn.DataType = ttnn.bfloat16,
        fidelity: ttnn.MathFidelity = ttnn.MathFidelity.HiFi4,
    ) -> None:
        self.device = device
        self.compute = ttnn.WormholeComputeKernelConfig(
            math_fidelity=fidelity, math_approx_mode=False, fp32_dest_acc_en=True, packer_l1_acc=True
        )
        self.tables = {
            part: ttnn.from_torch(weights[f"{part}_emb"], dtype=ttnn.bfloat16, device=device) for part in ("enc", "dec")
        }
        self.weights = {
            name: self.place(
                tensor.T if tensor.dim() == 2 else tensor[None], dtype if tensor.dim() == 2 else ttnn.float32
            )
            for name, tensor in weights.items()
            if not name.endswith("emb")
        }
        self.start = ttnn.zeros((ROWS, WIDTH), dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
        self.begin = self.numbers(torch.full((1, ROWS), BEGIN))

    def place(self, tensor: torch.Tensor, dtype: ttnn.DataType) -> ttnn.Tensor:
        return ttnn.from_torch(tensor, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=self.device)

    def numbers(self, tensor: torch.Tensor) -> ttnn.Tensor:
        return ttnn.from_torch(tensor.to(torch.int32), dtype=ttnn.uint32, device=self.device)

    def linear(self, x: ttnn.Tensor, weight: str, bias: str) -> ttnn.Tensor:
        product = ttnn.matmul(x, self.weights[weight], dtype=ttnn.float32, compute_kernel_config=self.compute)
        return ttnn.add(product, self.weights[bias])

    def cell(self, part: str, numbers: ttnn.Tensor, h: ttnn.Tensor) -> ttnn.Tensor:
        """Return each word's state [32, 256] after one more symbol.

        Letters or phonemes are [1, 32].
        """
        x = ttnn.reshape(ttnn.embedding(numbers, self.tables[part], layout=ttnn.TILE_LAYOUT), (ROWS, WIDTH))
        of_input = self.linear(x, f"{part}_w_ih", f"{part}_b_ih")
        of_state = self.linear(h, f"{part}_w_hh", f"{part}_b_hh")

        def gate(x: ttnn.Tensor, number: int) -> ttnn.Tensor:
            return ttnn.slice(x, (0, number * WIDTH), (ROWS, (number + 1) * WIDTH))

        r, z = (ttnn.sigmoid(ttnn.add(gate(of_input, n), gate(of_state, n))) for n in range(2))
        n = ttnn.tanh(ttnn.add(gate(of_input, 2), ttnn.multiply(r, gate(of_state, 2))))
        return ttnn.add(n, ttnn.multiply(z, ttnn.subtract(h, n)))

    def inputs(self, letters: torch.Tensor, mask: torch.Tensor) -> list[tuple[ttnn.Tensor, ttnn.Tensor]]:
        """Return each step's letters of 32 words, and a mask.

        At most 32 words; 1 where words are not over, on the device.
        """
        letters, mask = (F.pad(part, (0, 0, 0, ROWS - len(part))) for part in (letters, mask))
        return [
            (
                self.numbers(letters[None, :, step]),
                self.place(mask[:, step, None].expand(-1, WIDTH).contiguous(), ttnn.float32),
            )
            for step in range(letters.shape[1])
        ]

    def read(self, steps: list[tuple[ttnn.Tensor, ttnn.Tensor]]) -> ttnn.Tensor:
        """Return the state [32, 256] after the letters of words."""
        h = self.start
        for letters, mask in steps:
            # Words that are over keep their state.
            h = ttnn.where(mask, self.cell("enc", letters, h), h)
        return h

    def speak(self, h: ttnn.Tensor) -> list[ttnn.Tensor]:
        """Return 20 ordered phonemes [1, 32] from the letters' state."""
        said, spoken = self.begin, []
        for _ in range(LONGEST):
            h = self.cell("dec", said, h)
            scores = self.linear(h, "fc_w", "fc_b")
            # The chosen phoneme is fed back into the cell without the host.
            said = ttnn.argmax(ttnn.to_layout(scores, ttnn.ROW_MAJOR_LAYOUT), dim=-1, keepdim=True)
            said = ttnn.reshape(said, (1, ROWS))
            spoken.append(said)
        return spoken

    def __call__(self, letters: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the phonemes [N, 20] of at most 32 words."""
        spoken = self.speak(self.read(self.inputs(letters, mask)))
        return torch.stack([ttnn.to_torch(part)[0].long() for part in spoken], 1)[: len(letters)]
