device.memory persistent 20480 arena 0
device.buffer @x input at 2048 : tensor<40xf32> {origin = "x", externalName = "x"}
device.buffer @z input at 2304 : tensor<40xf32> {origin = "z", externalName = "z"}
device.buffer @n input at 2560 : tensor<40xi64> {origin = "n", externalName = "n"}
device.buffer @k input at 3072 : tensor<40xi64> {origin = "k", externalName = "k"}
device.buffer @mask input at 3584 : tensor<40xi1> {origin = "mask", externalName = "mask"}
device.buffer @elementary_out output at 3840 : tensor<25x40xf32> {origin = "elementary_out", externalName = "elementary_out"}
device.buffer @binary_out output at 7936 : tensor<13x40xf32> {origin = "binary_out", externalName = "binary_out"}
device.buffer @compare_floats_out output at 10240 : tensor<19x40xi1> {origin = "compare_floats_out", externalName = "compare_floats_out"}
device.buffer @compare_integers_out output at 11008 : tensor<10x40xi1> {origin = "compare_integers_out", externalName = "compare_integers_out"}
device.buffer @integers_out output at 11520 : tensor<16x40xi64> {origin = "integers_out", externalName = "integers_out"}
device.buffer @casts_out output at 16640 : tensor<6x40xf32> {origin = "casts_out", externalName = "casts_out"}
device.buffer @casts_to_integers_out output at 17664 : tensor<7x40xi64> {origin = "casts_to_integers_out", externalName = "casts_to_integers_out"}
device.buffer @uniform_out output at 19968 : tensor<1x40xf32> {origin = "uniform_out", externalName = "uniform_out"}
device.buffer @uniform_mask_out output at 20224 : tensor<1x40xi1> {origin = "uniform_mask_out", externalName = "uniform_mask_out"}

device.kernel @elementary blocks 1 threads 32 ["x", "y"] {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %c0 = arith.constant 0 : index
  %n = arith.constant 40 : index
  device.loop lanes %c0 to %n [] {
  ^bb0(%i: index):
    %a = device.load %x[%i : index] strides [1] offset 0 contiguous : !device.ptr<f32> -> f32
    %r0 = math.exp %a : f32
    device.store %r0, %y[%i : index] strides [1] offset 0 contiguous : f32, !device.ptr<f32>
    %r1 = math.expm1 %a : f32
    device.store %r1, %y[%i : index] strides [1] offset 40 contiguous : f32, !device.ptr<f32>
    %r2 = math.log %a : f32
    device.store %r2, %y[%i : index] strides [1] offset 80 contiguous : f32, !device.ptr<f32>
    %r3 = math.log1p %a : f32
    device.store %r3, %y[%i : index] strides [1] offset 120 contiguous : f32, !device.ptr<f32>
    %r4 = math.tanh %a : f32
    device.store %r4, %y[%i : index] strides [1] offset 160 contiguous : f32, !device.ptr<f32>
    %r5 = math.erf %a : f32
    device.store %r5, %y[%i : index] strides [1] offset 200 contiguous : f32, !device.ptr<f32>
    %r6 = math.sqrt %a : f32
    device.store %r6, %y[%i : index] strides [1] offset 240 contiguous : f32, !device.ptr<f32>
    %r7 = math.rsqrt %a : f32
    device.store %r7, %y[%i : index] strides [1] offset 280 contiguous : f32, !device.ptr<f32>
    %r8 = math.sin %a : f32
    device.store %r8, %y[%i : index] strides [1] offset 320 contiguous : f32, !device.ptr<f32>
    %r9 = math.cos %a : f32
    device.store %r9, %y[%i : index] strides [1] offset 360 contiguous : f32, !device.ptr<f32>
    %r10 = math.tan %a : f32
    device.store %r10, %y[%i : index] strides [1] offset 400 contiguous : f32, !device.ptr<f32>
    %r11 = math.sinh %a : f32
    device.store %r11, %y[%i : index] strides [1] offset 440 contiguous : f32, !device.ptr<f32>
    %r12 = math.cosh %a : f32
    device.store %r12, %y[%i : index] strides [1] offset 480 contiguous : f32, !device.ptr<f32>
    %r13 = math.asin %a : f32
    device.store %r13, %y[%i : index] strides [1] offset 520 contiguous : f32, !device.ptr<f32>
    %r14 = math.acos %a : f32
    device.store %r14, %y[%i : index] strides [1] offset 560 contiguous : f32, !device.ptr<f32>
    %r15 = math.atan %a : f32
    device.store %r15, %y[%i : index] strides [1] offset 600 contiguous : f32, !device.ptr<f32>
    %r16 = math.asinh %a : f32
    device.store %r16, %y[%i : index] strides [1] offset 640 contiguous : f32, !device.ptr<f32>
    %r17 = math.acosh %a : f32
    device.store %r17, %y[%i : index] strides [1] offset 680 contiguous : f32, !device.ptr<f32>
    %r18 = math.atanh %a : f32
    device.store %r18, %y[%i : index] strides [1] offset 720 contiguous : f32, !device.ptr<f32>
    %r19 = math.absf %a : f32
    device.store %r19, %y[%i : index] strides [1] offset 760 contiguous : f32, !device.ptr<f32>
    %r20 = math.floor %a : f32
    device.store %r20, %y[%i : index] strides [1] offset 800 contiguous : f32, !device.ptr<f32>
    %r21 = math.ceil %a : f32
    device.store %r21, %y[%i : index] strides [1] offset 840 contiguous : f32, !device.ptr<f32>
    %r22 = math.round %a : f32
    device.store %r22, %y[%i : index] strides [1] offset 880 contiguous : f32, !device.ptr<f32>
    %r23 = math.roundeven %a : f32
    device.store %r23, %y[%i : index] strides [1] offset 920 contiguous : f32, !device.ptr<f32>
    %r24 = math.trunc %a : f32
    device.store %r24, %y[%i : index] strides [1] offset 960 contiguous : f32, !device.ptr<f32>
    device.yield
  }
}

