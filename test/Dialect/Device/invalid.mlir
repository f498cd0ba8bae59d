// RUN: gpuopt-opt %s -split-input-file -verify-diagnostics

device.kernel @empty_row blocks 1 threads 32 [] {
  // expected-error @below {{expects at least one element, but got 0}}
  %row = device.row 0 : !device.ptr<f32>
}

// -----

device.step @rows micro {
  %0 = device.address @x : !device.ptr<f32>
  // expected-error @below {{expects 'rows' to be a size that divides 32 and a larger pitch, but got [8, 8]}}
  device.check_finite %0 count 32 rows [8, 8] index 0 name "x" : !device.ptr<f32>
}

// -----

device.step @rows micro {
  %0 = device.address @x : !device.ptr<f32>
  // expected-error @below {{expects 'rows' to be a size that divides 32 and a larger pitch, but got [7, 8]}}
  device.check_finite %0 count 32 rows [7, 8] index 0 name "x" : !device.ptr<f32>
}

// -----

// expected-error @below {{expects one name per argument, but got 1 for 2}}
device.kernel @names blocks 1 threads 32 ["x"] {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %row = device.block_index
}

// -----

device.kernel @no_index blocks 1 threads 32 [] {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expects a body with one index argument that ends in 'device.yield'}}
  device.loop lanes %c0 to %c0 [] {
    device.yield
  }
}

// -----

device.kernel @no_yield blocks 1 threads 32 [] {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expects a body with one index argument that ends in 'device.yield'}}
  device.loop lanes %c0 to %c0 [] {
  ^bb0(%i: index):
    %row = device.block_index
  }
}

// -----

device.kernel @combiners blocks 1 threads 32 [] {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expects 1 yielded values and results, one per combiner}}
  device.loop lanes %c0 to %c0 [#device.combiner<sum>] {
  ^bb0(%i: index):
    device.yield
  }
}

// -----

device.kernel @types blocks 1 threads 32 [] {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{expects results of the types that the body yields}}
  %sum = device.loop lanes %c0 to %c0 [#device.combiner<sum>] -> (f64) {
  ^bb0(%i: index):
    device.yield %zero : f32
  }
}

// -----

device.kernel @load_strides blocks 1 threads 32 ["x"] {
^bb0(%x: !device.ptr<f32>):
  %i = device.block_index
  // expected-error @below {{expects one stride per index, but got 2 for 1}}
  %v = device.load %x[%i : index] strides [4, 1] offset 0 uniform : !device.ptr<f32> -> f32
}

// -----

device.kernel @store_type blocks 1 threads 32 ["x"] {
^bb0(%x: !device.ptr<f32>):
  %i = device.block_index
  %zero = arith.constant 0.0 : f64
  // expected-error @below {{expects an element of type 'f32', but got 'f64'}}
  device.store %zero, %x[%i : index] strides [1] offset 0 uniform : f64, !device.ptr<f32>
}

// -----

device.kernel @position_strides blocks 1 threads 32 [] {
  %i = device.block_index
  // expected-error @below {{expects one stride per index, but got 0 for 1}}
  %p = device.position [%i] strides [] offset 0 uniform
}

// -----

device.kernel @position_alignment blocks 1 threads 32 [] {
  %i = device.block_index
  // expected-error @below {{expects an alignment of at least one element, but got 0}}
  %p = device.position [%i] strides [1] offset 0 uniform aligned 0
}

// -----

device.kernel @digits blocks 1 threads 32 [] {
  %i = device.block_index
  // expected-error @below {{expects one result per size, but got 1 for 2}}
  %d = device.delinearize %i by [4, 8] : index
}

// -----

device.kernel @digit_of_none blocks 1 threads 32 [] {
  %i = device.block_index
  // expected-error @below {{expects sizes of at least 1, but got 0}}
  %d:2 = device.delinearize %i by [4, 0] : index, index
}

// -----

