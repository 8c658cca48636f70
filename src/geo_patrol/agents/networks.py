"""User-defined networks as agents: ``onnx:FILE.onnx``, ``torch:FILE.py:make``, ``torch:FILE.pt``, ``rllib:FOLDER``.

What an agent passes to its network and how it chooses among legal orders is the same for all of them; docs/train/networks.md
describes both. ``published:FILE.pt`` is the exception, see ``agents.published``. An ONNX file is data from strangers and is
read within bounds. PyTorch's files and RLlib's checkpoints are programs: ``agents.isolation`` gives them processes of their own.
"""

import inspect
import io
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from geo_patrol.agents.basic import StatelessAgent
from geo_patrol.agents.loading import NotFoundError, find_attribute, import_file, release_with, split_location
from geo_patrol.agents.policy import (
    GREEDY,
    MAX_COMPONENTS,
    Scores,
    choose_orders,
    component_probabilities,
    draw_components,
)
from geo_patrol.agents.protocol import describe_error
from geo_patrol.agents.published import PublishedAgent
from geo_patrol.agents.satellites import satellite_observations
from geo_patrol.base.board import MAX_RING
from geo_patrol.base.errors import AgentError, MissingPackageError, PolicyError, optional_import, show
from geo_patrol.base.files import expand_user, read_limited
from geo_patrol.engine.legal import check_masks
from geo_patrol.engine.observe import ENCODINGS, Encoding, observation_size
from geo_patrol.engine.state import ORDERS, SATELLITES

__all__ = ["Network", "NetworkAgent", "TorchNetwork", "is_network", "load_network"]


ACTION_MASK = "action_mask"
LOGIT_SHAPES = ((SATELLITES * ORDERS,), (SATELLITES, ORDERS))
"""The shapes that a network's logits of one observation may have."""
SHAPES_OF_LOGITS = " or ".join(str(("n", *shape)).replace("'", "") for shape in LOGIT_SHAPES)
"""The same for messages."""
NUM_MIXTURE_AXES = 4
"""Of the logits of a network that mixes components, (n, k, 11, 28)."""
Output = NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]
"""What a network returns: logits, or those of each component, (n, k, 11, 28), with the logits of the components, (n, k)."""


class Network(Protocol):
    """A user's network: docs/train/networks.md says what it gets and what it returns."""

    input_names: tuple[str, ...]
    """"onehot" or "tokens", the encoding that it reads, and perhaps "action_mask"."""

    def __call__(self, inputs: Mapping[str, NDArray[Any]]) -> Output:
        """Return the logits of a batch of inputs, which has those of ``input_names``.

        They are (n, 308) or (n, 11, 28); or of each of k components, (n, k, 11, 28), and with them those of the components,
        (n, k).
        """
        ...


