"""Preprocessing of whole models, with a cache of the result."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

from ttnn.base.config import CONFIG, manage_config
from ttnn.base.exceptions import FileFormatError, ParameterError, UnsupportedError
from ttnn.device.lifecycle import MeshDevice
from ttnn.model_preprocessing.cache import ParameterCache, git_hash
from ttnn.model_preprocessing.convert import Choice, Preprocessor, convert_torch_model_to_ttnn_model
from ttnn.model_preprocessing.module_args import infer_ttnn_module_args, merge_ttnn_module_args_into_parameters
from ttnn.model_preprocessing.parameters import ParameterDict, ParameterList, make_parameter_dict, move_to_device

_log: Final = logging.getLogger("ttnn")


def _everything(model: Any, full_name: str) -> bool:
    return True


def _made(
    initialize_model: Callable[[], Any] | None,
    run_model: Callable[[Any], Any] | None,
    convert_to_ttnn: Choice,
    custom_preprocessor: Preprocessor | None,
    device: MeshDevice | None,
    prefix: str | None,
) -> ParameterDict | ParameterList:
    """Return a model's host parameters, with module arguments if run."""
    if initialize_model is None:
        raise ParameterError("preprocess_model: initialize_model is needed; nothing is in the cache.")
    model = initialize_model()
    model.eval()
    arguments = infer_ttnn_module_args(model=model, run_model=run_model, device=device)
    parameters = convert_torch_model_to_ttnn_model(
        model,
        convert_to_ttnn=convert_to_ttnn,
        custom_preprocessor=custom_preprocessor,
        name=prefix or "",
        ttnn_module_args=arguments,
    )
    if arguments is not None:
        parameters = merge_ttnn_module_args_into_parameters(parameters, arguments)
    return parameters if isinstance(parameters, ParameterList) else make_parameter_dict(parameters)


def _cached(
    cache: ParameterCache, model_name: str, version: str, initialize_model: Callable[[], Any] | None, how: Any
) -> ParameterDict | ParameterList:
    """Return a version's parameters from the cache.

    What is missing or damaged is made and stored.
    """
    fault = ""
    try:
        tree = cache.load(version)
        if tree is not None:
            return tree
    except (OSError, FileFormatError) as error:
        fault = f": {error}"
    if initialize_model is None:
        raise ParameterError(
            f"preprocess_model: {cache.folder} has no parameters of version {version!r}{fault}; give initialize_model.",
            vendor=f'Cached weights for the model {model_name} (version "{version}") don\'t exist',
        )
    if fault:
        _log.warning("preprocess_model: the cached parameters of %r are made anew%s", model_name, fault)
    made = _made(initialize_model, *how)
    try:
        cache.store(version, made)
    except (OSError, FileFormatError) as error:
        _log.warning("preprocess_model: the parameters of %r are not cached: %s", model_name, error)
    return made


def _refuse_module_objects(tree: Any) -> None:
    """Refuse trees of official convolution and pooling objects.

    The official package tries to make objects of them.

    Raises:
        UnsupportedError: a module has arguments, and its parameters are no torch tensors.
    """
    if isinstance(tree, ParameterDict):
        if "ttnn_module_args" in tree and not hasattr(tree.get("weight"), "detach"):
            raise UnsupportedError(
                "preprocess_model: objects for convolutions and poolings do not exist; ttnn 0.81.1 has no ttnn.Conv2d "
                "and no ttnn.MaxPool2d either. Take infer_ttnn_module_args, and call ttnn.conv2d or ttnn.max_pool2d."
            )
        for value in tree.values():
            _refuse_module_objects(value)
    elif isinstance(tree, ParameterList):
        for value in tree:
            _refuse_module_objects(value)


def from_torch(
    *,
    model_name: str | None = None,
    version: str | None = None,
    initialize_model: Callable[[], Any] | None = None,
    convert_to_ttnn: Choice | None = None,
    custom_preprocessor: Preprocessor | None = None,
    device: MeshDevice | None = None,
    prefix: str = "",
    run_model: Callable[[Any], Any] | None = None,
    reader_patterns_cache: dict[Any, Any] | None = None,
) -> Any:
    """Return what `preprocess_model` returns, with logging and comparison mode as they are."""
    choice = _everything if convert_to_ttnn is None else convert_to_ttnn
    how = (run_model, choice, custom_preprocessor, device, prefix)
    if model_name is None or not CONFIG.enable_model_cache:
        if model_name is not None:
            _log.info("The parameters of %s are not cached: CONFIG.enable_model_cache is off.", model_name)
        tree = _made(initialize_model, *how)
    else:
        cache = ParameterCache(CONFIG.model_cache_path, model_name)
        tree = _cached(cache, model_name, git_hash() if version is None else str(version), initialize_model, how)
    if device is not None:
        tree = move_to_device(tree, device)
    _refuse_module_objects(tree)
    return tree


def preprocess_model(
    *,
    model_name: str | None = None,
    version: str | None = None,
    initialize_model: Callable[[], Any] | None = None,
    convert_to_ttnn: Choice | None = None,
    custom_preprocessor: Preprocessor | None = None,
    device: MeshDevice | None = None,
    prefix: str = "",
    run_model: Callable[[Any], Any] | None = None,
    reader_patterns_cache: dict[Any, Any] | None = None,
) -> Any:
    """Return a torch model's parameters as a tree with attributes.

    Args:
        model_name: Name in the cache below `CONFIG.model_cache_path`; without it, or without
            `CONFIG.enable_model_cache`, nothing is cached.
        version: Version in the cache; the hash of the current git commit by default. Parameters of another version
            are rebuilt, and so are damaged ones, with a warning that names the damage.
        initialize_model: Returns the torch model. It may be left out if the cache has the parameters.
        convert_to_ttnn: Function of a module and its full name; True if its parameters become ttnn tensors; all do by
            default.
        custom_preprocessor: Called with module and name; what it returns replaces the parameters of the module.
        device: Where the tensors go; they stay on the host without it.
        prefix: What the names of modules begin with.
        run_model: Runs the model; the tree then has the arguments of its modules as `ttnn_module_args`.
        reader_patterns_cache: Kept for callers that pass it.

    Raises:
        ParameterError: there is no model and nothing in the cache, or `model_name` is no file name.
        UnsupportedError: parameters of a convolution or pooling that was run; its object does not exist.
    """
    given = locals()
    with manage_config("enable_logging", False), manage_config("enable_comparison_mode", False):
        return from_torch(**given)


def preprocess_model_parameters(
    *,
    model_name: str | None = None,
    version: str | None = None,
    initialize_model: Callable[[], Any] | None = None,
    convert_to_ttnn: Choice | None = None,
    custom_preprocessor: Preprocessor | None = None,
    device: MeshDevice | None = None,
    prefix: str = "",
) -> Any:
    """Return a torch model's parameters as a tree with attributes.

    The arguments are of `preprocess_model`.

    Raises:
        ParameterError: there is no model and nothing in the cache.
    """
    return preprocess_model(**locals())
