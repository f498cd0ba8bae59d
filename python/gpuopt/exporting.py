"""From a PyTorch module to an ONNX file that can be trained, and back."""

from __future__ import annotations

import ast
import contextlib
import inspect
import json
import logging
import math
import os
import warnings
from typing import Any, Iterator, Mapping, Sequence

import numpy as np

# A protobuf message ends at 2 GiB; the rest is the graph's.
_LARGEST_INLINE_BYTES = 2**31 - 2**26


def export(
    module: Any,
    example_inputs: Sequence[Any],
    path: str | os.PathLike,
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
    names, and dropout and batch normalisation stay, that of
    ``scaled_dot_product_attention`` too. Nodes are named after the submodule
    that they come from, ``h.0.mlp.c_fc/addmm_2``; the exporter's other notes on
    them (stack traces with this machine's paths) are left out. The file says
    which tensors are trained (parameters that require a gradient, and no
    buffers), and under which other names the module has those that are tied.
    What ``module.state_dict()`` lacks, as buffers with ``persistent=False``
    and tensors that the forward makes, are constants of the program: no file
    of weights or checkpoint has them. What it has is a weight, but for integers
    and for what an operator needs as a constant.

    Warns of a module in evaluation mode that dropout or batch normalisation is
    active, and of buffers other than running statistics that the forward
    changes: training leaves them as they are. Warns of ``scatter_reduce`` with
    means, since the exporter writes another function for it. ONNX has no operator
    that stops a gradient, as ``detach`` and ``torch.no_grad`` do, so the file
    says beside the graph which values no gradient passes, and which rows of
    embeddings get none, as that of ``padding_idx``. A standard deviation of 0
    passes none either: a Where around its root says so.

    Args:
      module: a ``torch.nn.Module``; its training mode is restored afterwards.
      example_inputs: positional arguments of its forward, tensors; one alone
        need not be in a tuple. Take at two samples: a batch of one may be exported as a constant.
      path: where to write. Weights lie in the same file up to 2 GB, beyond
        that in ``path`` + ``.data``.
      input_names: names of the graph's inputs; the forward's parameter names
        unless given. The module's parameters and buffers have names in the same
        graph, so those of inputs and outputs must be others.
      output_names: names of the graph's outputs, the first ones if there are more.
      symbolic_batch: makes the first dimension of every input that has one
        the symbolic dimension ``batch``, so that ``--batch-size`` can set it.
        A warning says where the forward computes for the example's size
        alone: that size is in the file then.
      opset: version of the default operator set, 18 or later.

    Raises:
      TypeError: ``module`` is no module, or an example input no tensor.
      TypeError, ValueError: ``input_names`` does not fit the example inputs,
        or their first dimensions cannot be one batch; ``output_names`` does not
        fit the outputs; one of these names is that of a parameter or a buffer,
        or of an input and an output; or ``opset`` is below 18.
    """
    import torch

    path = os.fspath(path)
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"module must be a torch.nn.Module, but is a {type(module).__name__}")
    if isinstance(example_inputs, (torch.Tensor, np.ndarray)):
        example_inputs = (example_inputs,)
    if isinstance(example_inputs, Mapping):
        raise TypeError(f"example_inputs must be tensors in the order of the forward's arguments, but is a {type(example_inputs).__name__} "
                        "with names: give its values alone, in a tuple, and other names than the arguments have by input_names=")
    example_inputs = tuple(example_inputs)
    _check_opset(opset)
    output_names = _output_names(output_names)
    names_of_forward = input_names is None
    input_names = _input_names(module, example_inputs, input_names)
    _check_names(module, input_names, output_names, names_of_forward)
    dynamic_shapes = _batch_of_inputs(module, example_inputs, input_names) if symbolic_batch else None
    program = _export_program(
        module,
        example_inputs,
        input_names=list(input_names),
        output_names=output_names or None,
        opset_version=opset,
        dynamic_shapes=dynamic_shapes,
    )
    _check_outputs(program.model, output_names)
    _warn_of_changed_buffers(program.exported_program)
    _warn_of_scattered_means(program.exported_program)
    if symbolic_batch:
        _warn_of_fixed_batch(program.model)
    _guard_deviations(program.model, _deviations(program.exported_program))
    _name_nodes(program.model)
    _strip(program.model)
    _mark_parameters(program.model, module, _changed_buffers(program.exported_program))
    _stop_gradients(program.model, _stopped_gradients(program.exported_program, module))
    _note_padding(program.model, _padding_rows(program.exported_program))
    _activate_dropout(program.model)
    _warn_of_evaluation_mode(module, program.model)
    _separate_values(program.model)
    size = sum(tensor.numel() * tensor.element_size() for tensor in module.state_dict().values())
    program.save(path, external_data=size > _LARGEST_INLINE_BYTES)


def _export_program(module: Any, example_inputs: tuple, **options: Any) -> Any:
    """Exports a module in training mode by PyTorch's exporter, and restores its mode."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    modes = [(part, part.training) for part in module.modules()]
    if not module.training:
        module.train()
    try:
        # Other kernels of attention have layouts that its decomposition lacks.
        with sdpa_kernel(SDPBackend.MATH), warnings.catch_warnings(), _quiet("torch.onnx._internal.exporter._registration"):
            # Training mode is what is wanted here.
            warnings.filterwarnings("ignore", message=".*while it is in training mode")
            # What PyTorch has to say to itself. All inputs have the one batch.
            warnings.filterwarnings("ignore", message=".*axis name: batch will not be used")
            warnings.filterwarnings("ignore", category=FutureWarning, module="copyreg|torch")
            # Recurrent modules have these: PyTorch makes the checks and the lists of weights itself.
            warnings.filterwarnings("ignore", category=FutureWarning, message="_check_is_size")
            warnings.filterwarnings("ignore", message=r"The tensor attributes? (\S*\._flat_weights\[\d+\](, | ))+w(as|ere) assigned")
            return torch.onnx.export(module, example_inputs, dynamo=True, optimize=False, verbose=False, **options)
    finally:
        for part, was_training in modes:
            part.training = was_training


@contextlib.contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Takes errors alone from a logger, for a while."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _warn_of_evaluation_mode(module: Any, model: Any) -> None:
    from torch.nn.modules import batchnorm, dropout

    if module.training:
        return
    parts = [
        part for part in module.modules()
        if isinstance(part, (batchnorm._BatchNorm, dropout._DropoutNd)) and getattr(part, "p", 1) > 0
    ]
    active = {type(part).__name__ for part in parts}
    if not any(isinstance(part, dropout._DropoutNd) for part in parts):
        # Recurrent layers, attention and the forward's own calls have dropout without such a module.
        nodes = [node.name or "a node without name" for node in model.graph if node.op_type == "Dropout" and node.domain == ""]
        if nodes:
            active.add(f"dropout (at {', '.join(nodes[:3])}{' and more' if len(nodes) > 3 else ''})")
    if active:
        warnings.warn(
            f"the module is in evaluation mode, but is exported as it trains, with {' and '.join(sorted(active))} active: "
            "module.train() says so too; p=0 turns dropout off, --batch-norm=frozen batch normalisation",
            stacklevel=3,
        )


# The statistics of batch normalisation, which gpuopt updates.
_RUNNING_STATISTICS = ("running_mean", "running_var", "num_batches_tracked")


def _changed_buffers(program: Any) -> list[str]:
    return list(program.graph_signature.buffers_to_mutate.values())


def _warn_of_changed_buffers(program: Any) -> None:
    changed = [name for name in _changed_buffers(program) if name.rpartition(".")[2] not in _RUNNING_STATISTICS]
    if changed:
        warnings.warn(
            f"the forward changes {', '.join(changed)}, which an ONNX graph cannot say: in the trainer they stay as they are",
            stacklevel=3,
        )


def _warn_of_scattered_means(program: Any) -> None:
    """PyTorch's exporter writes a scatter of means, which ONNX does not have, as one that replaces."""
    means = [
        node.name for node in program.graph.nodes
        if str(node.target) == "aten.scatter_reduce.two" and "mean" in (*node.args[4:5], node.kwargs.get("reduce"))
    ]
    if means:
        warnings.warn(
            f"the forward calls scatter_reduce with reduce='mean' (at {', '.join(means)}), which PyTorch's exporter writes as a scatter "
            "that replaces elements: the file computes another function than the module. Take reduce='sum', and divide by the "
            "number of elements, which is the sum of as many ones",
            stacklevel=3,
        )


def _stopped_gradients(program: Any, module: Any) -> list[str]:
    """The names of the values that stop a gradient on its way from an output to a parameter that is trained."""
    parameters = dict(module.named_parameters(remove_duplicate=False))
    trained = {
        name
        for name, parameter in program.graph_signature.inputs_to_parameters.items()
        if parameter in parameters and parameters[parameter].requires_grad
    }
    nodes = list(program.graph.nodes)
    depends, leads = set(), set()  # on a trained parameter, to an output; by tensors that can have a gradient
    for node in nodes:
        if node.name in trained or (_is_differentiable(node) and not depends.isdisjoint(node.all_input_nodes)):
            depends.add(node)
    for node in reversed(nodes):
        if any(user.op == "output" or (user in leads and _is_differentiable(user)) for user in node.users):
            leads.add(node)
    stops = [node for node in nodes if _stops_gradient(node) and node in depends and node in leads]
    # A value within a region without gradients needs no note: only what is read behind it does.
    return [node.name for node in stops if any(user not in stops for user in node.users)]


def _is_differentiable(node: Any) -> bool:
    value = node.meta.get("val")
    values = value if isinstance(value, (tuple, list)) else (value,)
    return any(getattr(one, "dtype", None) is not None and one.dtype.is_floating_point for one in values)


def _stops_gradient(node: Any) -> bool:
    is_detach = str(node.target) in ("aten.detach.default", "aten.detach_.default")
    return is_detach or node.meta.get("torch_fn", ("",))[0].startswith("wrap_with_set_grad_enabled")


def _padding_rows(program: Any) -> dict[str, int]:
    """The row that gets no gradient of each embedding that has one, by the name of what is taken from it."""
    embeddings = [node for node in program.graph.nodes if str(node.target) == "aten.embedding.default"]
    rows = {node.name: node.args[2] if len(node.args) > 2 else node.kwargs.get("padding_idx", -1) for node in embeddings}
    return {name: row for name, row in rows.items() if row >= 0}


def _deviations(program: Any) -> set[str]:
    """The names of the roots that are standard deviations, not roots that the forward takes."""
    return {
        node.name for node in program.graph.nodes
        if str(node.target) == "aten.sqrt.default" and str(node.meta.get("original_aten")).startswith("aten.std")
    }


def _parameters(module: Any, example_inputs: Sequence[Any]) -> Iterator[tuple[str, int | None]]:
    """The forward's parameters that the example inputs are for; ``*args`` has a number, that of its inputs."""
    signature = inspect.signature(module.forward)
    for name, argument in signature.bind(*example_inputs).arguments.items():
        is_variadic = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        yield name, len(argument) if is_variadic else None


def _batch_of_inputs(module: Any, example_inputs: Sequence[Any], names: Sequence[str]) -> tuple[Any, ...]:
    """For each example input that its first dimension is the batch, in the structure that torch.export wants. An input
    without dimensions is the same for all samples."""
    import torch

    for name, value in zip(names, example_inputs):
        if not isinstance(value, torch.Tensor):
            remedy = "torch.from_numpy makes one of it" if isinstance(value, np.ndarray) else "make what is no tensor a part of the module"
            raise TypeError(f"the example input '{name}' must be a tensor, but is a {type(value).__name__}; {remedy}")
    sizes = {name: value.shape[0] for name, value in zip(names, example_inputs) if value.dim() > 0}
    if len(set(sizes.values())) > 1 or 0 in sizes.values():
        listed = ", ".join(f"{name}: {size}" for name, size in sizes.items())
        raise ValueError(f"the first dimension of all example inputs is the batch, and must be of one size of at least 1, but is "
                         f"{listed}; with symbolic_batch=False all sizes stay as they are")
    batch = torch.export.Dim("batch", min=1)
    shapes = iter([{0: batch} if value.dim() > 0 else {} for value in example_inputs])
    return tuple(
        next(shapes) if count is None else tuple(next(shapes) for _ in range(count))
        for _, count in _parameters(module, example_inputs)
    )


def _warn_of_fixed_batch(model: Any) -> None:
    """The exporter fixes the batch without a word where the forward computes for no other one."""
    fixed = {value.name: value.shape[0] for value in model.graph.inputs if value.shape and isinstance(value.shape[0], int)}
    if fixed:
        size = next(iter(fixed.values()))
        warnings.warn(
            f"the first dimension of {', '.join(fixed)} is fixed at {size} in the file, and --batch-size cannot set it: the "
            "example has no dimension for the samples (give two samples, as in torch.zeros(2, ...)), or the forward computes "
            f"for {size} alone (let it take any x.shape[0]). symbolic_batch=False says that it is meant so",
            stacklevel=3,
        )


def _input_names(module: Any, example_inputs: Sequence[Any], names: Sequence[str] | None) -> list[str]:
    if names is None:
        names = []
        for name, count in _parameters(module, example_inputs):
            names += [name] if count is None else [f"{name}_{i}" for i in range(count)]
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"input_names must be a list of names, but is {names!r}")
    count = len(example_inputs)
    if len(names) != count or len(set(names)) != count:
        raise ValueError(f"input_names must be {count} different names, one for each example input, but is {list(names)}")
    return list(names)


def _output_names(names: Sequence[str] | None) -> list[str]:
    if names is None:
        return []
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"output_names must be a list of names, but is {names!r}")
    if len(set(names)) != len(names):
        raise ValueError(f"output_names must be different names, but is {list(names)}")
    return list(names)


