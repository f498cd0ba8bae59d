// RUN: gpuopt-translate --device-to-cxx %s -split-input-file -verify-diagnostics

// expected-error @below {{expects one 'device.memory': run convert-to-device first}}
module {
}

// -----

device.memory persistent 8192 arena 0
// expected-note @below {{the first one is here}}
device.step @one micro {
}
// expected-error @below {{is a second step of kind 'micro'}}
device.step @two micro {
}

// -----

device.memory persistent 8192 arena 0
// expected-error @below {{cannot be written as C++ for type 'tensor<4xi4>'}}
device.buffer @x input at 2048 : tensor<4xi4> {origin = "x", externalName = "x"}

// -----

device.memory persistent 8192 arena 0
// expected-error @below {{expects an 'externalName'}}
device.buffer @x input at 2048 : tensor<4xf32> {origin = "x"}

// -----

device.memory persistent 8192 arena 0
// expected-error @below {{expects a 'variable' of the module}}
device.buffer @w state at 2048 : tensor<4xf32> {origin = "w", variable = @missing}

// -----

device.memory persistent 8192 arena 0
device.step @s micro {
  // expected-error @below {{expects a buffer, but 'missing' is none}}
  %0 = device.address @missing : !device.ptr<f32>
}

// -----

device.memory persistent 8192 arena 0
device.buffer @x input at 2048 : tensor<4xf32> {origin = "x", externalName = "x"}
device.step @s micro {
  // expected-error @below {{expects elements of type 'f32', but got 'f16'}}
  %0 = device.address @x : !device.ptr<f16>
}

// -----

device.memory persistent 8192 arena 0
device.step @s micro {
  // expected-error @below {{expects a kernel, but 'missing' is none}}
  device.launch @missing()
}

// -----

device.memory persistent 8192 arena 0
"device.step"() <{sym_name = "s", kind = #train<step_kind micro>}> ({
^bb0(%0: !device.ptr<f32>):
  // expected-error @below {{expects operands that come from 'device.address' or 'device.column'}}
  device.copy %0 to %0 count 4 : !device.ptr<f32>, !device.ptr<f32>
}) : () -> ()

// -----

device.memory persistent 8192 arena 0
device.step @s micro {
  // expected-error @below {{cannot be written as C++}}
  %0 = arith.constant 0 : index
}

// -----

device.memory persistent 8192 arena 0
device.kernel @k blocks 1 threads 32 [] {
  // expected-error @below {{cannot be written as C++ for 'i32'}}
  %row = device.row 4 : !device.ptr<i32>
}

// -----

device.memory persistent 8192 arena 0
device.kernel @k blocks 1 threads 32 ["x"] {
^bb0(%x: !device.ptr<i8>):
  %c0 = arith.constant 0 : index
  // expected-error @below {{cannot be written as C++ for 'i8'}}
  %v = device.load %x[%c0 : index] strides [1] offset 0 uniform : !device.ptr<i8> -> i8
}

// -----

device.memory persistent 8192 arena 0
device.kernel @k blocks 1 threads 32 ["state"] {
^bb0(%state: !device.step_state):
  %c0 = arith.constant 0 : i64
  // expected-error @below {{cannot be written as C++ for 'f64'}}
  %v = device.random %state, %c0 stream 1 : f64
}

// -----

device.memory persistent 8192 arena 0
device.kernel @k blocks 1 threads 32 ["x"] {
^bb0(%x: !device.ptr<f32>):
  %c0 = arith.constant 0 : index
  // expected-error @below {{expects indices that vary by lane as 'contiguous' says}}
  %v = device.load %x[%c0 : index] strides [1] offset 0 contiguous : !device.ptr<f32> -> f32
}

// -----