device.kernel @binary blocks 1 threads 32 ["x", "z", "y"] {
^bb0(%x: !device.ptr<f32>, %z: !device.ptr<f32>, %y: !device.ptr<f32>):
  %c0 = arith.constant 0 : index
  %n = arith.constant 40 : index
  device.loop lanes %c0 to %n [] {
  ^bb0(%i: index):
    %a = device.load %x[%i : index] strides [1] offset 0 contiguous : !device.ptr<f32> -> f32
    %b = device.load %z[%i : index] strides [1] offset 0 contiguous : !device.ptr<f32> -> f32
    %r0 = arith.addf %a, %b : f32
    device.store %r0, %y[%i : index] strides [1] offset 0 contiguous : f32, !device.ptr<f32>
    %r1 = arith.subf %a, %b : f32
    device.store %r1, %y[%i : index] strides [1] offset 40 contiguous : f32, !device.ptr<f32>
    %r2 = arith.mulf %a, %b : f32
    device.store %r2, %y[%i : index] strides [1] offset 80 contiguous : f32, !device.ptr<f32>
    %r3 = arith.divf %a, %b : f32
    device.store %r3, %y[%i : index] strides [1] offset 120 contiguous : f32, !device.ptr<f32>
    %r4 = arith.remf %a, %b : f32
    device.store %r4, %y[%i : index] strides [1] offset 160 contiguous : f32, !device.ptr<f32>
    %r5 = arith.maximumf %a, %b : f32
    device.store %r5, %y[%i : index] strides [1] offset 200 contiguous : f32, !device.ptr<f32>
    %r6 = arith.minimumf %a, %b : f32
    device.store %r6, %y[%i : index] strides [1] offset 240 contiguous : f32, !device.ptr<f32>
    %r7 = arith.maxnumf %a, %b : f32
    device.store %r7, %y[%i : index] strides [1] offset 280 contiguous : f32, !device.ptr<f32>
    %r8 = arith.minnumf %a, %b : f32
    device.store %r8, %y[%i : index] strides [1] offset 320 contiguous : f32, !device.ptr<f32>
    %r9 = math.powf %a, %b : f32
    device.store %r9, %y[%i : index] strides [1] offset 360 contiguous : f32, !device.ptr<f32>
    %r10 = math.copysign %a, %b : f32
    device.store %r10, %y[%i : index] strides [1] offset 400 contiguous : f32, !device.ptr<f32>
    %neg = arith.negf %a : f32
    %negneg = arith.subf %b, %neg : f32
    device.store %negneg, %y[%i : index] strides [1] offset 440 contiguous : f32, !device.ptr<f32>
    %three = arith.constant 3 : i32
    %cube = math.fpowi %a, %three : f32, i32
    device.store %cube, %y[%i : index] strides [1] offset 480 contiguous : f32, !device.ptr<f32>
    device.yield
  }
}