def _check_opset(opset: int) -> None:
    if opset < 18:
        raise ValueError(f"opset must be 18 or later, but is {opset}: PyTorch's exporter has no operators of earlier versions")


def _check_names(module: Any, inputs: Sequence[str], outputs: Sequence[str], names_of_forward: bool) -> None:
    """All values of a graph have names of their own: PyTorch's exporter would take an input for the weight of its name."""
    parameters = dict(module.named_parameters(remove_duplicate=False))
    buffers = dict(module.named_buffers(remove_duplicate=False))
    for flag, names in (("input_names", inputs), ("output_names", outputs)):
        for name in names:
            if name not in parameters and name not in buffers:
                continue
            kind = "parameter" if name in parameters else "buffer"
            if flag == "input_names" and names_of_forward:
                raise ValueError(f"the argument '{name}' of the forward has the name of a {kind} of the module, and both would be "
                                 f"'{name}' in the graph: name the inputs by input_names=, in place of {list(inputs)}")
            raise ValueError(f"{flag} has '{name}', which is the name of a {kind} of the module, and both would be '{name}' in the "
                             "graph: choose another name")
    for name in outputs:
        if name in inputs:
            remedy = "name the inputs by input_names=, or choose another name" if names_of_forward else "choose another name"
            raise ValueError(f"output_names has '{name}', which is the name of an input: {remedy}")


