"""Networks in ONNX files, run by ONNX Runtime.

A file is a stranger's data: it is read within bounds, must be complete in itself, and is made of operators of ONNX Runtime
alone, on one thread of the processor.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from geo_patrol.agents.networks.agent import ACTION_MASK, LOGIT_SHAPES, SHAPES_OF_LOGITS
from geo_patrol.agents.protocol import describe_error
from geo_patrol.board import MAX_RING
from geo_patrol.engine.observe import ENCODINGS, observation_size
from geo_patrol.engine.state import ORDERS, SATELLITES
from geo_patrol.errors import PolicyError, optional_import, show
from geo_patrol.files import read_limited

MAX_FILE_SIZE = 256 << 20
"""Bytes of an ONNX file."""

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
        encoding: tuple(dict.fromkeys((observation_size(encoding, ring),) for ring in range(1, MAX_RING + 1)))
        for encoding in ENCODINGS
    },
    ACTION_MASK: ((SATELLITES, ORDERS),),
}
"""The shapes that inputs may have for one observation; the first is the usual one."""


class OnnxNetwork:
    """A network from an ONNX file; its first output is the logits.

    Raises:
        MissingPackageError: ONNX Runtime is not installed.
        PolicyError: the file is too large, holds something else, or its inputs or outputs have another type or shape.
        OSError: it cannot be read.
    """

    def __init__(self, path: str | Path) -> None:
        with optional_import("onnx"):
            import onnx  # noqa: PLC0415 - an extra
            import onnxruntime  # noqa: PLC0415
        content = read_limited(Path(path).expanduser(), MAX_FILE_SIZE)
        if len(content) > MAX_FILE_SIZE:
            raise PolicyError(f"the file has more than {MAX_FILE_SIZE:,} bytes")
        _check_complete(onnx, content)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        # Optimising would compute constants when the file is loaded, as large as it likes; plain layers are as fast without.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4  # its errors are exceptions as well
        options.add_session_config_entry(
            "session.load_model_format", "ONNX"
        )  # not its own format, which is not checked
        try:
            self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise PolicyError(f"ONNX Runtime does not load it: {describe_error(error)}") from None
        inputs = self._session.get_inputs()
        self.input_names = tuple(node.name for node in inputs)
        self._dtypes = {node.name: _check_input(node) for node in inputs if node.name in _TYPES}
        self._output_name = _check_output(self._session.get_outputs())

    def __call__(self, inputs: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Return the logits of a batch of inputs."""
        converted = {name: array.astype(self._dtypes[name], copy=False) for name, array in inputs.items()}
        logits: NDArray[Any] = self._session.run([self._output_name], converted)[0]
        return logits


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
        raise PolicyError(f"its input {node.name!r} has shape {_show_shape(node.shape)}: {_batch_of(shapes[0])}")
    return types[node.type]


def _check_output(outputs: Any) -> str:
    """Return the name of the first output.

    Raises:
        PolicyError: there is none, or it cannot be the logits.
    """
    if not outputs:
        raise PolicyError(f"it has no output: the first one must be the logits, {SHAPES_OF_LOGITS}")
    node = outputs[0]
    if not node.type.startswith("tensor(") or not any(_may_be(node.shape, shape) for shape in LOGIT_SHAPES):
        shape = f"a {node.type} of shape {_show_shape(node.shape)}"
        raise PolicyError(f"its first output, {show(node.name)}, is {shape}: it must be the logits, {SHAPES_OF_LOGITS}")
    name: str = node.name
    return name


def _may_be(declared: list[Any], shape: tuple[int, ...]) -> bool:
    """Return whether a declared shape, in which a size is open unless it is a number, is that of batches of ``shape``."""
    if not declared or len(declared) != 1 + len(shape) or isinstance(declared[0], int):
        return not declared
    return all(not isinstance(size, int) or size == right for size, right in zip(declared[1:], shape, strict=True))


def _batch_of(shape: tuple[int, ...]) -> str:
    sizes = ", ".join(map(str, ("n", *shape)))
    return f"it must be ({sizes}), with a dynamic first axis, the batch"


def _show_shape(declared: list[Any]) -> str:
    return f"({', '.join('n' if not isinstance(size, int) else str(size) for size in declared)})"