device.memory persistent 8192 arena 0
device.kernel @k blocks 1 threads 32 ["x"] {
^bb0(%x: !device.ptr<f32>):
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  device.loop lanes %c0 to %c4 [] {
  ^bb0(%i: index):
    %v = device.load %x[%i : index] strides [1] offset 0 contiguous : !device.ptr<f32> -> f32
    // expected-error @below {{expects a value that is the same in all lanes}}
    device.store %v, %x[%c0 : index] strides [1] offset 0 uniform : f32, !device.ptr<f32>
    device.yield
  }
}

// -----

device.memory persistent 8192 arena 0
device.kernel @k blocks 1 threads 32 ["x", "i"] {
^bb0(%x: !device.ptr<f32>, %places: !device.ptr<i64>):
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  device.loop lanes %c0 to %c4 [] {
  ^bb0(%i: index):
    %at = device.load %places[%i : index] strides [1] offset 0 contiguous : !device.ptr<i64> -> i64
    // expected-error @below {{'device.store' op cannot be written as C++}}
    device.store %zero, %x[%at : i64] strides [1] offset 0 indirect : f32, !device.ptr<f32>
    device.yield
  }
}

// -----

device.memory persistent 8192 arena 0
device.kernel @k blocks 1 threads 32 ["i"] {
^bb0(%places: !device.ptr<i64>):
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  device.loop lanes %c0 to %c4 [] {
  ^bb0(%i: index):
    // expected-error @below {{expects an index that is the same in all lanes}}
    %d:2 = device.delinearize %i by [2, 2] : index, index
    device.yield
  }
}

// -----

device.memory persistent 8192 arena 0
device.kernel @k blocks 1 threads 32 [] {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  device.loop lanes %c0 to %c4 [] {
  ^bb0(%i: index):
    // expected-error @below {{expects bounds that are the same in all lanes}}
    device.loop sequential %c0 to %i [] {
    ^bb0(%j: index):
      device.yield
    }
    device.yield
  }
}

// -----

device.memory persistent 8192 arena 0
device.kernel @k blocks 1 threads 32 [] {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  device.loop lanes %c0 to %c4 [] {
  ^bb0(%i: index):
    // expected-error @below {{over lanes cannot lie in another one}}
    device.loop lanes %c0 to %c4 [] {
    ^bb0(%j: index):
      device.yield
    }
    device.yield
  }
}

// -----

device.memory persistent 8192 arena 0
device.kernel @k blocks 1 threads 32 [] {
  %c0 = arith.constant 0 : index
  %true = arith.constant true
  // expected-error @below {{cannot combine values of type 'i1'}}
  %all = device.loop lanes %c0 to %c0 [#device.combiner<min>] -> (i1) {
  ^bb0(%i: index):
    device.yield %true : i1
  }
}

// -----

device.memory persistent 8192 arena 0
device.kernel @k blocks 1 threads 32 ["x"] {
^bb0(%x: !device.ptr<f32>):
  %c0 = arith.constant 0 : index
  %v = device.load %x[%c0 : index] strides [1] offset 0 uniform : !device.ptr<f32> -> f32
  // expected-error @below {{'math.cbrt' op cannot be written as C++}}
  %e = math.cbrt %v : f32
  device.store %e, %x[%c0 : index] strides [1] offset 0 uniform : f32, !device.ptr<f32>
}

// -----

device.memory persistent 8192 arena 0
device.kernel @k blocks 1 threads 32 ["i"] {
^bb0(%places: !device.ptr<i64>):
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  device.loop lanes %c0 to %c4 [] {
  ^bb0(%i: index):
    %at = device.load %places[%i : index] strides [1] offset 0 contiguous : !device.ptr<i64> -> i64
    %j = arith.index_cast %at : i64 to index
    // expected-error @below {{'device.position' op cannot be written as C++}}
    %p = device.position [%j] strides [1] offset 0 indirect
    device.yield
  }
}

// -----

device.memory persistent 8192 arena 0
device.kernel @one_group blocks 1 threads 32 ["x"] {
^bb0(%x: !device.ptr<f32>):
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{over row groups expects a kernel with several}}
  device.loop row_groups %c0 to %c8 [] {
  ^bb0(%r: index):
    device.yield
  }
}
