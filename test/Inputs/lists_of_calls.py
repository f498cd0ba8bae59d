"""usage: lists_of_calls.py ROOT [OP]...

Prints the sources that name more than one op which is a call of the runtime
(RuntimeCallOpInterface). Passes ask the interface and have no lists; only where
the ops are defined and made are they known by name, where one is recognised by
the others that it consists of, or becomes another, and where the kernels of
attention are.
"""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
known = ("Dialect/NN/IR", "Conversion/OnnxToNN", "Dialect/NN/Transforms/AttentionPattern",
         "Dialect/NN/Transforms/RecognizeAttention", "Dialect/NN/Transforms/Decompose",
         "Transforms/Kernels/FuseEpilogues", "Transforms/Kernels/FuseRelus",
         "Transforms/Kernels/SumOperands", "Dialect/NN/Transforms/RewriteStems",
         "Dialect/Train/Transforms/Backward/FoldRunningStatistics", "Analysis/Costs/AttentionCost")
dialect = "\n".join(path.read_text() for path in sorted((root / "include/gpuopt/Dialect/NN/IR").glob("*.td")))
calls = [name for name, traits in re.findall(r"^def NN_(\w+Op)\s*:[^{]*?<\"\w+\", \[(.*?)\]> \{", dialect, re.M | re.S)
         if "Call" in traits]
for path in sorted([*root.glob("lib/**/*"), *root.glob("include/**/*")]):
    if path.suffix in (".cpp", ".h", ".td") and not any(part in str(path) for part in known):
        named = [name for name in calls if re.search(rf"\b{name}\b", path.read_text())]
        if len(named) > 1:
            print(f"{path.relative_to(root)} lists {', '.join(named)}")
print(f"{len(calls)} calls: {', '.join(sorted(calls))}")
