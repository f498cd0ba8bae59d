// RUN: gpuopt-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects a value of type 'tensor<4xf32>', but got 'tensor<3xf32>'}}
train.variable @v parameter : tensor<4xf32> {value = dense<0.0> : tensor<3xf32>}

// -----

// expected-error @below {{expects at most one of 'value' and 'file'}}
train.variable @v parameter : tensor<1xf32> {value = dense<0.0> : tensor<1xf32>, file = "a", offset = 0 : i64, sizeInBytes = 4 : i64}

// -----

// expected-error @below {{expects 16 bytes for 'tensor<4xf32>', but got 12}}
train.variable @v parameter : tensor<4xf32> {file = "a", offset = 0 : i64, sizeInBytes = 12 : i64}

// -----

// expected-error @below {{expects at most 8 dimensions, which is what programs hold, but got 9}}
train.variable @v parameter : tensor<1x1x1x1x1x1x1x1x4xf32>

// -----

// expected-error @below {{expects 'of', the parameter that it belongs to}}
train.variable @v optimizer_state : tensor<4xf32>

// -----

// expected-note @below {{the variable is here}}
train.variable @v parameter : tensor<4xf32>
train.step @s forward () {
  // expected-error @below {{expects type 'tensor<4xf32>', but got 'tensor<5xf32>'}}
  %0 = train.read @v : tensor<5xf32>
}

// -----

train.step @s forward () {
  // expected-error @below {{expects a variable named @missing}}
  %0 = train.read @missing : tensor<5xf32>
}

// -----

train.step @s forward ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects one argument of the same type for each operand}}
  %0 = train.recompute "why" %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<5xf32>):
    %1 = arith.constant dense<0.0> : tensor<4xf32>
    train.yield %1 : tensor<4xf32>
  }
}

// -----

train.step @s forward ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects the yielded values to have the results' types}}
  %0 = train.recompute "why" %x : (tensor<4xf32>) -> tensor<5xf32> {
  ^bb0(%a: tensor<4xf32>):
    train.yield %a : tensor<4xf32>
  }
}

// -----

train.variable @w parameter : tensor<4xf32>
train.step @s forward ("x" %x: tensor<4xf32>) {
  %w = train.read @w : tensor<4xf32>
  // expected-error @below {{expects a value of the step, but got a variable's, which updates change}}
  %h = train.offload %w : tensor<4xf32>
}

// -----

train.step @s forward ("x" %x: tensor<4xf32>) {
  %0 = nn.reduce sum %x [0] : tensor<4xf32>
  %1 = nn.reduce max %x [0] : tensor<4xf32>
  %h = train.offload %0 : tensor<1xf32>
  // expected-error @below {{expects a copy of the value that it waits for}}
  train.await_offload %h of %1 : tensor<1xf32>
}

// -----

train.step @s forward ("x" %x: tensor<4xf32>) {
  %0 = nn.reduce sum %x [0] : tensor<4xf32>
  // expected-error @below {{expects the result of a 'train.reload'}}
  train.await_reload %0 : tensor<1xf32>
}

// -----

// expected-error @below {{expects a statically shaped tensor type, but got 'tensor<?xf32>'}}
train.variable @v parameter : tensor<?xf32>

// -----

// expected-error @below {{expects a statically shaped tensor type, but got 'tensor<4xindex>'}}
train.variable @v parameter : tensor<4xindex> {file = "a", offset = 0 : i64, sizeInBytes = 16 : i64}

// -----

// expected-error @below {{expects 'offset' and 'sizeInBytes' beside 'file'}}
train.variable @v parameter : tensor<4xf32> {file = "a", sizeInBytes = 16 : i64}

// -----

// expected-error @below {{expects 'offset' and 'sizeInBytes' beside 'file'}}
train.variable @v parameter : tensor<4xf32> {file = "a", offset = -4 : i64, sizeInBytes = 16 : i64}

// -----

train.variable @w parameter : tensor<4xf32>
train.step @s micro ("x" %x: tensor<5xf32>) {
  // expected-error @below {{expects a variable named @m}}
  train.accumulate @m, %x : tensor<5xf32>
}