device.kernel @compare_floats blocks 1 threads 32 ["x", "z", "y"] {
^bb0(%x: !device.ptr<f32>, %z: !device.ptr<f32>, %y: !device.ptr<i1>):
  %c0 = arith.constant 0 : index
  %n = arith.constant 40 : index
  device.loop lanes %c0 to %n [] {
  ^bb0(%i: index):
    %a = device.load %x[%i : index] strides [1] offset 0 contiguous : !device.ptr<f32> -> f32
    %b = device.load %z[%i : index] strides [1] offset 0 contiguous : !device.ptr<f32> -> f32
    %r0 = arith.cmpf oeq, %a, %b : f32
    device.store %r0, %y[%i : index] strides [1] offset 0 contiguous : i1, !device.ptr<i1>
    %r1 = arith.cmpf ogt, %a, %b : f32
    device.store %r1, %y[%i : index] strides [1] offset 40 contiguous : i1, !device.ptr<i1>
    %r2 = arith.cmpf oge, %a, %b : f32
    device.store %r2, %y[%i : index] strides [1] offset 80 contiguous : i1, !device.ptr<i1>
    %r3 = arith.cmpf olt, %a, %b : f32
    device.store %r3, %y[%i : index] strides [1] offset 120 contiguous : i1, !device.ptr<i1>
    %r4 = arith.cmpf ole, %a, %b : f32
    device.store %r4, %y[%i : index] strides [1] offset 160 contiguous : i1, !device.ptr<i1>
    %r5 = arith.cmpf one, %a, %b : f32
    device.store %r5, %y[%i : index] strides [1] offset 200 contiguous : i1, !device.ptr<i1>
    %r6 = arith.cmpf ord, %a, %b : f32
    device.store %r6, %y[%i : index] strides [1] offset 240 contiguous : i1, !device.ptr<i1>
    %r7 = arith.cmpf ueq, %a, %b : f32
    device.store %r7, %y[%i : index] strides [1] offset 280 contiguous : i1, !device.ptr<i1>
    %r8 = arith.cmpf ugt, %a, %b : f32
    device.store %r8, %y[%i : index] strides [1] offset 320 contiguous : i1, !device.ptr<i1>
    %r9 = arith.cmpf uge, %a, %b : f32
    device.store %r9, %y[%i : index] strides [1] offset 360 contiguous : i1, !device.ptr<i1>
    %r10 = arith.cmpf ult, %a, %b : f32
    device.store %r10, %y[%i : index] strides [1] offset 400 contiguous : i1, !device.ptr<i1>
    %r11 = arith.cmpf ule, %a, %b : f32
    device.store %r11, %y[%i : index] strides [1] offset 440 contiguous : i1, !device.ptr<i1>
    %r12 = arith.cmpf une, %a, %b : f32
    device.store %r12, %y[%i : index] strides [1] offset 480 contiguous : i1, !device.ptr<i1>
    %r13 = arith.cmpf uno, %a, %b : f32
    device.store %r13, %y[%i : index] strides [1] offset 520 contiguous : i1, !device.ptr<i1>
    %r14 = arith.cmpf false, %a, %b : f32
    device.store %r14, %y[%i : index] strides [1] offset 560 contiguous : i1, !device.ptr<i1>
    %r15 = arith.cmpf true, %a, %b : f32
    device.store %r15, %y[%i : index] strides [1] offset 600 contiguous : i1, !device.ptr<i1>
    %q0 = math.isnan %a : f32
    device.store %q0, %y[%i : index] strides [1] offset 640 contiguous : i1, !device.ptr<i1>
    %q1 = math.isinf %a : f32
    device.store %q1, %y[%i : index] strides [1] offset 680 contiguous : i1, !device.ptr<i1>
    %q2 = math.isfinite %a : f32
    device.store %q2, %y[%i : index] strides [1] offset 720 contiguous : i1, !device.ptr<i1>
    device.yield
  }
}

