"""Prints a kernel of 60 squares, each of the one before, that divides the rows of the last by their sums."""

ROWS = "tensor<4x4096xf32>"
print(f"""train.step @squares forward ("x" %x: {ROWS}) {{
  %y = nn.fused "squares" %x : {ROWS} -> {ROWS} {{
  ^bb0(%0: {ROWS}):""")
for square in range(60):
    print(f"    %{square + 1} = arith.mulf %{square}, %{square} : {ROWS}")
print(f"""    %sum = nn.reduce sum %60 [1] : {ROWS}
    %all = nn.broadcast %sum : tensor<4x1xf32> to {ROWS}
    %quotient = arith.divf %60, %all : {ROWS}
    nn.yield %quotient : {ROWS}
  }}
  train.output "y", %y : {ROWS}
}}""")
