# lit configuration of gpuopt's tests. What a missing tool skips is declared by
# REQUIRES in the test and a feature here, so that lit reports it by name.
import os
import shutil

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
config.substitutions.append(("%protoc", config.protoc))
config.substitutions.append(("%gpuopt_src_root", config.gpuopt_src_root))

if shutil.which("nvcc"):
    config.available_features.add("nvcc")
