# lit configuration of gpuopt's tests. What a missing tool skips is declared by
# REQUIRES in the test and a feature here, so that lit reports it by name.
import os
import shutil
import subprocess

import lit.formats
from lit.llvm import llvm_config

config.name = "gpuopt"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Unit", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.gpuopt_obj_root, "test")

llvm_config.use_default_substitutions()
for folder in [config.llvm_tools_dir, os.path.join(config.gpuopt_obj_root, "bin")]:
    llvm_config.with_environment("PATH", folder, append_path=True)
config.substitutions.append(("%cxx", config.cxx))
config.substitutions.append(("%protoc", config.protoc))
config.substitutions.append(("%gpuopt_src_root", config.gpuopt_src_root))
config.substitutions.append(("%gpuopt_obj_root", config.gpuopt_obj_root))

if os.path.exists(os.path.join(config.gpuopt_obj_root, "bin", "gpuopt-plan-convolutions")):
    config.available_features.add("cudnn")

# scripts/test.sh --full sets it.
if os.environ.get("GPUOPT_FULL_TESTS") == "1":
    config.available_features.add("full")

if shutil.which("nvcc"):
    config.available_features.add("nvcc")

if all(shutil.which(tool) for tool in ("cpack", "dpkg-deb", "dpkg-query", "readelf")):
    config.available_features.add("deb")

# Kernels may forbid users to have mounts of their own.
if shutil.which("unshare") and subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode == 0:
    config.available_features.add("mounts")


def nvidia_includes():
    """Folders of the cuBLASLt and cuDNN headers, from the wheels that PyTorch's
    users have."""
    roots = config.nvidia_wheels.split(";")
    folders = [os.path.join(root, part, "include") for root in roots for part in ("cu13", "cudnn")]
    return [folder for folder in folders if os.path.isdir(folder)]


if len(nvidia_includes()) == 2:
    config.available_features.add("nvidia-headers")
    config.substitutions.append(("%nvidia_includes", " ".join("-I" + folder for folder in nvidia_includes())))