// -----

train.variable @w parameter : tensor<4xf32>
train.step @s micro ("x" %x: tensor<5xf32>) {
  // expected-error @below {{expects a value of the variable's shape, 'tensor<4xf32>', but got 'tensor<5xf32>'}}
  train.accumulate @w, %x : tensor<5xf32>
}

// -----

train.variable @w parameter : tensor<4xf32>
train.step @s micro ("x" %x: tensor<5xf32>) {
  // expected-error @below {{expects a gradient of the parameter's shape, 'tensor<4xf32>', but got 'tensor<5xf32>'}}
  train.update "sgd" @w, %x : tensor<5xf32>
}

// -----

train.variable @w parameter : tensor<4xf32>
train.variable @w16 half_copy : tensor<5xf16> {of = @w}
train.step @s micro ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects a copy of the parameter's shape, 'tensor<4xf32>', but got 'tensor<5xf16>'}}
  train.update "sgd" @w, %x copy @w16 : tensor<4xf32>
}

// -----

train.variable @w parameter : tensor<4xf32>
// expected-note @below {{the variable is here}}
train.variable @m optimizer_state : tensor<4xf16> {of = @w}
train.variable @v optimizer_state : tensor<4xf32> {of = @w}
train.step @s micro ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects type 'tensor<4xf16>', but got 'tensor<4xf32>'}}
  train.update "adamw" @w, %x state {exp_avg = @m, exp_avg_sq = @v} : tensor<4xf32>
}

// -----

train.variable @w parameter : tensor<4xf32>
train.step @s micro ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects an optimizer of }}
  train.update "lamb" @w, %x : tensor<4xf32>
}

// -----

train.variable @w parameter : tensor<4xf32>
train.step @s micro ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects the number of a parameter group, which is at least 1, but got 0}}
  train.update "sgd" @w, %x decay group 0 : tensor<4xf32>
}

// -----

train.variable @w parameter : tensor<4xf32>
train.variable @m optimizer_state : tensor<4xf32> {of = @w}
train.step @s micro ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects variables of states of 'sgd', but got 'exp_avg'}}
  train.update "sgd" @w, %x state {exp_avg = @m} : tensor<4xf32>
}

// -----

train.variable @w parameter : tensor<4xf32>
train.variable @m optimizer_state : tensor<4xf32> {of = @w}
train.step @s micro ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects a variable for the state 'exp_avg_sq' of 'adamw'}}
  train.update "adamw" @w, %x state {exp_avg = @m} : tensor<4xf32>
}

// -----

train.variable @w parameter : tensor<4xf32>
train.variable @r optimizer_state : tensor<f32> {of = @w}
train.step @s micro ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects no state 'exp_avg_sq_row' of a parameter of type 'tensor<4xf32>'}}
  train.update "adafactor" @w, %x state {exp_avg_sq_row = @r} : tensor<4xf32>
}

// -----

train.variable @w parameter : tensor<4xf32>
train.variable @snapshot buffer : tensor<4xf16>
train.step @s micro () {
  // expected-error @below {{expects variables of one type, but got 'tensor<4xf32>' and 'tensor<4xf16>'}}
  train.snapshot @w in @snapshot
}

// -----

train.variable @w parameter : tensor<4xf32>
train.variable @w16 half_copy : tensor<5xf16> {of = @w}
train.step @s prepare () {
  // expected-error @below {{expects variables of one shape, but got}}
  train.refresh @w16 from @w
}

// -----

train.step @s micro ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects operands of one element, but got 'tensor<4xf32>'}}
  train.report_loss %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

train.step @s forward ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects a body that ends with 'train.yield'}}
  "train.recompute"(%x) <{reason = "why"}> ({
  ^bb0(%a: tensor<4xf32>):
    %0 = nn.reduce sum %a [0] : tensor<4xf32>
  }) : (tensor<4xf32>) -> ()
}

// -----

