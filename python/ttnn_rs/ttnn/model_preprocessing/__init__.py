"""Official module: a torch model's parameters as a tensor tree.

`preprocess_model_parameters` walks a model and returns its parameters under the names of its modules. Weights of
linear layers are transposed, biases and the parameters of layer norm become rows, in bfloat16 and in tiles. Programs
import this module by name; it needs torch.

Source: TT-NN docs "Converting a PyTorch model"; tt-metal `ttnn/ttnn/model_preprocessing.py`.
"""

from ttnn.model_preprocessing.cache import git_hash as git_hash
from ttnn.model_preprocessing.convert import convert_torch_model_to_ttnn_model as convert_torch_model_to_ttnn_model
from ttnn.model_preprocessing.convert import (
    preprocess_remaining_children_and_parameters as preprocess_remaining_children_and_parameters,
)
from ttnn.model_preprocessing.module_args import infer_ttnn_module_args as infer_ttnn_module_args
from ttnn.model_preprocessing.module_args import merge_ttnn_module_args_into_parameters as _merge
from ttnn.model_preprocessing.parameters import Conv2dArgs as Conv2dArgs
from ttnn.model_preprocessing.parameters import ConvTranspose2dArgs as ConvTranspose2dArgs
from ttnn.model_preprocessing.parameters import GroupNormArgs as GroupNormArgs
from ttnn.model_preprocessing.parameters import MaxPool2dArgs as MaxPool2dArgs
from ttnn.model_preprocessing.parameters import ModuleArgs as ModuleArgs
from ttnn.model_preprocessing.parameters import ParameterDict as ParameterDict
from ttnn.model_preprocessing.parameters import ParameterList as ParameterList
from ttnn.model_preprocessing.parameters import make_parameter_dict as make_parameter_dict
from ttnn.model_preprocessing.parameters import move_to_device as move_to_device
from ttnn.model_preprocessing.parameters import repr_parameters as repr_parameters
from ttnn.model_preprocessing.preprocess import from_torch as from_torch
from ttnn.model_preprocessing.preprocess import preprocess_model as preprocess_model
from ttnn.model_preprocessing.preprocess import preprocess_model_parameters as preprocess_model_parameters
from ttnn.model_preprocessing.weights import default_preprocessor as default_preprocessor
from ttnn.model_preprocessing.weights import fold_batch_norm2d_into_conv2d as fold_batch_norm2d_into_conv2d
from ttnn.model_preprocessing.weights import preprocess_embedding_weight as preprocess_embedding_weight
from ttnn.model_preprocessing.weights import preprocess_layernorm_parameter as preprocess_layernorm_parameter
from ttnn.model_preprocessing.weights import preprocess_linear_bias as preprocess_linear_bias
from ttnn.model_preprocessing.weights import preprocess_linear_weight as preprocess_linear_weight
from ttnn.model_preprocessing.weights import torch_dtype_to_ttnn_dtype as torch_dtype_to_ttnn_dtype

merge_ttnn_module_args_into_parameters = _merge