def _check_outputs(model: Any, names: Sequence[str]) -> None:
    count = len(model.graph.outputs)
    if len(names) > count:
        raise ValueError(f"output_names has {len(names)} names, but the module has {count} output{'s' if count != 1 else ''}: leave "
                         f"out {', '.join(map(repr, names[count:]))}")


def _separate_values(model: Any) -> None:
    """Gives values inside of the graph other names than those of its inputs, weights and outputs, which the exporter does
    not compare with the names that it is given."""
    graph = model.graph
    kept = [*graph.inputs, *graph.initializers.values(), *graph.outputs]
    taken = {value.name for value in kept}
    fixed = {id(value) for value in kept}
    for node in graph:
        for value in node.outputs:
            if id(value) in fixed or not value.name:
                continue
            name, count = value.name, 1
            while name in taken:
                name, count = f"{value.name}_{count}", count + 1
            taken.add(name)
            if name != value.name:
                value.name = name


def _name_nodes(model: Any) -> None:
    """Names each node after the submodule that it comes from, as the exporter
    has noted: ``node_addmm_2`` becomes ``h.0.mlp.c_fc/addmm_2``."""
    for graph in [model.graph, *(function.graph for function in model.functions.values())]:
        for node in graph:
            try:
                scopes = ast.literal_eval(node.metadata_props["pkg.torch.onnx.name_scopes"])
                submodule = scopes[-2]
            except (KeyError, ValueError, SyntaxError, IndexError, TypeError):
                continue
            if node.name and submodule:
                node.name = f"{submodule}/{node.name.removeprefix('node_')}"