// expected-error @below {{expects one input name per argument, but got 0 for 1}}
"train.step"() <{inputNames = [], kind = #train<step_kind micro>, sym_name = "s"}> ({
^bb0(%x: tensor<4xf32>):
}) : () -> ()

// -----

train.variable @w parameter : tensor<4xf32>
train.step @s update ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects a parameter that 'muon' can update, but got 'tensor<4xf32>'}}
  train.update "muon" @w, %x : tensor<4xf32>
}

// -----

train.variable @w parameter : tensor<4x8xf32> {isTable}
train.step @s update ("x" %x: tensor<4x8xf32>) {
  // expected-error @below {{expects a parameter that 'muon' can update, but got 'tensor<4x8xf32>', a table}}
  train.update "muon" @w, %x : tensor<4x8xf32>
}

// -----

train.variable @w parameter : tensor<4x8xf32>
train.variable @m optimizer_state : tensor<4x8xf32> {of = @w}
train.step @s update ("x" %x: tensor<4x8xf32>) {
  // expected-error @below {{expects no states, which 'train.direction' has}}
  train.update "muon" @w, %x state {momentum_buffer = @m} : tensor<4x8xf32>
}

// -----

train.variable @w parameter : tensor<4x8xf32>
train.variable @m optimizer_state : tensor<4x8xf32> {of = @w}
train.step @s update ("x" %x: tensor<4x8xf32>) {
  // expected-error @below {{expects tensors of the parameter's shape, 'tensor<4x8xf32>', but got 'tensor<8x4xf32>'}}
  %d = train.direction "muon" of @w, %x state {momentum_buffer = @m} : tensor<4x8xf32> -> tensor<8x4xf32>
}

// -----

train.variable @w parameter : tensor<4x8xf32>
train.step @s update ("x" %x: tensor<4x8xf32>) {
  // expected-error @below {{expects an optimizer that has a direction, but got 'sgd'}}
  %d = train.direction "sgd" of @w, %x : tensor<4x8xf32> -> tensor<4x8xf32>
}

// -----

train.variable @w parameter : tensor<4x8xf32>
train.step @s update ("x" %x: tensor<4x8xf32>) {
  // expected-error @below {{expects a variable for the state 'momentum_buffer' of 'muon'}}
  %d = train.direction "muon" of @w, %x : tensor<4x8xf32> -> tensor<4x8xf32>
}

// -----

train.variable @w parameter : tensor<4xf32>
train.step @s update ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects one parameter per gradient, but got 0 for 1}}
  train.grad_norm %x of [] : tensor<4xf32>
}

// -----

train.variable @w parameter : tensor<8xf32>
train.step @s update ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects the gradient of @w to have its shape, 'tensor<8xf32>', but got 'tensor<4xf32>'}}
  train.grad_norm %x of [@w] : tensor<4xf32>
}

// -----

train.step @s update ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects a variable named @w}}
  train.grad_norm %x of [@w] : tensor<4xf32>
}

// -----

// expected-error @below {{expects 'train.plan' to be a '#train.plan', but got {repeats = 1 : i64}}}
train.step @s update () attributes {train.plan = {repeats = 1 : i64}} {
}

// -----

// expected-error @below {{expects 'train.proof' to be a '#train.proof', but got []}}
train.step @s update () attributes {train.proof = []} {
}

// -----

// expected-error @below {{expects counts that are not negative, but got -1}}
train.step @s update () attributes {train.plan = #train.plan<arenaBytes = 512, plainArenaBytes = 1024, repeats = -1, plainNanoseconds = 2.0 : f64, addedNanoseconds = 1.0 : f64, lowerBoundNanoseconds = 0.0 : f64>} {
}

// -----

// expected-error @below {{expects times of type f64, but got 5.000000e-01 : f32}}
train.step @s update () attributes {a = #train.transfers<bytes = 64, busyNanoseconds = 0.5 : f32, waitedNanoseconds = 0.25 : f64>} {
}

// -----

// expected-error @below {{expects the bytes of a file, but got 'tensor<1xf32>'}}
train.step @s update () attributes {train.proof = #train.proof<problem = dense_resource<p> : tensor<1xf32>, plan = dense_resource<q> : tensor<4xi8>>} {
}