device.kernel @compare_integers blocks 1 threads 32 ["x", "z", "y"] {
^bb0(%x: !device.ptr<i64>, %z: !device.ptr<i64>, %y: !device.ptr<i1>):
  %c0 = arith.constant 0 : index
  %n = arith.constant 40 : index
  device.loop lanes %c0 to %n [] {
  ^bb0(%i: index):
    %a = device.load %x[%i : index] strides [1] offset 0 contiguous : !device.ptr<i64> -> i64
    %b = device.load %z[%i : index] strides [1] offset 0 contiguous : !device.ptr<i64> -> i64
    %r0 = arith.cmpi eq, %a, %b : i64
    device.store %r0, %y[%i : index] strides [1] offset 0 contiguous : i1, !device.ptr<i1>
    %r1 = arith.cmpi ne, %a, %b : i64
    device.store %r1, %y[%i : index] strides [1] offset 40 contiguous : i1, !device.ptr<i1>
    %r2 = arith.cmpi slt, %a, %b : i64
    device.store %r2, %y[%i : index] strides [1] offset 80 contiguous : i1, !device.ptr<i1>
    %r3 = arith.cmpi sle, %a, %b : i64
    device.store %r3, %y[%i : index] strides [1] offset 120 contiguous : i1, !device.ptr<i1>
    %r4 = arith.cmpi sgt, %a, %b : i64
    device.store %r4, %y[%i : index] strides [1] offset 160 contiguous : i1, !device.ptr<i1>
    %r5 = arith.cmpi sge, %a, %b : i64
    device.store %r5, %y[%i : index] strides [1] offset 200 contiguous : i1, !device.ptr<i1>
    %r6 = arith.cmpi ult, %a, %b : i64
    device.store %r6, %y[%i : index] strides [1] offset 240 contiguous : i1, !device.ptr<i1>
    %r7 = arith.cmpi ule, %a, %b : i64
    device.store %r7, %y[%i : index] strides [1] offset 280 contiguous : i1, !device.ptr<i1>
    %r8 = arith.cmpi ugt, %a, %b : i64
    device.store %r8, %y[%i : index] strides [1] offset 320 contiguous : i1, !device.ptr<i1>
    %r9 = arith.cmpi uge, %a, %b : i64
    device.store %r9, %y[%i : index] strides [1] offset 360 contiguous : i1, !device.ptr<i1>
    device.yield
  }
}

device.kernel @integers blocks 1 threads 32 ["x", "z", "y"] {
^bb0(%x: !device.ptr<i64>, %z: !device.ptr<i64>, %y: !device.ptr<i64>):
  %c0 = arith.constant 0 : index
  %n = arith.constant 40 : index
  device.loop lanes %c0 to %n [] {
  ^bb0(%i: index):
    %a = device.load %x[%i : index] strides [1] offset 0 contiguous : !device.ptr<i64> -> i64
    %b = device.load %z[%i : index] strides [1] offset 0 contiguous : !device.ptr<i64> -> i64
    %r0 = arith.addi %a, %b : i64
    device.store %r0, %y[%i : index] strides [1] offset 0 contiguous : i64, !device.ptr<i64>
    %r1 = arith.subi %a, %b : i64
    device.store %r1, %y[%i : index] strides [1] offset 40 contiguous : i64, !device.ptr<i64>
    %r2 = arith.muli %a, %b : i64
    device.store %r2, %y[%i : index] strides [1] offset 80 contiguous : i64, !device.ptr<i64>
    %r3 = arith.divsi %a, %b : i64
    device.store %r3, %y[%i : index] strides [1] offset 120 contiguous : i64, !device.ptr<i64>
    %r4 = arith.remsi %a, %b : i64
    device.store %r4, %y[%i : index] strides [1] offset 160 contiguous : i64, !device.ptr<i64>
    %r5 = arith.andi %a, %b : i64
    device.store %r5, %y[%i : index] strides [1] offset 200 contiguous : i64, !device.ptr<i64>
    %r6 = arith.ori %a, %b : i64
    device.store %r6, %y[%i : index] strides [1] offset 240 contiguous : i64, !device.ptr<i64>
    %r7 = arith.xori %a, %b : i64
    device.store %r7, %y[%i : index] strides [1] offset 280 contiguous : i64, !device.ptr<i64>
    %r8 = arith.maxsi %a, %b : i64
    device.store %r8, %y[%i : index] strides [1] offset 320 contiguous : i64, !device.ptr<i64>
    %r9 = arith.minsi %a, %b : i64
    device.store %r9, %y[%i : index] strides [1] offset 360 contiguous : i64, !device.ptr<i64>
    %r10 = arith.divui %a, %b : i64
    device.store %r10, %y[%i : index] strides [1] offset 400 contiguous : i64, !device.ptr<i64>
    %r11 = arith.remui %a, %b : i64
    device.store %r11, %y[%i : index] strides [1] offset 440 contiguous : i64, !device.ptr<i64>
    %two = arith.constant 2 : i64
    %s0 = arith.shli %a, %two : i64
    device.store %s0, %y[%i : index] strides [1] offset 480 contiguous : i64, !device.ptr<i64>
    %s1 = arith.shrsi %a, %two : i64
    device.store %s1, %y[%i : index] strides [1] offset 520 contiguous : i64, !device.ptr<i64>
    %s2 = arith.shrui %a, %two : i64
    device.store %s2, %y[%i : index] strides [1] offset 560 contiguous : i64, !device.ptr<i64>
    %abs = math.absi %a : i64
    device.store %abs, %y[%i : index] strides [1] offset 600 contiguous : i64, !device.ptr<i64>
    device.yield
  }
}