class NetworkAgent(StatelessAgent):
    """Plays by a network: samples each satellite's order from the probabilities of the legal ones.

    Args:
        name: what tables and messages call it.
        network: asked once for all rows of a batch.
        greedy: whether it takes the most likely legal order of each satellite instead of sampling one.

    Raises:
        PolicyError: the network's inputs have other names.
    """

    stateless = True

    def __init__(self, name: str, network: Network, *, greedy: bool = False) -> None:
        self.name = name
        self.observation = _find_encoding(network.input_names)
        self._network = network
        self._greedy = greedy

    def act(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Choose the orders of one decision phase, (n, 11).

        Raises:
            AgentError: the logits have another shape or type, or are not finite.
        """
        scores, rng = self._score_orders(observations, action_masks), None if self._greedy else generator
        return choose_orders(scores.has_choice, draw_components(scores, rng), rng)

    def order_probabilities(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8]
    ) -> NDArray[np.floating[Any]]:
        """Return the probabilities of each satellite's orders, (n, 11, 28): 1 for the most likely ones if it is greedy.

        Raises:
            AgentError: the logits have another shape or type, or are not finite.
        """
        weights, orders = self.component_probabilities(observations, action_masks)
        every: NDArray[np.float64] = np.einsum("nk,nkso->nso", weights, orders)
        return every

    def component_probabilities(
        self, observations: NDArray[Any], action_masks: NDArray[np.int8]
    ) -> tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]]:
        """Return the probabilities of the components, (n, k), and of each satellite's orders by each, (n, k, 11, 28).

        Raises:
            AgentError: the logits have another shape or type, or are not finite.
        """
        return component_probabilities(self._score_orders(observations, action_masks), greedy=self._greedy)

    def _score_orders(self, observations: NDArray[Any], action_masks: NDArray[np.int8]) -> Scores:
        """Return the logits of the satellites that have a choice, -inf of illegal orders, and those of the components."""
        masks = check_masks(action_masks)
        inputs = {self.observation: observations, ACTION_MASK: masks}
        output = self._network({name: inputs[name] for name in self._network.input_names})
        logits, component_logits = self._check_logits(output, len(masks))
        legal = masks.astype(np.bool_)
        has_choice = legal.sum(axis=2) > 1
        scores = np.where(legal[has_choice][:, None], logits.swapaxes(1, 2)[has_choice], -np.inf)
        is_finite = np.isfinite(scores.max(axis=2)).all(axis=1)  # NaN is the maximum wherever it occurs
        if not is_finite.all():
            count = f"{len(is_finite) - is_finite.sum():,} of {len(is_finite):,}"
            raise AgentError(
                f"agent {self.name!r}: its logits of legal orders are NaN or infinite for {count} satellites"
            )
        return Scores(has_choice, scores, component_logits)

    def _check_logits(self, output: Any, num_rows: int) -> tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]]:
        """Return logits as an array, (n, k, 11, 28), and those of the components, (n, k)."""
        first, second = output if isinstance(output, tuple) else (output, np.zeros((num_rows, 1), np.float32))
        array, of_components = np.asarray(first), np.asarray(second)
        is_mixture = isinstance(output, tuple) and array.ndim == NUM_MIXTURE_AXES
        shapes = (
            {(num_rows, *array.shape[1:2], *LOGIT_SHAPES[1])} if is_mixture else {(num_rows, *s) for s in LOGIT_SHAPES}
        )
        if array.dtype.kind != "f" or array.shape not in shapes:
            raise AgentError(
                f"agent {self.name!r}: its logits are {array.dtype} of shape {array.shape} for {num_rows} observations: "
                f"give floating-point numbers of shape {SHAPES_OF_LOGITS}"
            )
        if not is_mixture:
            return array.reshape(num_rows, 1, SATELLITES, ORDERS), of_components
        components = array.shape[1]
        if not 1 <= components <= MAX_COMPONENTS:
            raise AgentError(f"agent {self.name!r}: it must have 1 to {MAX_COMPONENTS} components, got {components}")
        if of_components.dtype.kind != "f" or of_components.shape != (num_rows, components):
            raise AgentError(
                f"agent {self.name!r}: the logits of its components are {of_components.dtype} of shape "
                f"{of_components.shape}: give floating-point numbers of shape ({num_rows}, {components})"
            )
        if not np.isfinite(of_components).all():
            raise AgentError(f"agent {self.name!r}: the logits of its components are NaN or infinite")
        return array, of_components


def _find_encoding(input_names: Sequence[str]) -> Encoding:
    """Return the encoding that a network reads.

    Raises:
        PolicyError: it reads none or both, or something else.
    """
    encodings = [encoding for encoding in ENCODINGS if encoding in input_names]
    if len(encodings) != 1 or not set(input_names) <= {*ENCODINGS, ACTION_MASK}:
        found = ", ".join(show(name) for name in input_names) or "none"
        raise PolicyError(
            f"its inputs are {found}: name one 'onehot' or 'tokens', and another 'action_mask' if it takes the masks"
        )
    return encodings[0]


MAX_FILE_SIZE = 256 << 20
"""Bytes of an ONNX or TorchScript file, and of what the latter unpacks to."""

_TYPES: dict[str, dict[str, DTypeLike]] = {
    "onehot": {"tensor(float)": np.float32},
    "tokens": {
        "tensor(int64)": np.int64,
        "tensor(int32)": np.int32,
        "tensor(int16)": np.int16,
        "tensor(float)": np.float32,
    },
    ACTION_MASK: {"tensor(bool)": np.bool_, "tensor(int8)": np.int8, "tensor(float)": np.float32},
}
"""The types that inputs may have, as ONNX Runtime calls them. None of them changes a value."""
_SHAPES: dict[str, tuple[tuple[int, ...], ...]] = {
    **{
        encoding: tuple(
            (observation_size(encoding, ring, hides_enemies=hides_enemies, counts_patrols=counts_patrols),)
            for hides_enemies in (False, True)
            for counts_patrols in (False, True)
            for ring in range(1, MAX_RING + 1)
        )
        for encoding in ENCODINGS
    },
    ACTION_MASK: ((SATELLITES, ORDERS),),
}
"""The shapes that inputs may have for one observation; the first is the usual one."""


class OnnxNetwork:
    """A network from an ONNX file; its first output is the logits, the second one those of its components if it has some.

    Raises:
        MissingPackageError: ONNX Runtime is not installed.
        PolicyError: the file is too large, holds something else, or its inputs or outputs have another type or shape.
        OSError: it cannot be read.
    """

    def __init__(self, path: str | Path) -> None:
        with optional_import("onnx"):
            import onnx  # noqa: PLC0415 - an extra
            import onnxruntime  # noqa: PLC0415
        content = _read_network(path)
        _check_complete(onnx, content)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        # Optimising would compute constants when the file is loaded, as large as it likes; plain layers are as fast without.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4  # its errors are exceptions as well
        # Not its own format, which is not checked.
        options.add_session_config_entry("session.load_model_format", "ONNX")
        try:
            self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise PolicyError(f"ONNX Runtime does not load it: {describe_error(error)}") from None
        inputs = self._session.get_inputs()
        self.input_names = tuple(node.name for node in inputs)
        self._dtypes = {node.name: _check_input(node) for node in inputs if node.name in _TYPES}
        self._output_names = _check_outputs(self._session.get_outputs())

    def __call__(self, inputs: Mapping[str, NDArray[Any]]) -> Output:
        """Return the logits of a batch of inputs."""
        converted = {name: array.astype(self._dtypes[name], copy=False) for name, array in inputs.items()}
        logits, *of_components = self._session.run(self._output_names, converted)
        return (logits, *of_components) if of_components else logits


def _read_network(path: str | Path) -> bytes:
    """Return the content of a network's file.

    Raises:
        PolicyError: it is too large.
        OSError: it cannot be read.
    """
    content = read_limited(expand_user(path), MAX_FILE_SIZE)
    if len(content) > MAX_FILE_SIZE:
        raise PolicyError(f"the file has more than {MAX_FILE_SIZE:,} bytes")
    return content


def _check_complete(onnx: Any, content: bytes) -> None:
    """Raise a PolicyError if a file is no ONNX model, or refers to other files: an agent is one file."""
    try:
        model = onnx.load_model_from_string(content)
    except Exception as error:
        raise PolicyError(f"it is no ONNX file: {describe_error(error)}") from None
    for tensor in _find_tensors(model, onnx.TensorProto):
        if tensor.external_data or tensor.data_location == onnx.TensorProto.EXTERNAL:
            locations = [entry.value for entry in tensor.external_data if entry.key == "location"]
            where = f", {show(locations[0])}" if locations else ""
            raise PolicyError(f"its weights are in another file{where}: export it with external_data=False")


def _find_tensors(message: Any, tensor_type: type[Any]) -> Iterator[Any]:
    """Yield all tensors in a Protocol Buffers message, those of nested graphs and functions included."""
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for item in [value] if hasattr(value, "ListFields") else value:
            if isinstance(item, tensor_type):
                yield item
            else:
                yield from _find_tensors(item, tensor_type)


def _check_input(node: Any) -> DTypeLike:
    """Return the type of an input.

    Raises:
        PolicyError: the input has another type or shape than the network gets.
    """
    types, shapes = _TYPES[node.name], _SHAPES[node.name]
    if node.type not in types:
        raise PolicyError(f"its input {node.name!r} is a {node.type}: it must be a {' or '.join(types)}")
    if not any(_may_be(node.shape, shape) for shape in shapes):
        right = f"{_show_shape(['n', *shapes[0]])}, with a dynamic first axis, the batch"
        raise PolicyError(f"its input {node.name!r} has shape {_show_shape(node.shape)}: it must be {right}")
    return types[node.type]


def _check_outputs(outputs: Any) -> list[str]:
    """Return the names of the logits and, of a network that mixes components, of theirs: the first two outputs.

    Raises:
        PolicyError: there is none, or they cannot be logits.
    """
    if not outputs:
        raise PolicyError(f"it has no output: the first one must be the logits, {SHAPES_OF_LOGITS}")
    node = outputs[0]
    is_mixture = len(node.shape) == NUM_MIXTURE_AXES and _may_be([*node.shape[:1], *node.shape[2:]], LOGIT_SHAPES[1])
    is_logits = is_mixture or any(_may_be(node.shape, shape) for shape in LOGIT_SHAPES)
    if not node.type.startswith("tensor(") or not is_logits:
        shape = f"a {node.type} of shape {_show_shape(node.shape)}"
        raise PolicyError(f"its first output, {show(node.name)}, is {shape}: it must be the logits, {SHAPES_OF_LOGITS}")
    if not is_mixture:
        return [str(node.name)]
    if len(outputs) == 1:
        raise PolicyError(
            f"its first output has shape {_show_shape(node.shape)}: the second one must be the logits of the components, (n, k)"
        )
    return [str(each.name) for each in outputs[:2]]


def _may_be(declared: list[Any], shape: tuple[int, ...]) -> bool:
    """Return whether a declared shape, in which a size is open unless it is a number, is that of batches of ``shape``."""
    if not declared or len(declared) != 1 + len(shape) or isinstance(declared[0], int):
        return not declared
    return all(not isinstance(size, int) or size == right for size, right in zip(declared[1:], shape, strict=True))


def _show_shape(declared: list[Any]) -> str:
    return f"({', '.join('n' if not isinstance(size, int) else str(size) for size in declared)})"


SCRIPT_SUFFIX = ".pt"


class TorchNetwork:
    """A PyTorch module, or any function of tensors, on the processor.

    Its first output is the logits, the second one those of its components if the first has four axes.

    Its inputs are the parameters of ``forward``, by their names: "onehot" is float32, "tokens" int64, "action_mask" bool.

    Args:
        forward: the module or function.

    Raises:
        MissingPackageError: PyTorch is not installed.
        PolicyError: it is no function.
    """

    def __init__(self, forward: Callable[..., Any]) -> None:
        with optional_import("train"):
            import torch  # noqa: PLC0415 - an extra
        if not callable(forward):
            raise PolicyError(f"it must be a module or a function of tensors, got {type(forward).__name__}")
        self._torch = torch
        self._dtypes = {"onehot": torch.float32, "tokens": torch.int64, ACTION_MASK: torch.bool}
        self._forward = forward.eval() if isinstance(forward, torch.nn.Module) else forward
        self.input_names = _parameter_names(forward)

    def __call__(self, inputs: Mapping[str, NDArray[Any]]) -> Output:
        """Return the logits of a batch of inputs.

        Raises:
            PolicyError: the network returned no tensor.
        """
        torch = self._torch
        tensors = {name: torch.as_tensor(array).to(self._dtypes[name]) for name, array in inputs.items()}
        with torch.inference_mode():
            output = self._forward(**tensors)
        logits = _first_tensor(torch, output)
        if logits.ndim != NUM_MIXTURE_AXES:
            return logits
        if not isinstance(output, tuple | list) or len(output) == 1:
            raise PolicyError(
                f"its logits have shape {logits.shape}: the next output must be those of the components, (n, k)"
            )
        return logits, _first_tensor(torch, output[1:])


def load_torch_network(source: str) -> TorchNetwork:
    """Load a network from ``FILE.py:make`` or from a TorchScript file, ``FILE.pt``.

    ``make`` is a module or a function of tensors, or a class or function that returns one when it is called without
    arguments.

    Raises:
        MissingPackageError: PyTorch is not installed.
        NotFoundError: there is no such file, or nothing of that name in it.
        PolicyError: ``source`` is neither.
        Exception: whatever the user's code raises.
    """
    is_script = source.endswith(SCRIPT_SUFFIX)
    path, attribute = (source, "") if is_script else split_location(source) or ("", "")
    if not path.endswith((".py", SCRIPT_SUFFIX)):
        raise PolicyError(f"its name must be torch:FILE.py:make or torch:FILE{SCRIPT_SUFFIX}")
    file = Path(expand_user(path))
    if not file.is_file():
        raise NotFoundError(f"there is no file {path!r}")
    with optional_import("train"):
        import torch  # noqa: PLC0415 - an extra
    if is_script:
        return TorchNetwork(read_script(file))
    module = import_file(file)
    found = find_attribute(module, path, attribute)
    if isinstance(found, torch.nn.Module):
        return TorchNetwork(found)
    network = TorchNetwork(found())
    release_with(network, module)
    return network


def read_script(path: str | Path) -> Any:
    """Return the module of a TorchScript file, on the processor.

    It runs no Python, but a program of PyTorch's own language, which may do what PyTorch's operators can.

    Raises:
        MissingPackageError: PyTorch is not installed.
        PolicyError: the file is too large, or is no TorchScript.
        OSError: it cannot be read.
    """
    content = _read_network(path)
    with optional_import("train"):
        import torch  # noqa: PLC0415 - an extra
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
            if not any(name.endswith("/constants.pkl") for name in archive.namelist()):
                raise PolicyError("it is no TorchScript: torch.jit.save writes such files")
    except zipfile.BadZipFile:
        raise PolicyError("it is no TorchScript: torch.jit.save writes such files") from None
    if unpacked > MAX_FILE_SIZE:
        raise PolicyError(f"the file unpacks to more than {MAX_FILE_SIZE:,} bytes")
    try:
        return torch.jit.load(io.BytesIO(content), map_location="cpu").eval()
    except Exception as error:
        raise PolicyError(f"PyTorch does not load it: {describe_error(error)}") from None


class PublishedNetwork:
    """A TorchScript file of the GEO Patrol study, called as the study's code calls it; ``PublishedAgent`` plays by it.

    Its ``forward`` takes ``{"obs": inputs}``, (1, 1505) float32, and the state and the sequence lengths of a network without
    memory, as RLlib's models do; or the inputs alone. Its first output is the logits.

    Raises:
        MissingPackageError: PyTorch is not installed.
        PolicyError: the file is too large, or is no TorchScript.
        OSError: it cannot be read.
    """

    def __init__(self, path: str | Path) -> None:
        self._forward = read_script(path)
        import torch  # noqa: PLC0415 - an extra

        self._torch = torch
        types = [str(argument.type) for argument in self._forward.forward.schema.arguments[1:]]
        self._takes_inputs_alone = types == ["Tensor"]

    def __call__(self, inputs: NDArray[np.float32]) -> NDArray[Any]:
        """Return the logits of one position.

        Raises:
            PolicyError: the network takes other inputs, fails, or returns no tensor.
        """
        torch = self._torch
        batch = torch.from_numpy(inputs)[None]
        arguments = ({"obs": batch}, [torch.zeros(1)], torch.zeros(1, dtype=torch.int64))
        try:
            with torch.inference_mode():
                output = self._forward(batch) if self._takes_inputs_alone else self._forward(*arguments)
        except RuntimeError as error:  # behind the traceback of the script
            why = str(error).strip().rpartition("\n")[2]
            raise PolicyError(f"it fails with {len(inputs):,} inputs, mask and observation: {why}") from error
        return _first_tensor(torch, output)


def _first_tensor(torch: Any, output: Any) -> NDArray[Any]:
    """Return the first output of a network in PyTorch.

    Raises:
        PolicyError: it is no tensor.
    """
    first = output[0] if isinstance(output, tuple | list) else output
    if not isinstance(first, torch.Tensor):
        raise PolicyError(
            f"the network must return a tensor, or a tuple that begins with one, got {type(first).__name__}"
        )
    array: NDArray[Any] = first.cpu().numpy()
    return array


def _parameter_names(forward: Any) -> tuple[str, ...]:
    """Return the names of the parameters without defaults, and of the mask if it is one of the others."""
    if hasattr(forward, "forward"):
        forward = forward.forward
    if hasattr(forward, "schema"):  # TorchScript
        parameters = [(argument.name, argument.has_default_value()) for argument in forward.schema.arguments[1:]]
    else:
        empty = inspect.Parameter.empty
        signature = inspect.signature(forward).parameters
        parameters = [(name, parameter.default is not empty) for name, parameter in signature.items()]
    return tuple(name for name, has_default in parameters if not has_default or name == ACTION_MASK)


_MODULES = Path("learner_group", "learner", "rl_module")
"""Where the checkpoint of an algorithm has its modules."""
_MODULE_FILE = "class_and_ctor_args.pkl"


class RLlibNetwork:
    """A module of RLlib, on observations with masks as ``geo_patrol.adapters.rllib`` gives them.

    Args:
        module: its ``forward_inference`` returns the logits of orders as "action_dist_inputs". One that was trained with
            satellites as agents gives the orders of each.

    Raises:
        PolicyError: it has another observation space.
    """

    def __init__(self, module: Any) -> None:
        with optional_import("rllib"):
            import torch  # noqa: PLC0415 - an extra
        self._torch = torch
        self.module = module
        try:
            dtype = module.observation_space["observation"].dtype
        except (KeyError, TypeError):
            space = show(module.observation_space)
            raise PolicyError(
                f"its observation space is {space}: it must have 'observation' and 'action_mask'"
            ) from None
        self._encoding = "tokens" if dtype == np.int16 else "onehot"
        self._by_satellite = hasattr(module.action_space, "n")  # Discrete, an order; those of a side are MultiDiscrete
        self.input_names: tuple[str, ...] = (self._encoding, ACTION_MASK)

    def __call__(self, inputs: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Return the logits of a batch of inputs."""
        torch = self._torch
        observation, mask = inputs[self._encoding], inputs[ACTION_MASK]
        if self._by_satellite:
            observation, mask = np.concatenate(satellite_observations(observation)), np.concatenate(mask)
        with torch.inference_mode():
            batch = {"obs": {"observation": torch.as_tensor(observation), ACTION_MASK: torch.as_tensor(mask)}}
            logits: NDArray[Any] = self.module.forward_inference(batch)["action_dist_inputs"].cpu().numpy()
        return logits.reshape(inputs[ACTION_MASK].shape) if self._by_satellite else logits


def load_rllib_network(source: str) -> RLlibNetwork:
    """Load a module from the checkpoint of an algorithm that has one, or from the folder of a module.

    Raises:
        MissingPackageError: RLlib is not installed.
        NotFoundError: there is no such folder.
        PolicyError: it holds something else, or several modules.
        Exception: whatever the code in the checkpoint raises.
    """
    folder = _find_module(Path(expand_user(source)).resolve())
    with optional_import("rllib"):
        from ray.rllib.core.rl_module.rl_module import RLModule  # noqa: PLC0415 - an extra
    return RLlibNetwork(RLModule.from_checkpoint(str(folder)))


def _find_module(folder: Path) -> Path:
    """Return the folder of the only module in a checkpoint."""
    if not folder.is_dir():
        raise NotFoundError(f"there is no folder {str(folder)!r}")
    modules = folder / _MODULES
    if not modules.is_dir():
        if not (folder / _MODULE_FILE).is_file():
            raise PolicyError(f"{str(folder)!r} is not a checkpoint of RLlib, which algorithm.save_to_path() writes")
        return folder
    names = sorted(path.name for path in modules.iterdir() if (path / _MODULE_FILE).is_file())
    if len(names) != 1:
        raise PolicyError(
            f"it has the modules {', '.join(names) or 'none'}: the folder must be that of one, in {modules}"
        )
    return modules / names[0]


_LOADERS: dict[str, Callable[[str], Network]] = {
    "onnx": OnnxNetwork,
    "rllib": load_rllib_network,
    "torch": load_torch_network,
}


PUBLISHED = "published"


def is_network(name: str) -> bool:
    """Tell whether an agent's name is that of a user's network."""
    return name.partition(":")[0] in (PUBLISHED, *_LOADERS)


def load_network(name: str) -> NetworkAgent | PublishedAgent:
    """Make the agent of a user's network.

    Args:
        name: ``onnx:FILE.onnx``, ``torch:FILE.py:make``, ``torch:FILE.pt`` or ``rllib:FOLDER``, perhaps with
            ``,greedy``, or ``published:FILE.pt``. All but ``onnx`` are programs: loading one runs it with the rights of
            the current user.

    Raises:
        AgentError: there is no such file, it holds something else, its code raises an exception, or a package that reads
            it is not installed.
    """
    kind, _, rest = name.partition(":")
    source = rest.removesuffix(GREEDY)
    if not source:
        raise AgentError(f"agent {name!r}: name its file behind {kind}: as docs/train/networks.md says")
    try:
        if kind == PUBLISHED:
            return PublishedAgent(name, PublishedNetwork(source))
        return NetworkAgent(name, _LOADERS[kind](source), greedy=source != rest)
    except AgentError:
        raise
    except (NotFoundError, PolicyError, MissingPackageError) as error:
        raise AgentError(f"agent {name!r}: {error}") from error
    except FileNotFoundError as error:
        raise AgentError(f"agent {name!r}: there is no file {str(error.filename)!r}") from error
    except Exception as error:
        raise AgentError(f"agent {name!r} cannot be made: {describe_error(error)}") from error