def _strip(model: Any) -> None:
    """Drops what the exporter notes beside the graph."""
    model.metadata_props.clear()
    for graph in [model.graph, *model.functions.values()]:
        graph.metadata_props.clear()
        for node in graph:
            node.metadata_props.clear()
            node.doc_string = None
            for value in node.outputs:
                value.metadata_props.clear()
        for value in [*graph.inputs, *getattr(graph, "initializers", {}).values()]:
            value.metadata_props.clear()


def _mark_parameters(model: Any, module: Any, changed: Sequence[str]) -> None:
    """Notes of each floating-point initializer whether it is trained, the other
    names that it has in the module, and whether it is a constant: a tensor that
    is not in the module's state_dict under any name. A buffer that the forward
    changes is none. That a tensor is no constant goes without saying unless it
    is a single number, as constants of the code are."""
    names: dict[int, list[str]] = {}
    parameters = dict(module.named_parameters(remove_duplicate=False))
    tensors = {**parameters, **dict(module.named_buffers(remove_duplicate=False))}
    persistent = module.state_dict().keys() | parameters.keys()
    for name, tensor in tensors.items():
        if name in persistent:
            names.setdefault(id(tensor), []).append(name)
    for name, value in model.graph.initializers.items():
        if value.dtype is None or value.dtype.is_floating_point():
            parameter = parameters.get(name)
            is_trained = parameter is not None and parameter.requires_grad
            value.metadata_props["gpuopt.trained"] = "true" if is_trained else "false"
            known = names.get(id(tensors.get(name)), [])
            others = [other for other in known if other != name]
            if others:
                value.metadata_props["gpuopt.tied"] = json.dumps(others)
            if not known and name not in changed:
                value.metadata_props["gpuopt.constant"] = "true"
            elif value.shape is not None and value.shape.is_static() and math.prod(value.shape) == 1:
                value.metadata_props["gpuopt.constant"] = "false"