device.kernel @casts blocks 1 threads 32 ["x", "z", "mask", "y", "w"] {
^bb0(%x: !device.ptr<f32>, %z: !device.ptr<i64>, %mask: !device.ptr<i1>, %y: !device.ptr<f32>, %w: !device.ptr<i64>):
  %c0 = arith.constant 0 : index
  %n = arith.constant 40 : index
  device.loop lanes %c0 to %n [] {
  ^bb0(%i: index):
    %a = device.load %x[%i : index] strides [1] offset 0 contiguous : !device.ptr<f32> -> f32
    %n64 = device.load %z[%i : index] strides [1] offset 0 contiguous : !device.ptr<i64> -> i64
    %m = device.load %mask[%i : index] strides [1] offset 0 contiguous : !device.ptr<i1> -> i1
    %c0f = arith.sitofp %n64 : i64 to f32
    device.store %c0f, %y[%i : index] strides [1] offset 0 contiguous : f32, !device.ptr<f32>
    %c1f = arith.uitofp %m : i1 to f32
    device.store %c1f, %y[%i : index] strides [1] offset 40 contiguous : f32, !device.ptr<f32>
    %c2f = arith.sitofp %m : i1 to f32
    device.store %c2f, %y[%i : index] strides [1] offset 80 contiguous : f32, !device.ptr<f32>
    %n32 = arith.trunci %n64 : i64 to i32
    %c3f = arith.uitofp %n32 : i32 to f32
    device.store %c3f, %y[%i : index] strides [1] offset 120 contiguous : f32, !device.ptr<f32>
    %wide = arith.extf %a : f32 to f64
    %tenth = arith.constant 0.1 : f64
    %sum = arith.addf %wide, %tenth : f64
    %c4f = arith.truncf %sum : f64 to f32
    device.store %c4f, %y[%i : index] strides [1] offset 160 contiguous : f32, !device.ptr<f32>
    %low = arith.trunci %n64 : i64 to i1
    %not = arith.constant true
    %odd = arith.xori %low, %not : i1
    %one = arith.constant 1.0 : f32
    %c5f = arith.select %odd, %a, %one : f32
    device.store %c5f, %y[%i : index] strides [1] offset 200 contiguous : f32, !device.ptr<f32>
    %d0 = arith.fptosi %a : f32 to i64
    device.store %d0, %w[%i : index] strides [1] offset 0 contiguous : i64, !device.ptr<i64>
    %d1 = arith.extui %m : i1 to i64
    device.store %d1, %w[%i : index] strides [1] offset 40 contiguous : i64, !device.ptr<i64>
    %d2 = arith.extsi %m : i1 to i64
    device.store %d2, %w[%i : index] strides [1] offset 80 contiguous : i64, !device.ptr<i64>
    %d3 = arith.extui %n32 : i32 to i64
    device.store %d3, %w[%i : index] strides [1] offset 120 contiguous : i64, !device.ptr<i64>
    %d4 = arith.extsi %n32 : i32 to i64
    device.store %d4, %w[%i : index] strides [1] offset 160 contiguous : i64, !device.ptr<i64>
    %d5 = arith.index_cast %i : index to i64
    device.store %d5, %w[%i : index] strides [1] offset 200 contiguous : i64, !device.ptr<i64>
    %least = arith.constant -9223372036854775808 : i64
    %d6 = arith.maxsi %n64, %least : i64
    device.store %d6, %w[%i : index] strides [1] offset 240 contiguous : i64, !device.ptr<i64>
    device.yield
  }
}

