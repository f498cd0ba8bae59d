// RUN: gpuopt-opt %s --verify-device --split-input-file --verify-diagnostics

// What the phase leaves: @a and @b lie in the same bytes, one after the other.
module {
  device.memory persistent 1280 arena 512
  device.buffer @x input at 1024 : tensor<64xf32> {externalName = "x", origin = "x"}
  device.buffer @a arena at 1280 : tensor<64xf32> live 0 to 1 in @micro_step {origin = "a"}
  device.buffer @b arena at 1280 : tensor<128xf32> live 1 to 2 in @micro_step {origin = "b"}
  device.kernel @fused blocks 1 threads 32 ["x"] {
  ^bb0(%p: !device.ptr<f32>):
  }
  device.step @micro_step micro {
    %0 = device.address @a + 63 : !device.ptr<f32>
    device.launch @fused(%0) : !device.ptr<f32>
  }
}

// -----

module {
  device.memory persistent 1280 arena 512
  // expected-note @below {{which is here}}
  device.buffer @a arena at 1280 : tensor<64xf32> live 0 to 2 in @micro_step {origin = "a"}
  // expected-error @below {{overlaps @a}}
  device.buffer @b arena at 1280 : tensor<128xf32> live 1 to 2 in @micro_step {origin = "b"}
}

// -----

// What has no bytes overlaps nothing, wherever it lies.
module {
  device.memory persistent 1280 arena 512
  device.buffer @a arena at 1280 : tensor<64xf32> live 0 to 2 in @micro_step {origin = "a"}
  device.buffer @e arena at 1280 : tensor<1x0x4xf32> live 1 to 2 in @micro_step {origin = "e"}
  device.buffer @f arena at 1536 : tensor<0xf32> live 1 to 2 in @micro_step {origin = "f"}
}

// -----

// What was offloaded lies in the host's memory, at offsets of its own.
module {
  device.memory persistent 1280 arena 512 host 256
  device.buffer @a arena at 1280 : tensor<64xf32> live 0 to 2 in @micro_step {origin = "a"}
  device.buffer @w state at 0 : tensor<64xf32> {origin = "w"}
  // expected-note @below {{which is here}}
  device.buffer @a_host host at 0 : tensor<64xf32> live 0 to 2 in @micro_step {origin = "a"}
  // expected-error @below {{overlaps @a_host}}
  device.buffer @b_host host at 0 : tensor<64xf32> live 1 to 2 in @micro_step {origin = "b"}
}

// -----

// Weights live as long as the arena does: for ever.
module {
  device.memory persistent 2048 arena 512
  // expected-note @below {{which is here}}
  device.buffer @w state at 1024 : tensor<128xf32> {origin = "w"}
  // expected-error @below {{overlaps @w}}
  device.buffer @v state at 1280 : tensor<64xf32> {origin = "v"}
}

// -----

module {
  device.memory persistent 1280 arena 512
  // expected-error @below {{expects to lie in bytes [1280, 1792) of the allocation, but lies in [1536, 2048)}}
  device.buffer @a arena at 1536 : tensor<128xf32> live 0 to 1 in @micro_step {origin = "a"}
}

// -----

module {
  device.memory persistent 1280 arena 512
  // expected-error @below {{expects an offset that is a multiple of 256, but got 1288}}
  device.buffer @a arena at 1288 : tensor<16xf32> live 0 to 1 in @micro_step {origin = "a"}
}

// -----

module {
  device.memory persistent 1280 arena 512
  device.buffer @a arena at 1280 : tensor<64xf32> live 0 to 1 in @micro_step {origin = "a"}
  device.kernel @fused blocks 1 threads 32 ["x", "y"] {
  ^bb0(%p: !device.ptr<f32>, %q: !device.ptr<f32>):
  }
  device.step @micro_step micro {
    // expected-error @below {{expects an element of the 64 of @a, but got 64}}
    %0 = device.address @a + 64 : !device.ptr<f32>
    // expected-error @below {{expects 2 pointers for @fused, but got 1}}
    device.launch @fused(%0) : !device.ptr<f32>
    %2 = device.address @a : !device.ptr<f32>
    // expected-error @below {{expects numbers of types () for @fused, but got ('index')}}
    device.launch @fused(%2, %2) numbers [4 : index] : !device.ptr<f32>, !device.ptr<f32>
    // expected-error @below {{expects a kernel named @other}}
    device.launch @other(%0) : !device.ptr<f32>
    // expected-error @below {{expects a buffer named @b}}
    %1 = device.address @b : !device.ptr<f32>
  }
}