def _stop_gradients(model: Any, names: Sequence[str]) -> None:
    """Notes of the values that no gradient passes them; each is that of an Identity."""
    import onnx_ir as ir

    # An output may have the name that the caller gave it and that a value inside has, too.
    outputs = {id(value) for value in model.graph.outputs}
    values = {value.name: value for value in model.graph.outputs}
    values.update({value.name: value for node in model.graph for value in node.outputs if id(value) not in outputs})
    lost = [name for name in names if name not in values]
    if lost:
        warnings.warn(
            f"the forward stops gradients at {', '.join(lost)}, of which the exporter has left no trace: in the trainer they pass, "
            "so it trains what comes before otherwise than PyTorch",
            stacklevel=3,
        )
    for value in (values[name] for name in names if name in values):
        producer = value.producer()
        if producer.op_type != "Identity":
            stop = ir.node("Identity", [value], name=f"{producer.name}_without_gradient")
            for user, index in list(value.uses()):
                if user is not stop:
                    user.replace_input_with(index, stop.outputs[0])
            stop.outputs[0].name = f"{value.name}_without_gradient"
            for index, output in enumerate(model.graph.outputs):
                if output is value:  # which keeps its name
                    stop.outputs[0].name, value.name = value.name, f"{value.name}_with_gradient"
                    model.graph.outputs[index] = stop.outputs[0]
            stop.outputs[0].type, stop.outputs[0].shape = value.type, value.shape
            model.graph.insert_after(producer, stop)
            value = stop.outputs[0]
        value.metadata_props["gpuopt.stops_gradient"] = "true"