// -----

// expected-error @below {{expects a range that does not end before it begins, but got 4 to 3}}
train.step @s update () attributes {labelsRanges = [#train.index_range<4 to 3>]} {
}

// -----

// expected-error @below {{expects the last inputs to be the labels, but got ["y"] for inputs ["x"]}}
train.step @s micro ("x" %x: tensor<4xf32>) attributes {labelsNames = ["y"], labelsRanges = [unit]} {
}

// -----

// expected-error @below {{expects one range for each name of labels, but got 0 for 1}}
train.step @s micro ("x" %x: tensor<4xf32>) attributes {labelsNames = ["x"]} {
}

// -----

// expected-error @below {{expects a kind of step, but got 'backward'}}
train.step @s backward () {
}

// -----

// expected-error @below {{expects numbers in 'file', but got 'index'}}
train.variable @v parameter : tensor<4xf32> {file = "a", offset = 0 : i64, sizeInBytes = 16 : i64, storedElementType = index}

// -----

// expected-error @below {{expects no pads but spare rows of zeros behind a half copy or a frozen weight in half precision, but got 'tensor<4x8xf32, {spare_rows = 2 : i64, zeros}>'}}
train.variable @w parameter : tensor<4x8xf32, {spare_rows = 2, zeros}>

// -----

train.variable @w parameter : tensor<4x8xf32>
// expected-error @below {{expects no pads but spare rows of zeros behind a half copy or a frozen weight in half precision, but got 'tensor<4x8xf16, {spare_rows = 2 : i64}>'}}
train.variable @w16 half_copy : tensor<4x8xf16, {spare_rows = 2}> {of = @w}

// -----

// expected-error @below {{expects a 'memoryOffset' of at least 0, but got -256}}
train.variable @w parameter : tensor<4xf32> {memoryOffset = -256 : i64}

// -----

// expected-error @below {{expects 'train.precision' to be a '#train.precision', but got {summary = "none"}}}
train.step @s micro () attributes {train.precision = {summary = "none"}} {
}

// -----

// expected-error @below {{expects times of type f64, but got 1.000000e+00 : f32}}
train.step @s micro () attributes {train.precision = #train.precision<summary = "none", chosenNanoseconds = 1.0 : f32>} {
}

// -----

// expected-error @below {{has 'train.precision', which only a step has}}
train.variable @w parameter : tensor<4xf32> {train.precision = #train.precision<summary = "none", chosenNanoseconds = 1.0 : f64>}

// -----

// expected-error @below {{has 'train.plan', which only a step has}}
module attributes {train.plan = #train.plan<arenaBytes = 512, plainArenaBytes = 1024, repeats = 1, plainNanoseconds = 2.0 : f64, addedNanoseconds = 1.0 : f64, lowerBoundNanoseconds = 0.0 : f64>} {
}

// -----

// expected-error @below {{expects 'train.unmet_budget' to be a '#train.unmet_budget', but got {smallest_bytes = 4 : i64}}}
module attributes {train.unmet_budget = {smallest_bytes = 4 : i64}} {
}

// -----

// expected-error @below {{has 'train.unmet_budget', which only a module has}}
train.step @s micro () attributes {train.unmet_budget = #train.unmet_budget<smallest 8 limit 4 alive at "x">} {
}

// -----

// expected-error @below {{expects counts that are not negative, but got -8}}
module attributes {a = #train.unmet_budget<smallest 8 limit 4 beside [<"parameters" of -8>] alive at "x">} {
}

// -----

// expected-error @below {{expects a smallest budget of at least the limit, 16 bytes, but got 8}}
module attributes {a = #train.unmet_budget<smallest 8 limit 16 alive at "x">} {
}

// -----

// expected-error @below {{expects 'train.half_type' to be f16 or bf16, but got f32}}
module attributes {train.half_type = f32} {
}

// -----

// expected-error @below {{has 'train.half_type', which only a module has}}
train.step @s micro () attributes {train.half_type = f16} {
}

// -----

train.step @s micro ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects 'train.half_results' to be one boolean for each of 1 results, but got array<i1: true, true>}}
  %0 = arith.negf %x {train.half_results = array<i1: true, true>} : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{has 'train.half_results', which only an op in a step has}}
  %0 = arith.negf %x {train.half_results = array<i1: true>} : tensor<4xf32>
  return
}