// -----

module {
  device.memory persistent 1280 arena 0
  // expected-error @below {{is no op of a program: expects only variables and ops of the device dialect}}
  train.step @micro_step micro () {
  }
}

// -----

// expected-error @below {{expects one 'device.memory', but got 0}}
module {
}

// -----

// A column goes as far as its furthest slice and what is added to it.
module {
  device.memory persistent 1280 arena 512
  device.buffer @a arena at 1280 : tensor<64xf32> live 0 to 1 in @micro_step {origin = "a"}
  device.step @micro_step micro {
    device.repeat "chunks" ["x"] [[@a], [#device.slice<@a + 32>]] {
      %0 = device.column "x" + 31 : !device.ptr<f32>
      // expected-error @below {{expects an element of the 64 of @a, but got 64}}
      %1 = device.column "x" + 32 : !device.ptr<f32>
    }
  }
}

// -----

// What a row has for a call that its iteration skips means nothing: the first
// call goes beyond @a, but is made on @b alone. The second one is made on @a.
module {
  device.memory persistent 1280 arena 768
  device.buffer @a arena at 1280 : tensor<64xf32> live 0 to 1 in @micro_step {origin = "a"}
  device.buffer @b arena at 1536 : tensor<128xf32> live 0 to 1 in @micro_step {origin = "b"}
  device.kernel @fused blocks 1 threads 32 ["x"] {
  ^bb0(%p: !device.ptr<f32>):
  }
  device.step @micro_step micro {
    device.repeat "layers" ["x"] [[@a], [@b]] {
      %0 = device.column "x" + 64 : !device.ptr<f32>
      device.launch @fused(%0) {device.iterations = [{skips = "again"}, {makes = "again"}]} : !device.ptr<f32>
      // expected-error @below {{expects an element of the 64 of @a, but got 64}}
      %1 = device.column "x" + 64 : !device.ptr<f32>
      device.launch @fused(%1) {device.iterations = [{makes = "first"}, {skips = "first"}]} : !device.ptr<f32>
    }
  }
}

// -----

// Two pointers into one buffer, of which one is written: the first kernel knows
// that they may be equal, the others do not. What is read alone may be equal.
module {
  device.memory persistent 1280 arena 512
  device.buffer @a arena at 1280 : tensor<64xf32> live 0 to 2 in @micro_step {origin = "a"}
  device.buffer @b arena at 1536 : tensor<64xf32> live 0 to 2 in @micro_step {origin = "b"}
  device.kernel @knows blocks 1 threads 32 ["x", "y"] aliased [0, 1] {
  ^bb0(%p: !device.ptr<f32>, %q: !device.ptr<f32>):
    %one = arith.constant 1.0 : f32
    device.store %one, %q[] strides [] offset 0 uniform : f32, !device.ptr<f32>
  }
  device.kernel @writes blocks 1 threads 32 ["x", "y"] {
  ^bb0(%p: !device.ptr<f32>, %q: !device.ptr<f32>):
    %one = arith.constant 1.0 : f32
    device.store %one, %q[] strides [] offset 0 uniform : f32, !device.ptr<f32>
  }
  device.kernel @reads blocks 1 threads 32 ["x", "y"] {
  ^bb0(%p: !device.ptr<f32>, %q: !device.ptr<f32>):
  }
  device.step @micro_step micro {
    %0 = device.address @a : !device.ptr<f32>
    device.launch @knows(%0, %0) : !device.ptr<f32>, !device.ptr<f32>
    device.launch @reads(%0, %0) : !device.ptr<f32>, !device.ptr<f32>
    // expected-error @below {{expects arguments 0 and 1 of @writes to be aliased, because both are in @a}}
    device.launch @writes(%0, %0) : !device.ptr<f32>, !device.ptr<f32>
    device.repeat "layers" ["x", "y"] [[@a, @b], [@b, @b]] {
      %1 = device.column "x" : !device.ptr<f32>
      %2 = device.column "y" : !device.ptr<f32>
      // expected-error @below {{expects arguments 0 and 1 of @writes to be aliased, because both are in @b}}
      device.launch @writes(%1, %2) : !device.ptr<f32>, !device.ptr<f32>
    }
  }
}

// -----

module {
  device.memory persistent 1280 arena 512
  // expected-error @below {{expects the calls of a step in which it lives, as 'live 0 to 1 in @step'}}
  device.buffer @a arena at 1280 : tensor<64xf32> {origin = "a"}
}

// -----

module {
  device.memory persistent 1280 arena 512
  // expected-error @below {{expects to live from one call to a later one, but lives 3 to 1}}
  device.buffer @a arena at 1280 : tensor<64xf32> live 3 to 1 in @micro_step {origin = "a"}
}

// -----

module {
  device.memory persistent 1280 arena 512
  device.buffer @a arena at 1280 : tensor<4xf32> live 0 to 2 in @micro_step {origin = "a"}
  device.buffer @b arena at 1536 : tensor<8xf32> live 0 to 2 in @micro_step {origin = "b"}
  device.step @micro_step micro {
    %0 = device.address @a + 1 : !device.ptr<f32>
    %1 = device.address @b : !device.ptr<f32>
    device.copy %1 to %0 count 3 : !device.ptr<f32>, !device.ptr<f32>
    // expected-error @below {{expects to copy 0 to 3 elements, which @a has there, but got 4}}
    device.copy %1 to %0 count 4 : !device.ptr<f32>, !device.ptr<f32>
    // expected-error @below {{expects to copy 0 to 8 elements, which @b has there, but got -4}}
    device.copy %1 to %0 count -4 : !device.ptr<f32>, !device.ptr<f32>
  }
}

// -----

module {
  // expected-note @below {{the variable is here}}
  train.variable @w parameter : tensor<64xf32>
  device.memory persistent 2048 arena 0
  // expected-error @below {{expects the type of its variable, 'tensor<64xf32>', but got 'tensor<64xf16>'}}
  device.buffer @a state at 1024 : tensor<64xf16> {variable = @w, origin = "w"}
  // expected-error @below {{expects a variable named @v}}
  device.buffer @b state at 1280 : tensor<64xf32> {variable = @v, origin = "v"}
  // expected-note @below {{the buffer is here}}
  device.buffer @c state at 1536 : tensor<64xf32> {variable = @w, origin = "w"}
  device.kernel @fused blocks 1 threads 32 ["x"] {
  ^bb0(%p: !device.ptr<f32>):
  }
  device.step @micro_step micro {
    // expected-error @below {{expects a pointer to the elements of @c, 'f32', but points to 'f16'}}
    %0 = device.address @c : !device.ptr<f16>
    // expected-error @below {{expects pointers of types ('!device.ptr<f32>') for @fused, but got ('!device.ptr<f16>')}}
    device.launch @fused(%0) : !device.ptr<f16>
  }
}

// -----

// The first await has its transfer; nothing would ever end the second.
module {
  device.memory persistent 1280 arena 512 host 256
  device.buffer @a arena at 1280 : tensor<64xf32> live 0 to 4 in @micro_step {origin = "a"}
  device.buffer @h host at 0 : tensor<64xf32> live 0 to 4 in @micro_step {origin = "a"}
  device.step @micro_step micro {
    %0 = device.address @a : !device.ptr<f32>
    %1 = device.address @h : !device.ptr<f32>
    device.offload %0 to %1 count 64 event 0 : !device.ptr<f32>, !device.ptr<f32>
    device.await 0
    // expected-error @below {{expects a 'device.offload' or a 'device.reload' with event 1 before it in @micro_step}}
    device.await 1
    device.reload %1 to %0 count 64 event 1 : !device.ptr<f32>, !device.ptr<f32>
  }
}
