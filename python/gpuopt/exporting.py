"""From a PyTorch module to an ONNX file that can be trained, and back."""

from __future__ import annotations

import inspect
from typing import Any, Sequence


def export(
    module: Any,
    example_inputs: Sequence[Any],
    path: str,
    *,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    symbolic_batch: bool = True,
    opset: int = 20,
) -> None:
    """Writes ``module`` to the ONNX file ``path`` in the form that trains.

    The module is exported in training mode and without the exporter's
    optimizer, which would fold batch normalisation into the convolutions and
    rename the weights of linear layers: parameters keep their ``state_dict``
    names, and dropout and batch normalisation stay.

    Args:
      module: a ``torch.nn.Module``; its training mode is restored afterwards.
      example_inputs: positional arguments of its forward, tensors.
      path: where to write; weights lie in the same file.
      input_names: names of the graph's inputs; the forward's parameter names
        unless given.
      output_names: names of the graph's outputs.
      symbolic_batch: makes the first dimension of every input the symbolic
        dimension ``batch``, so that ``--batch-size`` can set it.
      opset: version of the default operator set, 13 or later.
    """
    import torch

    example_inputs = tuple(example_inputs)
    if input_names is None:
        parameters = list(inspect.signature(module.forward).parameters)
        input_names = parameters[: len(example_inputs)]
    dynamic_shapes = None
    if symbolic_batch:
        batch = torch.export.Dim("batch", min=1)
        dynamic_shapes = tuple({0: batch} for _ in example_inputs)
    was_training = module.training
    module.train()
    try:
        torch.onnx.export(
            module,
            example_inputs,
            path,
            input_names=list(input_names),
            output_names=list(output_names) if output_names else None,
            opset_version=opset,
            dynamo=True,
            optimize=False,
            external_data=False,
            dynamic_shapes=dynamic_shapes,
            verbose=False,
        )
    finally:
        module.train(was_training)


def load_weights(module: Any, path: str) -> None:
    """Copies the weights of a trained ``model.safetensors`` into ``module``.

    Raises:
      KeyError: a parameter of the module is not in the file.
      ValueError: a tensor has another shape than the module's.
    """
    import torch

    from gpuopt import safetensors

    weights = safetensors.read(path)
    state = module.state_dict()
    missing = [name for name, _ in module.named_parameters() if name not in weights]
    if missing:
        raise KeyError(f"{path} lacks {', '.join(missing)}")
    with torch.no_grad():
        for name, tensor in state.items():
            if name not in weights:
                continue
            value = torch.from_numpy(weights[name].copy())
            if value.shape != tensor.shape:
                raise ValueError(
                    f"{name} has shape {tuple(value.shape)} in {path}, but {tuple(tensor.shape)} in the module"
                )
            tensor.copy_(value)