def _guard_deviations(model: Any, names: set[str]) -> None:
    """Lets no gradient pass a standard deviation of 0, as PyTorch does not either: a root has an infinite slope there."""
    import onnx_ir as ir

    for node in list(model.graph):
        if node.op_type != "Sqrt" or node.name.removeprefix("node_") not in names:
            continue
        variance, element = node.inputs[0], node.outputs[0].dtype.numpy()
        before = [ir.node("Constant", [], attributes={"value": ir.tensor(np.array(number, element))}) for number in (0, 1)]
        zero, one = (constant.outputs[0] for constant in before)
        before.append(ir.node("Equal", [variance, zero], name=f"{node.name}_is_zero"))
        is_zero = before[-1].outputs[0]
        before.append(ir.node("Where", [is_zero, one, variance], name=f"{node.name}_safe"))
        before.append(ir.node("Sqrt", [before[-1].outputs[0]], name=f"{node.name}_root"))
        for part in before:
            part.metadata_props.update(node.metadata_props)
        model.graph.insert_before(node, before)
        node.op_type = "Where"
        node.resize_inputs(3)
        for index, value in enumerate((is_zero, zero, before[-1].outputs[0])):
            node.replace_input_with(index, value)


def _note_padding(model: Any, rows: dict[str, int]) -> None:
    for node in model.graph:
        for value in node.outputs:
            if node.op_type == "Gather" and value.name in rows:
                value.metadata_props["gpuopt.padding_row"] = str(rows[value.name])


def _activate_dropout(model: Any) -> None:
    """The exporter writes the dropout of attention without ``training_mode``,
    which means none."""
    import onnx_ir as ir

    for graph in [model.graph, *(function.graph for function in model.functions.values())]:
        for node in list(graph):
            if node.op_type == "Dropout" and node.domain == "" and (len(node.inputs) < 3 or node.inputs[2] is None):
                training = ir.node("Constant", [], attributes={"value": ir.tensor(True)})
                graph.insert_before(node, training)
                node.resize_inputs(3)
                node.replace_input_with(2, training.outputs[0])


def weights_file(path: str | os.PathLike) -> str | os.PathLike:
    """The file of weights that a path stands for, which may be that of a folder."""
    if not os.path.isdir(path):
        return path
    file = os.path.join(path, "model.safetensors")
    if os.path.exists(file):
        return file
    raise FileNotFoundError(
        f"'{os.fspath(path)}' is a folder without model.safetensors: name the folder of a run or a checkpoint, or a safetensors file"
    )


def load_weights(module: Any, path: str | os.PathLike, strict: bool = True) -> None:
    """Copies trained weights into ``module``.

    ``path`` is a safetensors file, or a folder that has a ``model.safetensors``:
    the results of a training or one of its checkpoints.

    Parameters that the module ties (one tensor under several names) need one
    of their names in the file. Buffers that the file lacks stay as they are,
    and without ``strict`` so do parameters: those that the forward never reads
    are not exported.

    Raises:
      FileNotFoundError: there is no such file, or none in the folder.
      KeyError: a parameter of the module is not in the file, and ``strict``.
      ValueError: a tensor has another shape than the module's, or the file is
        not a safetensors file. Nothing has been copied if there is an error.
    """
    import torch

    from gpuopt import safetensors

    path = weights_file(path)
    weights = safetensors.read(path)
    targets = [
        *module.named_parameters(remove_duplicate=False),
        *module.named_buffers(remove_duplicate=False),
    ]
    given = [(name, tensor) for name, tensor in targets if name in weights]
    for name, tensor in given:
        if weights[name].shape != tuple(tensor.shape):
            raise ValueError(f"{name} has shape {weights[name].shape} in {path}, but {tuple(tensor.shape)} in the module")
    found = {id(tensor) for _, tensor in given}
    missing = [name for name, tensor in module.named_parameters() if id(tensor) not in found]
    if missing and strict:
        names = {name for name, _ in targets}
        unexpected = [name for name in weights if name not in names]
        remedy = (
            "pass strict=False to keep the module's own"
            if not unexpected
            else f"it has {', '.join(map(repr, unexpected[:5]))}{' and more' if len(unexpected) > 5 else ''}, which the module lacks: "
            "pass the module that was exported, not one that wraps it or another one"
        )
        raise KeyError(f"{path} lacks {', '.join(missing)}; a parameter that the forward never reads is not exported: {remedy}")
    with torch.no_grad():
        for name, tensor in given:
            tensor.copy_(torch.from_numpy(weights[name].copy()))
