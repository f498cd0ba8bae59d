// RUN: gpuopt-opt %s -split-input-file -verify-diagnostics

device.step @one_row micro {
  // expected-error @below {{expects at least two rows, but got 1}}
  device.repeat "layers" ["x"] [[@x]] {
  }
}

// -----

device.step @same_names micro {
  // expected-error @below {{expects columns of different names}}
  device.repeat "layers" ["x", "x"] [[@x, @y], [@y, @x]] {
  }
}

// -----

device.step @short_row micro {
  // expected-error @below {{expects rows of 1 buffers, but got []}}
  device.repeat "layers" ["x"] [[@x], []] {
  }
}

// -----

device.buffer @x arena at 0 : tensor<4xf32> {origin = "x"}
device.buffer @y arena at 16 : tensor<4xf32> {origin = "y"}
device.step @other_calls micro {
  // expected-note @below {{which is here}}
  device.repeat "layers" ["x"] [[@x], [@y]] function "layer" {
    %0 = device.column "x" : !device.ptr<f32>
  }
  // expected-error @below {{expects the calls of the loop with which it shares "layer"}}
  device.repeat "layers_2" ["x"] [[@x], [@y]] function "layer" {
    %0 = device.column "x" + 1 : !device.ptr<f32>
  }
}

// -----

device.buffer @x arena at 0 : tensor<4xf32> {origin = "x"}
device.step @moving_column micro {
  // expected-error @below {{expects the calls of the loop with which it shares "layer"}}
  // expected-note @below {{which is here}}
  device.repeat "layers" ["x"] [[@x], [#device.slice<@x + 1>]] function "layer" {
    %0 = device.column "x" : !device.ptr<f32>
  }
}

// -----

device.step @slice_at_beginning micro {
  // expected-error @below {{expects slices that begin behind the first element of their buffer, but got #device.slice<@x + 0>}}
  device.repeat "layers" ["x"] [[#device.slice<@x + 0>], [@y]] {
  }
}

// -----

device.step @slice_of_nothing micro {
  // expected-error @below {{expects buffers of the device, but '@x' is none}}
  device.repeat "layers" ["x"] [[#device.slice<@x + 8>], [@y]] {
    %0 = device.column "x" : !device.ptr<f32>
  }
}

// -----

device.step @nested micro {
  device.repeat "layers" ["x"] [[@x], [@y]] {
    // expected-error @below {{expects to be outside of 'device.repeat', which has only calls and addresses}}
    %0 = arith.constant 0 : index
  }
}

// -----

device.step @iterations micro {
  device.repeat "layers" ["x"] [[@x], [@y]] {
    // expected-error @below {{expects 'device.iterations' to have 2 dictionaries, one per iteration, but got 1}}
    device.await 0 {device.iterations = [{}]}
  }
}

// -----

device.step @no_column micro {
  device.repeat "layers" ["x"] [[@x], [@y]] {
    // expected-error @below {{expects a column of the enclosing 'device.repeat', but got "z"}}
    %0 = device.column "z" : !device.ptr<f32>
  }
}

// -----

device.step @no_buffer micro {
  // expected-error @below {{expects buffers of the device, but '@x' is none}}
  device.repeat "layers" ["x"] [[@x], [@y]] {
    %0 = device.column "x" : !device.ptr<f32>
  }
}

// -----

device.buffer @x arena at 0 : tensor<4xf32> {origin = "x"}
device.buffer @y arena at 16 : tensor<4xf16> {origin = "y"}
device.step @types micro {
  device.repeat "layers" ["x"] [[@x], [@y]] {
    // expected-error @below {{expects elements of type 'f32', but 'y' has 'f16'}}
    %0 = device.column "x" : !device.ptr<f32>
  }
}

// -----

device.step @iterations micro {
  device.repeat "layers" ["x"] [[@x], [@y]] {
    // expected-error @below {{expects 'device.iterations' to be dictionaries, one for each iteration, but got ["a", "b"]}}
    device.await 0 {device.iterations = ["a", "b"]}
  }
}

// -----

device.step @iterations micro {
  // expected-error @below {{has 'device.iterations', which only a call of a 'device.repeat' has}}
  device.await 0 {device.iterations = [{}]}
}

// -----

device.step @iterations micro {
  device.repeat "layers" ["x"] [[@x], [@y]] {
    // expected-error @below {{expects 'device.iterations' to have only comments, cost keys and conditions, but got 'event' = 1 : i64}}
    device.await 0 {device.iterations = [{event = 1 : i64}, {event = 2 : i64}]}
  }
}


// -----

device.step @half_a_condition micro {
  device.repeat "layers" ["x"] [[@x], [@y]] {
    // expected-error @below {{expects each iteration to have either 'makes' or 'skips' with the name 'again' of the first one, or none to have any, but got {}}}
    device.await 0 {device.iterations = [{makes = "again"}, {}]}
  }
}

// -----

device.step @no_condition_at_first micro {
  device.repeat "layers" ["x"] [[@x], [@y]] {
    // expected-error @below {{expects each iteration to have either 'makes' or 'skips' with the name '' of the first one, or none to have any, but got {skips = "again"}}}
    device.await 0 {device.iterations = [{}, {skips = "again"}]}
  }
}

// -----

device.step @recomputed_number micro {
  // expected-error @below {{expects 'device.recomputed' to be a unit attribute, but got 1 : i64}}
  device.await 0 {device.recomputed = 1 : i64}
}

// -----

// expected-error @below {{has 'device.recomputed', which only an op of a 'device.step' has}}
device.memory persistent 256 arena 0 {device.recomputed}

// -----

device.buffer @x arena at 0 : tensor<4xf32> {origin = "x"}
device.buffer @y arena at 16 : tensor<4xf32> {origin = "y"}
device.step @other_conditions micro {
  // expected-note @below {{which is here}}
  device.repeat "layers" ["x"] [[@x], [@y]] function "layer" {
    device.await 0
  }
  // expected-error @below {{expects the calls of the loop with which it shares "layer"}}
  device.repeat "layers_2" ["x"] [[@x], [@y]] function "layer" {
    device.await 0 {device.iterations = [{makes = "again"}, {skips = "again"}]}
  }
}