device.step @template_argument micro {
  // expected-error @below {{expects a type, an integer of 64 bits or a string as argument of a template, but got 5.000000e-01 : f64}}
  device.call "attention"<0.5>() {section = #device.section<forward>}
}

// -----

device.step @operands micro {
  %a = device.address @a : !device.ptr<f32>
  // expected-error @below {{expects as many operands as its arguments stand for, but got 1 for 2}}
  "device.call"(%a) {function = "f", arguments = [unit, #device.named<"bias", unit>]} : (!device.ptr<f32>) -> ()
}

// -----

device.step @argument micro {
  // expected-error @below {{expects an operand, a number of 64 bits, 'null', 'state', a struct or options as argument, but got "text"}}
  device.call "f"("text")
}

// -----

device.step @option micro {
  // expected-error @below {{expects an operand, a number of 64 bits, 'null', 'state', a struct or options as argument, but got [4]}}
  "device.call"() {function = "f", arguments = [[4]]} : () -> ()
}

// -----

device.step @integer micro {
  // expected-error @below {{as argument, but got 4 : i32}}
  device.call "f"(4 : i32)
}

// -----

device.step @norm micro {
  %a = device.address @a : !device.ptr<f32>
  // expected-error @below {{expects one count and one parameter per gradient, but got 2 and 1 for 1}}
  device.grad_norm %a over 1, %a counts [4, 5] of ["w"] : !device.ptr<f32>, !device.ptr<f32>
}

// -----

// expected-error @below {{expects a statically shaped tensor type, but got 'f32'}}
device.buffer @x input at 256 : f32 {origin = "x"}

// -----

// expected-error @below {{expects a statically shaped tensor type, but got 'tensor<?xf32>'}}
device.buffer @x input at 256 : tensor<?xf32> {origin = "x"}

// -----

// expected-error @below {{expects to lie within 63 bits, but got 'tensor<4xf32>' at 9223372036854775800}}
device.buffer @x input at 9223372036854775800 : tensor<4xf32> {origin = "x"}

// -----

// expected-error @below {{expects to lie within 63 bits, but got 'tensor<4xf32>' at -256}}
device.buffer @x input at -256 : tensor<4xf32> {origin = "x"}

// -----

// expected-error @below {{expects to lie within 63 bits, but got 'tensor<4294967296x4294967296xf32>' at 0}}
device.buffer @x input at 0 : tensor<4294967296x4294967296xf32> {origin = "x"}

// -----

device.step @lamb micro {
  %a = device.address @a : !device.ptr<f32>
  // expected-error @below {{expects an optimizer of }}
  device.update "lamb" %a, %a shape [4] : !device.ptr<f32>, !device.ptr<f32>
}

// -----

device.step @states micro {
  %a = device.address @a : !device.ptr<f32>
  // expected-error @below {{expects one name for each state, but got 2 for 1}}
  device.update "adamw" %a, %a state ["exp_avg", "exp_avg_sq"](%a) shape [4] : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32>
}

// -----

device.step @undeclared micro {
  %a = device.address @a : !device.ptr<f32>
  // expected-error @below {{expects states of 'sgd', but got "exp_avg"}}
  device.update "sgd" %a, %a state ["exp_avg"](%a) shape [4] : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32>
}

// -----

device.step @no_direction update {
  %a = device.address @a : !device.ptr<f32>
  // expected-error @below {{expects an optimizer that has a direction, but got 'lion'}}
  device.direction "lion" %a to %a state ["exp_avg"](%a) count 4 : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32>
}

// -----

device.step @direction_states update {
  %a = device.address @a : !device.ptr<f32>
  // expected-error @below {{expects one name for each state, but got 0 for 1}}
  "device.direction"(%a, %a, %a) <{optimizer = "muon", count = 4 : i64}> : (!device.ptr<f32>, !device.ptr<f32>, !device.ptr<f32>) -> ()
}

// -----

device.step @no_scratch update {
  %a = device.address @a : !device.ptr<f32>
  // expected-error @below {{expects scratch memory for 'adafactor'}}
  device.update "adafactor" %a, %a state ["exp_avg_sq"](%a) shape [4] : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32>
}

// -----

device.step @scratch update {
  %a = device.address @a : !device.ptr<f32>
  // expected-error @below {{expects no scratch memory for 'sgd'}}
  device.update "sgd" %a, %a scratch %a shape [4] : !device.ptr<f32>, !device.ptr<f32> scratch !device.ptr<f32>
}

// -----

// Text has no types of numbers, so that another one would not come back.
device.step @narrow_number micro {
  // expected-error @below {{expects an operand, a number of 64 bits, 'null', 'state', a struct or options as argument, but got 5.000000e-01 : f32}}
  device.call "f"(0.5 : f32)
}

// -----

device.step @numbers micro {
  // expected-error @below {{expects numbers of type index or floating-point, but got "many"}}
  device.launch @sum() numbers ["many"]
}

// -----

// expected-error @below {{expects a 'resultNumber' of at least 0, but got -1}}
device.buffer @x arena at 0 : tensor<4xf32> live 0 to 1 in @s {origin = "x", resultNumber = -1 : i64}

// -----

// expected-error @below {{expects 'device.lanes' to be 4 or 8, of type i64, but got 3 : i64}}
module attributes {device.lanes = 3 : i64} {
}

// -----

// expected-error @below {{has 'device.lanes', which only a module has}}
device.step @lanes micro attributes {device.lanes = 8 : i64} {
}

// -----

device.step @key micro {
  // expected-error @below {{expects 'device.cost_key' to be two strings, an origin and its work, but got ["relu"]}}
  device.await 0 {device.cost_key = ["relu"]}
}

// -----

// expected-error @below {{has 'device.cost_key', which only an op of a 'device.step' has}}
device.step @key micro attributes {device.cost_key = ["relu", "fused"]} {
}

// -----

// expected-error @below {{has an attribute 'device.lane', which 'device' does not know}}
module attributes {device.lane = 8 : i64} {
}

// -----

// expected-error @below {{expects groups of 1, 2, 4, 8, 16 or 32 threads that are whole warps together, but got 96 threads in 2 groups}}
device.kernel @groups blocks 1 threads 96 groups 2 [] {
}

// -----

// expected-error @below {{expects groups of 1, 2, 4, 8, 16 or 32 threads that are whole warps together, but got 32 threads in 0 groups}}
device.kernel @no_groups blocks 1 threads 32 groups 0 [] {
}

// -----

device.kernel @nowhere blocks 1 threads 32 ["x"] {
^bb0(%x: !device.ptr<f32>):
  %c0 = arith.constant 0 : index
  // expected-error @below {{expects an alignment of at least one element, but got 0}}
  %0 = device.load %x[%c0 : index] strides [1] offset 0 uniform aligned 0 : !device.ptr<f32> -> f32
}

// -----

// expected-error @below {{expects pointers where arguments are aliased, but got position 1}}
device.kernel @aliased blocks 1 threads 32 ["x", "rows"] aliased [0, 1] {
^bb0(%x: !device.ptr<f32>, %rows: index):
}

// -----

device.kernel @row_groups blocks 1 threads 32 groups 4 [] {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  // expected-error @below {{over row groups expects to lie in a loop over lanes where it combines values}}
  %sum = device.loop row_groups %c0 to %c0 [#device.combiner<sum>] -> (f32) {
  ^bb0(%r: index):
    device.yield %one : f32
  }
}

// -----

device.kernel @rows_of_groups blocks 1 threads 64 groups 2 [] {
  %held = device.row 64 registers : !device.ptr<f32>
  // expected-error @below {{expects registers for the rows of several groups}}
  %row = device.row 64 : !device.ptr<f32>
}

// -----

device.kernel @combined_in_rows blocks 1 threads 64 groups 2 [] {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  device.loop row_groups %c0 to %c0 [] {
  ^bb0(%r: index):
    device.loop lanes %c0 to %c0 [] {
    ^bb1(%i: index):
      // expected-error @below {{expects to be in a loop over lanes that is in no other loop, in a kernel with several groups}}
      %total = device.combine_groups <sum> %one : f32
      device.yield
    }
    device.yield
  }
}

// -----

device.kernel @combined_alone blocks 1 threads 32 [] {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  device.loop lanes %c0 to %c0 [] {
  ^bb0(%i: index):
    // expected-error @below {{expects to be in a loop over lanes that is in no other loop, in a kernel with several groups}}
    %total = device.combine_groups <sum> %one : f32
    device.yield
  }
}

// -----

device.kernel @combined_by_nobody blocks 1 threads 64 groups 2 [] {
  %one = arith.constant 1.0 : f32
  // expected-error @below {{expects to be in a loop over lanes that is in no other loop, in a kernel with several groups}}
  %total = device.combine_groups <sum> %one : f32
}

// -----

device.kernel @unroll blocks 1 threads 32 [] {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expects to unroll 1 iteration or more, and bounds that are multiples of 1 or more, but got 0 and 1}}
  device.loop sequential %c0 to %c0 unroll 0 [] {
  ^bb0(%r: index):
    device.yield
  }
}

// -----

device.kernel @sum_exp blocks 1 threads 32 [] {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %0:2 = device.loop lanes %c0 to %c0 [#device.combiner<max>, #device.combiner<sum_exp>] -> (f32, f32) {
  ^bb0(%r: index):
    device.yield %one, %one : f32, f32
  }
  // expected-error @below {{expects a sum of exponentials in a loop over lanes, behind the maximum of the same floating-point values}}
  %1:2 = device.loop lanes %c0 to %c0 [#device.combiner<max>, #device.combiner<sum_exp>] -> (f32, f32) {
  ^bb0(%r: index):
    device.yield %one, %two : f32, f32
  }
}

// -----

device.kernel @sum_exp_of_iterations blocks 1 threads 32 [] {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  // expected-error @below {{expects a sum of exponentials in a loop over lanes, behind the maximum of the same floating-point values}}
  %0:2 = device.loop sequential %c0 to %c0 [#device.combiner<max>, #device.combiner<sum_exp>] -> (f32, f32) {
  ^bb0(%r: index):
    device.yield %one, %one : f32, f32
  }
}

// -----

device.step @multi_tensor micro {
  // expected-error @below {{expects two calls or more, but got 1}}
  device.multi_tensor {
    %0 = device.address @x : !device.ptr<f32>
    %1 = device.address @y : !device.ptr<f32>
    device.accumulate %0 into %1 count 4 : !device.ptr<f32>, !device.ptr<f32>
  }
}

// -----

device.step @multi_tensor micro {
  device.multi_tensor {
    // expected-error @below {{expects to be outside of 'device.multi_tensor', which has only calls on tensors and addresses}}
    device.await 0
  }
}

// -----

device.step @multi_tensor micro {
  device.multi_tensor {
    %0 = device.address @x : !device.ptr<f32>
    %1 = device.address @y : !device.ptr<f32>
    device.accumulate %0 into %1 count 4 : !device.ptr<f32>, !device.ptr<f32>
    // expected-error @below {{expects to be of the kind of the first call, with the same types}}
    device.snapshot %0 in %1 count 4 : !device.ptr<f32>, !device.ptr<f32>
  }
}

// -----

device.step @multi_tensor micro {
  device.multi_tensor {
    %0 = device.address @x : !device.ptr<f32>
    device.update "muon" %0, %0 shape [2, 2] : !device.ptr<f32>, !device.ptr<f32>
    // expected-error @-1 {{expects to be of the kind of the first call, with the same types}}
    device.update "muon" %0, %0 shape [2, 2] : !device.ptr<f32>, !device.ptr<f32>
  }
}

// -----

device.step @multi_tensor micro {
  device.multi_tensor {
    %0 = device.address @x : !device.ptr<f16>
    %1 = device.address @y : !device.ptr<bf16>
    %2 = device.address @sum : !device.ptr<f32>
    device.accumulate %0 into %2 count 4 : !device.ptr<f16>, !device.ptr<f32>
    // expected-error @below {{expects the others' half type 'f16', but got 'bf16'}}
    device.accumulate %1 into %2 count 4 : !device.ptr<bf16>, !device.ptr<f32>
  }
}

// -----

device.step @parts micro {
  %0 = device.address @x : !device.ptr<f16>
  %1 = device.address @y : !device.ptr<f32>
  // expected-error @below {{expects parts and a sum of f32, but got 'f16'}}
  device.sum_parts %0 to %1 count 4 columns 8 : !device.ptr<f16>, !device.ptr<f32>
}

// -----

device.step @parts micro {
  %0 = device.address @x : !device.ptr<f32>
  %1 = device.address @y : !device.ptr<f32>
  // expected-error @below {{expects at least one part, but got 0}}
  device.sum_parts %0 to %1 count 0 columns 8 : !device.ptr<f32>, !device.ptr<f32>
}

// -----

device.buffer @y output at 256 : tensor<4x4xf32> {origin = "y"}
// expected-error @below {{expects to be an input, placed in an output that is larger than 'tensor<3x3xf32>' in one dimension, but is placed in @y}}
device.buffer @x input at 512 : tensor<3x3xf32> {origin = "x", placedIn = @y}

// -----

// expected-error @below {{expects to be an input, placed in an output that is larger than 'tensor<3xf32>' in one dimension, but is placed in @y}}
device.buffer @x input at 512 : tensor<3xf32> {origin = "x", placedIn = @y}
