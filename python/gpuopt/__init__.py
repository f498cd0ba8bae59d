"""gpuopt: export a PyTorch module, compile it to a trainer, train it, predict
with it or call its steps.

Only :func:`export` and :func:`load_weights` need torch.
"""

from gpuopt import safetensors
from gpuopt.driver import DriverError, DriverNotFoundError, compile, plan, predict, train
from gpuopt.exporting import export, load_weights
from gpuopt.program import Program, load
from gpuopt.tokenizing import tokenize

__all__ = [
    "DriverError", "DriverNotFoundError", "Program", "compile", "export", "load", "load_weights", "plan",
    "predict", "safetensors", "tokenize", "train",
]
__version__ = "0.2.0"