device.kernel @uniform blocks 40 threads 32 ["x", "z", "y", "w"] {
^bb0(%x: !device.ptr<f32>, %z: !device.ptr<i64>, %y: !device.ptr<f32>, %w: !device.ptr<i1>):
  %row = device.block_index
  %c = arith.constant 0.5 : f32
  %a = device.load %x[%row : index] strides [1] offset 0 uniform : !device.ptr<f32> -> f32
  %n = device.load %z[%row : index] strides [1] offset 0 uniform : !device.ptr<i64> -> i64
  %zero = arith.constant 0 : i64
  %m = arith.maxsi %n, %zero : i64
  %isbig = arith.cmpf ugt, %a, %c : f32
  %iszero = arith.cmpi eq, %m, %zero : i64
  %either = arith.ori %isbig, %iszero : i1
  %f = arith.sitofp %m : i64 to f32
  %e = math.exp %a : f32
  %s = arith.select %either, %e, %f : f32
  device.store %s, %y[%row : index] strides [1] offset 0 uniform : f32, !device.ptr<f32>
  device.store %either, %w[%row : index] strides [1] offset 0 uniform : i1, !device.ptr<i1>
}

device.step @forward forward {
  %0 = device.address @x : !device.ptr<f32>
  %1 = device.address @elementary_out : !device.ptr<f32>
  device.launch @elementary(%0, %1) {section = #device.section<forward>, comment = "elementary"} : !device.ptr<f32>, !device.ptr<f32>
  %2 = device.address @x : !device.ptr<f32>
  %3 = device.address @z : !device.ptr<f32>
  %4 = device.address @binary_out : !device.ptr<f32>
  device.launch @binary(%2, %3, %4) {section = #device.section<forward>, comment = "binary"} : !device.ptr<f32>, !device.ptr<f32>, !device.ptr<f32>
  %5 = device.address @x : !device.ptr<f32>
  %6 = device.address @z : !device.ptr<f32>
  %7 = device.address @compare_floats_out : !device.ptr<i1>
  device.launch @compare_floats(%5, %6, %7) {section = #device.section<forward>, comment = "compare_floats"} : !device.ptr<f32>, !device.ptr<f32>, !device.ptr<i1>
  %8 = device.address @n : !device.ptr<i64>
  %9 = device.address @k : !device.ptr<i64>
  %10 = device.address @compare_integers_out : !device.ptr<i1>
  device.launch @compare_integers(%8, %9, %10) {section = #device.section<forward>, comment = "compare_integers"} : !device.ptr<i64>, !device.ptr<i64>, !device.ptr<i1>
  %11 = device.address @n : !device.ptr<i64>
  %12 = device.address @k : !device.ptr<i64>
  %13 = device.address @integers_out : !device.ptr<i64>
  device.launch @integers(%11, %12, %13) {section = #device.section<forward>, comment = "integers"} : !device.ptr<i64>, !device.ptr<i64>, !device.ptr<i64>
  %14 = device.address @x : !device.ptr<f32>
  %15 = device.address @n : !device.ptr<i64>
  %16 = device.address @mask : !device.ptr<i1>
  %17 = device.address @casts_out : !device.ptr<f32>
  %18 = device.address @casts_to_integers_out : !device.ptr<i64>
  device.launch @casts(%14, %15, %16, %17, %18) {section = #device.section<forward>, comment = "casts"} : !device.ptr<f32>, !device.ptr<i64>, !device.ptr<i1>, !device.ptr<f32>, !device.ptr<i64>
  %19 = device.address @x : !device.ptr<f32>
  %20 = device.address @n : !device.ptr<i64>
  %21 = device.address @uniform_out : !device.ptr<f32>
  %22 = device.address @uniform_mask_out : !device.ptr<i1>
  device.launch @uniform(%19, %20, %21, %22) {section = #device.section<forward>, comment = "uniform"} : !device.ptr<f32>, !device.ptr<i64>, !device.ptr<f32>, !device.ptr<i1>
}