// -----

train.step @s micro ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects 'train.half_product' to be without a value, but got true}}
  %0 = arith.negf %x {train.half_product = true} : tensor<4xf32>
}

// -----

train.step @s micro ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects 'train.offsets' to be -1 or an offset for each of 1 results and for scratch memory, but got array<i64: 0, 64, 128>}}
  %0 = arith.negf %x {train.offsets = array<i64: 0, 64, 128>} : tensor<4xf32>
}

// -----

train.step @s micro ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects 'train.offsets' to be -1 or an offset for each of 1 results and for scratch memory, but got array<i64: -2>}}
  %0 = arith.negf %x {train.offsets = array<i64: -2>} : tensor<4xf32>
}

// -----

// expected-error @below {{has 'train.offsets', which only an op in a step has}}
train.variable @w parameter : tensor<4xf32> {train.offsets = array<i64: 0>}

// -----

train.step @s micro ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects 'train.recomputed' to be the reason why the work runs again, but got unit}}
  %0 = arith.negf %x {train.recomputed} : tensor<4xf32>
}

// -----

// expected-error @below {{has an attribute 'train.offset', which 'train' does not know}}
train.variable @w parameter : tensor<4xf32> {train.offset = 0 : i64}

// -----

// expected-error @below {{expects inputs that are ranked tensors of static shape, of integers or floats, but got 'tensor<?xf32>' for 'x'}}
train.step @s forward ("x" %x: tensor<?xf32>) {}

// -----

// expected-error @below {{expects inputs that are ranked tensors of static shape, of integers or floats, but got 'memref<4xf32>' for 'x'}}
train.step @s forward ("x" %x: memref<4xf32>) {}

// -----

// expected-error @below {{expects inputs that are ranked tensors of static shape, of integers or floats, but got 'tensor<4xcomplex<f32>>' for 'y'}}
train.step @s forward ("x" %x: tensor<4xf32>, "y" %y: tensor<4xcomplex<f32>>) {}

// -----

// Passes ask for the sizes of all values of a step.
train.step @s forward ("x" %x: tensor<4xf32>) {
  // expected-error @below {{'builtin.unrealized_conversion_cast' op expects a static shape, and integers or floats as elements, in a step, but got 'tensor<?xf32>'}}
  %0 = builtin.unrealized_conversion_cast %x : tensor<4xf32> to tensor<?xf32>
  %1 = arith.addf %0, %0 : tensor<?xf32>
}

// -----

train.step @s forward ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects a static shape, and integers or floats as elements, in a step, but got 'tensor<*xf32>'}}
  %0 = builtin.unrealized_conversion_cast %x : tensor<4xf32> to tensor<*xf32>
}

// -----

train.step @s forward ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects a static shape, and integers or floats as elements, in a step, but got 'tensor<4xindex>'}}
  %0 = builtin.unrealized_conversion_cast %x : tensor<4xf32> to tensor<4xindex>
}

// -----

train.step @s forward ("x" %x: tensor<4xf32>) {
  // expected-error @below {{'arith.constant' op expects tensors as the values of a step, but got 'f32'}}
  %0 = arith.constant 1.0 : f32
}

// -----

train.step @s forward ("x" %x: tensor<4xf32>) {
  %0 = nn.fused "add" %x : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @below {{'builtin.unrealized_conversion_cast' op expects a static shape, and integers or floats as elements, in a step, but got 'tensor<?xf32>'}}
    %1 = builtin.unrealized_conversion_cast %a : tensor<4xf32> to tensor<?xf32>
    nn.yield %a : tensor<4xf32>
  }
}

// -----

// expected-error @below {{expects inputs of different names, but got 'x' twice}}
train.step @s forward ("x" %x: tensor<4xf32>, "x" %y: tensor<4xf32>) {}
