"""gpuopt: export a PyTorch module, compile it to a trainer, train it.

Only :func:`export` and :func:`load_weights` need torch.
"""

from gpuopt import safetensors
from gpuopt.driver import DriverError, DriverNotFoundError, compile, train
from gpuopt.exporting import export, load_weights

__all__ = ["DriverError", "DriverNotFoundError", "compile", "export", "load_weights", "safetensors", "train"]
__version__ = "0.1.0"
