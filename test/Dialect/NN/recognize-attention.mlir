// RUN: gpuopt-opt %s --nn-recognize-attention --split-input-file | FileCheck %s
// RUN: gpuopt-opt %s --nn-recognize-attention --split-input-file --remarks-filter=recognize-attention \
// RUN:   --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// As eager attention is exported: the transposed keys become keys again.
// CHECK-LABEL: func.func @scores_scaled
// CHECK-SAME: (%[[Q:.*]]: tensor<2x4x8x16xf32>, %[[K:.*]]: tensor<2x4x9x16xf32>, %[[V:.*]]: tensor<2x4x9x16xf32>, %[[M:.*]]: tensor<2x1x8x9xf32>)
// CHECK-NEXT: %[[Y:.*]], %{{.*}} = nn.attention %[[Q]], %[[K]], %[[V]] mask %[[M]] scale 2.500000e-01 dropout 1.000000e-01 stream 3 :
// CHECK-NEXT: %[[T:.*]] = nn.transpose %[[Y]] [0, 2, 1, 3]
// CHECK-NEXT: return %[[T]]
// REMARK: [Passed] attention {{.*}}"scores 2x4x8x9, heads of 16, added mask, scale 0.25 of the scores, dropout 0.1"
func.func @scores_scaled(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x9x16xf32>, %v: tensor<2x4x9x16xf32>,
                         %m: tensor<2x1x8x9xf32>) -> tensor<2x8x4x16xf32> {
  %scale = arith.constant dense<0.25> : tensor<2x4x8x9xf32>
  %kt = nn.transpose %k [0, 1, 3, 2] : tensor<2x4x9x16xf32>
  %0 = nn.contract "abxy,abyz->abxz" %q, %kt : tensor<2x4x8x16xf32>, tensor<2x4x16x9xf32>
  %1 = arith.mulf %0, %scale : tensor<2x4x8x9xf32>
  %mask = nn.broadcast %m : tensor<2x1x8x9xf32> to tensor<2x4x8x9xf32>
  %2 = arith.addf %1, %mask : tensor<2x4x8x9xf32>
  %3 = nn.softmax %2 dim 3 : tensor<2x4x8x9xf32>
  %4 = nn.dropout %3 ratio 0.1 stream 3 : tensor<2x4x8x9xf32>
  %5 = nn.contract "abxy,abyz->axbz" %4, %v : tensor<2x4x8x9xf32>, tensor<2x4x9x16xf32>
  return %5 : tensor<2x8x4x16xf32>
}

// -----

// As scaled_dot_product_attention is exported: the square root of the scale on
// both operands, the keys transposed in three dimensions.
// CHECK-LABEL: func.func @both_scaled
// CHECK-SAME: (%[[Q:.*]]: tensor<2x4x8x16xf32>, %[[K:.*]]: tensor<2x4x8x16xf32>, %[[V:.*]]: tensor
// CHECK-NEXT: %[[Y:.*]], %{{.*}} = nn.attention %[[Q]], %[[K]], %[[V]] scale 2.500000e-01 of both {zeroes_empty} :
// CHECK-NEXT: return %[[Y]]
// REMARK: [Passed] attention {{.*}}scale 0.25 of query and key, zeroes of empty rows"
func.func @both_scaled(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x8x16xf32>, %v: tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32> {
  %root = arith.constant dense<0.5> : tensor<2x4x8x16xf32>
  %roots = arith.constant dense<0.5> : tensor<2x4x16x8xf32>
  %qs = arith.mulf %q, %root : tensor<2x4x8x16xf32>
  %k3 = nn.reshape %k : tensor<2x4x8x16xf32> to tensor<8x8x16xf32>
  %kt = nn.transpose %k3 [0, 2, 1] : tensor<8x8x16xf32>
  %k4 = nn.reshape %kt : tensor<8x16x8xf32> to tensor<2x4x16x8xf32>
  %ks = arith.mulf %k4, %roots : tensor<2x4x16x8xf32>
  %0 = nn.contract "abxy,abyz->abxz" %qs, %ks : tensor<2x4x8x16xf32>, tensor<2x4x16x8xf32>
  %1 = nn.softmax %0 dim 3 {zeroes_empty} : tensor<2x4x8x8xf32>
  %2 = nn.contract "abxy,abyz->abxz" %1, %v : tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>
  return %2 : tensor<2x4x8x16xf32>
}

// -----

// A query that is scaled before its heads are split, by division; a mask that
// says what is hidden; products over merged dimensions.
// CHECK-LABEL: func.func @query_scaled
// CHECK-SAME: (%[[X:.*]]: tensor<2x8x64xf32>, %[[K:.*]]: tensor<8x9x16xf32>, %[[V:.*]]: tensor<8x9x16xf32>, %[[M:.*]]: tensor<8x9xi1>)
// CHECK-DAG: %[[TRUE:.*]] = arith.constant dense<true> : tensor<8x9xi1>
// CHECK-DAG: %[[KEPT:.*]] = arith.xori %[[M]], %[[TRUE]]
// CHECK-DAG: %[[K4:.*]] = nn.reshape %[[K]] : tensor<8x9x16xf32> to tensor<2x4x9x16xf32>
// CHECK-DAG: %[[V4:.*]] = nn.reshape %[[V]] : tensor<8x9x16xf32> to tensor<2x4x9x16xf32>
// CHECK-DAG: %[[H:.*]] = nn.reshape %[[X]] : tensor<2x8x64xf32> to tensor<2x8x4x16xf32>
// CHECK-DAG: %[[Q:.*]] = nn.transpose %[[H]] [0, 2, 1, 3]
// CHECK: nn.attention %[[Q]], %[[K4]], %[[V4]] mask %[[KEPT]] scale 2.500000e-01 of query {masked_value = -1.000000e+04 : f64} :
// CHECK-NEXT: nn.reshape
// CHECK-NEXT: return
// REMARK: [Passed] attention {{.*}}"scores 2x4x8x9, heads of 16, boolean mask, scale 0.25 of the query"
func.func @query_scaled(%x: tensor<2x8x64xf32>, %k: tensor<8x9x16xf32>, %v: tensor<8x9x16xf32>, %m: tensor<8x9xi1>) -> tensor<8x8x16xf32> {
  %four = arith.constant dense<4.0> : tensor<2x8x64xf32>
  %hidden = arith.constant dense<-1.0e4> : tensor<2x4x8x9xf32>
  %0 = arith.divf %x, %four : tensor<2x8x64xf32>
  %1 = nn.reshape %0 : tensor<2x8x64xf32> to tensor<2x8x4x16xf32>
  %2 = nn.transpose %1 [0, 2, 1, 3] : tensor<2x8x4x16xf32>
  %q = nn.reshape %2 : tensor<2x4x8x16xf32> to tensor<8x8x16xf32>
  %3 = nn.contract "axy,azy->axz" %q, %k : tensor<8x8x16xf32>, tensor<8x9x16xf32>
  %4 = nn.reshape %3 : tensor<8x8x9xf32> to tensor<2x4x8x9xf32>
  %mask = nn.broadcast %m : tensor<8x9xi1> to tensor<2x4x8x9xi1>
  %5 = arith.select %mask, %hidden, %4 : tensor<2x4x8x9xi1>, tensor<2x4x8x9xf32>
  %6 = nn.reshape %5 : tensor<2x4x8x9xf32> to tensor<8x8x9xf32>
  %7 = nn.softmax %6 dim 2 : tensor<8x8x9xf32>
  %8 = nn.contract "axy,ayz->axz" %7, %v : tensor<8x8x9xf32>, tensor<8x9x16xf32>
  return %8 : tensor<8x8x16xf32>
}

// -----

// The product of keys and queries, in that order, in other letters' orders.
// CHECK-LABEL: func.func @letters
// CHECK-DAG: %[[Q:.*]] = nn.transpose %arg0 [0, 2, 1, 3]
// CHECK-DAG: %[[K:.*]] = nn.transpose %arg1 [2, 1, 0, 3]
// CHECK-DAG: %[[V:.*]] = nn.transpose %arg2 [0, 1, 3, 2]
// CHECK: nn.attention %[[Q]], %[[K]], %[[V]] scale 1.000000e+00 :
func.func @letters(%q: tensor<2x8x4x16xf32>, %k: tensor<9x4x2x16xf32>, %v: tensor<2x4x5x9xf32>) -> tensor<2x4x8x5xf32> {
  %0 = nn.contract "khbd,bqhd->bhqk" %k, %q : tensor<9x4x2x16xf32>, tensor<2x8x4x16xf32>
  %1 = nn.softmax %0 dim 3 : tensor<2x4x8x9xf32>
  %2 = nn.contract "bhdk,bhqk->bhqd" %v, %1 : tensor<2x4x5x9xf32>, tensor<2x4x8x9xf32>
  return %2 : tensor<2x4x8x5xf32>
}

// -----

// What is added first is a bias. The mask of each window of Swin is added after
// a reshape that takes the batch apart; the bias is the same for all of it.
// CHECK-LABEL: func.func @windows
// CHECK-DAG: %[[Q:.*]] = nn.reshape %arg0 : tensor<6x4x8x16xf32> to tensor<2x3x4x8x16xf32>
// CHECK-DAG: %[[V:.*]] = nn.reshape %arg1 : tensor<6x4x8x16xf32> to tensor<2x3x4x8x16xf32>
// CHECK: %[[Y:.*]], %{{.*}} = nn.attention %[[Q]], %{{.*}}, %[[V]] mask %arg3 bias %arg2 : tensor<1x4x8x8xf32> scale 1.000000e+00 :
// CHECK-NEXT: nn.reshape %[[Y]] : tensor<2x3x4x8x16xf32> to tensor<6x4x8x16xf32>
// REMARK: [Passed] attention {{.*}}"scores 2x3x4x8x8, heads of 16, added mask, bias"
func.func @windows(%q: tensor<6x4x8x16xf32>, %v: tensor<6x4x8x16xf32>, %bias: tensor<1x4x8x8xf32>, %m: tensor<1x3x1x8x8xf32>) -> tensor<6x4x8x16xf32> {
  %0 = nn.contract "abxy,abzy->abxz" %q, %q : tensor<6x4x8x16xf32>, tensor<6x4x8x16xf32>
  %1 = nn.broadcast %bias : tensor<1x4x8x8xf32> to tensor<6x4x8x8xf32>
  %2 = arith.addf %0, %1 : tensor<6x4x8x8xf32>
  %3 = nn.reshape %2 : tensor<6x4x8x8xf32> to tensor<2x3x4x8x8xf32>
  %4 = nn.broadcast %m : tensor<1x3x1x8x8xf32> to tensor<2x3x4x8x8xf32>
  %5 = arith.addf %3, %4 : tensor<2x3x4x8x8xf32>
  %6 = nn.reshape %5 : tensor<2x3x4x8x8xf32> to tensor<6x4x8x8xf32>
  %7 = nn.softmax %6 dim 3 : tensor<6x4x8x8xf32>
  %8 = nn.contract "abxy,abyz->abxz" %7, %v : tensor<6x4x8x8xf32>, tensor<6x4x8x16xf32>
  return %8 : tensor<6x4x8x16xf32>
}

// -----

// Here the bias distinguishes windows, and the mask does not.
// CHECK-LABEL: func.func @windows_of_bias
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} bias %arg1 : tensor<6x8x8xf32> scale 1.000000e+00 : tensor<6x8x16xf32>, {{.*}}tensor<1x8x8xi1>
func.func @windows_of_bias(%q: tensor<6x8x16xf32>, %bias: tensor<6x8x8xf32>, %m: tensor<1x1x8x8xi1>) -> tensor<6x8x16xf32> {
  %hidden = arith.constant dense<0xFF800000> : tensor<2x3x8x8xf32>
  %0 = nn.contract "axy,azy->axz" %q, %q : tensor<6x8x16xf32>, tensor<6x8x16xf32>
  %2 = arith.addf %0, %bias : tensor<6x8x8xf32>
  %3 = nn.reshape %2 : tensor<6x8x8xf32> to tensor<2x3x8x8xf32>
  %4 = nn.broadcast %m : tensor<1x1x8x8xi1> to tensor<2x3x8x8xi1>
  %5 = arith.select %4, %3, %hidden : tensor<2x3x8x8xi1>, tensor<2x3x8x8xf32>
  %6 = nn.reshape %5 : tensor<2x3x8x8xf32> to tensor<6x8x8xf32>
  %7 = nn.softmax %6 dim 2 : tensor<6x8x8xf32>
  %8 = nn.contract "axy,ayz->axz" %7, %q : tensor<6x8x8xf32>, tensor<6x8x16xf32>
  return %8 : tensor<6x8x16xf32>
}

// -----

// Near misses stay as they are.
// CHECK-LABEL: func.func @near_misses
// CHECK-NOT: nn.attention
// CHECK: return
// REMARK: [Missed] attention {{.*}}"the scores have more than a bias and then a mask"
// REMARK: [Missed] attention {{.*}}"the scores are scaled after the mask"
// REMARK: [Missed] attention {{.*}}"the probabilities are read by other work, too"
// REMARK: [Missed] attention {{.*}}"the softmax is not along the last dimension"
// REMARK: [Missed] attention {{.*}}"the product after the softmax does not sum over its dimension"
// REMARK: [Missed] attention {{.*}}"the product 'axy,zy->axz' does not multiply queries by keys of the same batch"
func.func @near_misses(%q: tensor<4x8x16xf32>, %k: tensor<4x8x16xf32>, %shared: tensor<8x16xf32>, %m: tensor<4x8x8xf32>) -> (
    tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x8xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>) {
  %half = arith.constant dense<0.5> : tensor<4x8x8xf32>
  %0 = nn.contract "axy,azy->axz" %q, %k : tensor<4x8x16xf32>, tensor<4x8x16xf32>
  %1 = arith.addf %0, %m : tensor<4x8x8xf32>
  %2 = arith.addf %1, %m : tensor<4x8x8xf32>
  %masked = arith.addf %2, %m : tensor<4x8x8xf32>
  %3 = nn.softmax %masked dim 2 : tensor<4x8x8xf32>
  %4 = nn.contract "axy,ayz->axz" %3, %k : tensor<4x8x8xf32>, tensor<4x8x16xf32>

  %10 = nn.contract "axy,azy->axz" %q, %k : tensor<4x8x16xf32>, tensor<4x8x16xf32>
  %11 = arith.addf %10, %m : tensor<4x8x8xf32>
  %12 = arith.mulf %11, %half : tensor<4x8x8xf32>
  %13 = nn.softmax %12 dim 2 : tensor<4x8x8xf32>
  %14 = nn.contract "axy,ayz->axz" %13, %k : tensor<4x8x8xf32>, tensor<4x8x16xf32>

  %20 = nn.contract "axy,azy->axz" %q, %k : tensor<4x8x16xf32>, tensor<4x8x16xf32>
  %21 = nn.softmax %20 dim 2 : tensor<4x8x8xf32>
  %22 = nn.contract "axy,ayz->axz" %21, %k : tensor<4x8x8xf32>, tensor<4x8x16xf32>

  %30 = nn.contract "axy,azy->axz" %q, %k : tensor<4x8x16xf32>, tensor<4x8x16xf32>
  %31 = nn.softmax %30 dim 1 : tensor<4x8x8xf32>
  %32 = nn.contract "axy,ayz->axz" %31, %k : tensor<4x8x8xf32>, tensor<4x8x16xf32>

  %40 = nn.contract "axy,azy->axz" %q, %k : tensor<4x8x16xf32>, tensor<4x8x16xf32>
  %41 = nn.softmax %40 dim 2 : tensor<4x8x8xf32>
  %42 = nn.contract "axy,axz->ayz" %41, %k : tensor<4x8x8xf32>, tensor<4x8x16xf32>

  %50 = nn.contract "axy,zy->axz" %q, %shared : tensor<4x8x16xf32>, tensor<8x16xf32>
  %51 = nn.softmax %50 dim 2 : tensor<4x8x8xf32>
  %52 = nn.contract "axy,ayz->axz" %51, %k : tensor<4x8x8xf32>, tensor<4x8x16xf32>
  return %4, %14, %22, %21, %32, %42, %52 : tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x8xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>
}

// -----

// A softmax that is not between two products is none, and no remark is made.
// CHECK-LABEL: func.func @classifier
// CHECK: nn.softmax
// REMARK-NOT: classifier
func.func @classifier(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %0 = nn.contract "ik,kj->ij" %x, %w : tensor<4x16xf32>, tensor<16x8xf32>
  %1 = nn.softmax %0 dim 1 : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// Sums of sums: many ways lead up, none of them to a product.
// CHECK-LABEL: func.func @sums
// CHECK: nn.softmax
func.func @sums(%x: tensor<4x8xf32>, %v: tensor<8x5xf32>) -> tensor<4x5xf32> {
  %0 = arith.addf %x, %x : tensor<4x8xf32>
  %1 = arith.addf %0, %0 : tensor<4x8xf32>
  %2 = arith.addf %1, %1 : tensor<4x8xf32>
  %3 = arith.addf %2, %2 : tensor<4x8xf32>
  %4 = arith.addf %3, %3 : tensor<4x8xf32>
  %5 = arith.addf %4, %4 : tensor<4x8xf32>
  %6 = arith.addf %5, %5 : tensor<4x8xf32>
  %7 = arith.addf %6, %6 : tensor<4x8xf32>
  %8 = arith.addf %7, %7 : tensor<4x8xf32>
  %9 = arith.addf %8, %8 : tensor<4x8xf32>
  %10 = arith.addf %9, %9 : tensor<4x8xf32>
  %11 = arith.addf %10, %10 : tensor<4x8xf32>
  %12 = arith.addf %11, %11 : tensor<4x8xf32>
  %13 = arith.addf %12, %12 : tensor<4x8xf32>
  %14 = arith.addf %13, %13 : tensor<4x8xf32>
  %15 = arith.addf %14, %14 : tensor<4x8xf32>
  %16 = arith.addf %15, %15 : tensor<4x8xf32>
  %17 = arith.addf %16, %16 : tensor<4x8xf32>
  %18 = arith.addf %17, %17 : tensor<4x8xf32>
  %19 = arith.addf %18, %18 : tensor<4x8xf32>
  %20 = arith.addf %19, %19 : tensor<4x8xf32>
  %21 = arith.addf %20, %20 : tensor<4x8xf32>
  %22 = arith.addf %21, %21 : tensor<4x8xf32>
  %23 = arith.addf %22, %22 : tensor<4x8xf32>
  %24 = arith.addf %23, %23 : tensor<4x8xf32>
  %25 = arith.addf %24, %24 : tensor<4x8xf32>
  %26 = arith.addf %25, %25 : tensor<4x8xf32>
  %27 = arith.addf %26, %26 : tensor<4x8xf32>
  %28 = arith.addf %27, %27 : tensor<4x8xf32>
  %29 = arith.addf %28, %28 : tensor<4x8xf32>
  %30 = arith.addf %29, %29 : tensor<4x8xf32>
  %31 = arith.addf %30, %30 : tensor<4x8xf32>
  %32 = arith.addf %31, %31 : tensor<4x8xf32>
  %33 = arith.addf %32, %32 : tensor<4x8xf32>
  %34 = arith.addf %33, %33 : tensor<4x8xf32>
  %35 = arith.addf %34, %34 : tensor<4x8xf32>
  %36 = arith.addf %35, %35 : tensor<4x8xf32>
  %37 = arith.addf %36, %36 : tensor<4x8xf32>
  %38 = arith.addf %37, %37 : tensor<4x8xf32>
  %39 = arith.addf %38, %38 : tensor<4x8xf32>
  %40 = arith.addf %39, %39 : tensor<4x8xf32>
  %p = nn.softmax %40 dim 1 : tensor<4x8xf32>
  %y = nn.contract "ik,kj->ij" %p, %v : tensor<4x8xf32>, tensor<8x5xf32>
  return %y : tensor<4x5xf32>
}

// -----

// A soft cap, as Gemma 2 has it, and one without numbers around it.
// CHECK-LABEL: func.func @capped
// CHECK: nn.attention %arg0, %arg0, %arg0 mask %arg1 scale 2.500000e-01 softcap 5.000000e+01 :
// CHECK: nn.attention %{{.*}}, %arg0, %arg0 scale 5.000000e-01 softcap 1.000000e+00 :
// REMARK: [Passed] attention {{.*}}"scores 4x8x8, heads of 16, added mask, scale 0.25 of the scores, soft cap 50"
// REMARK: [Passed] attention {{.*}}"scores 4x8x8, heads of 16, scale 0.5 of the scores, soft cap 1"
func.func @capped(%q: tensor<4x8x16xf32>, %m: tensor<8x8xf32>) -> tensor<4x8x16xf32> {
  %scale = arith.constant dense<0.25> : tensor<4x8x8xf32>
  %half = arith.constant dense<0.5> : tensor<4x8x8xf32>
  %cap = arith.constant dense<50.0> : tensor<4x8x8xf32>
  %0 = nn.contract "axy,azy->axz" %q, %q : tensor<4x8x16xf32>, tensor<4x8x16xf32>
  %1 = arith.mulf %0, %scale : tensor<4x8x8xf32>
  %2 = arith.divf %1, %cap : tensor<4x8x8xf32>
  %3 = math.tanh %2 : tensor<4x8x8xf32>
  %4 = arith.mulf %3, %cap : tensor<4x8x8xf32>
  %mask = nn.broadcast %m : tensor<8x8xf32> to tensor<4x8x8xf32>
  %5 = arith.addf %4, %mask : tensor<4x8x8xf32>
  %6 = nn.softmax %5 dim 2 : tensor<4x8x8xf32>
  %7 = nn.contract "axy,ayz->axz" %6, %q : tensor<4x8x8xf32>, tensor<4x8x16xf32>
  %8 = nn.contract "axy,azy->axz" %7, %q : tensor<4x8x16xf32>, tensor<4x8x16xf32>
  %9 = arith.mulf %8, %half : tensor<4x8x8xf32>
  %10 = math.tanh %9 : tensor<4x8x8xf32>
  %11 = nn.softmax %10 dim 2 : tensor<4x8x8xf32>
  %12 = nn.contract "axy,ayz->axz" %11, %q : tensor<4x8x8xf32>, tensor<4x8x16xf32>
  return %12 : tensor<4x8x16xf32>
}

// -----

// Two masks are one: a boolean one of both conditions if they hide keys by the
// same number, and an added one if the inner number is minus infinity.
// CHECK-LABEL: func.func @two_masks
// CHECK: %[[BOTH:.*]] = arith.andi %arg2, %arg1 : tensor<8x8xi1>
// CHECK: nn.attention %arg0, %arg0, %arg0 mask %[[BOTH]] scale 1.000000e+00 {masked_value = -1.000000e+04 : f64} :
// CHECK: %[[HIDDEN:.*]] = arith.addf %arg3, %{{.*}} : tensor<8x8xf32>
// CHECK: %[[MASK:.*]] = arith.select %arg1, %arg3, %[[HIDDEN]] : tensor<8x8xi1>, tensor<8x8xf32>
// CHECK: nn.attention %{{.*}}, %arg0, %arg0 mask %[[MASK]] scale 1.000000e+00 :
func.func @two_masks(%q: tensor<8x16xf32>, %a: tensor<8x8xi1>, %b: tensor<8x8xi1>, %m: tensor<8x8xf32>) -> tensor<8x16xf32> {
  %finite = arith.constant dense<-1.0e4> : tensor<8x8xf32>
  %infinite = arith.constant dense<0xFF800000> : tensor<8x8xf32>
  %0 = nn.contract "xy,zy->xz" %q, %q : tensor<8x16xf32>, tensor<8x16xf32>
  %1 = arith.select %a, %0, %finite : tensor<8x8xi1>, tensor<8x8xf32>
  %2 = arith.select %b, %1, %finite : tensor<8x8xi1>, tensor<8x8xf32>
  %3 = nn.softmax %2 dim 1 : tensor<8x8xf32>
  %4 = nn.contract "xy,yz->xz" %3, %q : tensor<8x8xf32>, tensor<8x16xf32>
  %5 = nn.contract "xy,zy->xz" %4, %q : tensor<8x16xf32>, tensor<8x16xf32>
  %6 = arith.select %a, %5, %infinite : tensor<8x8xi1>, tensor<8x8xf32>
  %7 = arith.addf %6, %m : tensor<8x8xf32>
  %8 = nn.softmax %7 dim 1 : tensor<8x8xf32>
  %9 = nn.contract "xy,yz->xz" %8, %q : tensor<8x8xf32>, tensor<8x16xf32>
  return %9 : tensor<8x16xf32>
}

// -----

// As GPT-Neo has it: a constant says for each sample and head which keys are in
// the window, and numbers that are added hide later ones. Each query sees one.
// CHECK-LABEL: func.func @constant_masks
// CHECK: %[[MASK:.*]] = arith.constant dense<{{\[\[\[}}0.000000e+00, -3.000000e+38, -3.000000e+38], [0.000000e+00, 0.000000e+00, -3.000000e+38], [-1.000000e+30, 0.000000e+00, 0.000000e+00]]]> : tensor<1x3x3xf32>
// CHECK: nn.attention %arg0, %arg0, %arg0 mask %[[MASK]] scale 1.000000e+00 :
func.func @constant_masks(%q: tensor<2x3x16xf32>) -> tensor<2x3x16xf32> {
  %window = arith.constant dense<[[[true, true, true], [true, true, true], [false, true, true]], [[true, true, true], [true, true, true], [false, true, true]]]> : tensor<2x3x3xi1>
  %hidden = arith.constant dense<-1.0e30> : tensor<2x3x3xf32>
  %later = arith.constant dense<[[0.0, -3.0e38, -3.0e38], [0.0, 0.0, -3.0e38], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %0 = nn.contract "axy,azy->axz" %q, %q : tensor<2x3x16xf32>, tensor<2x3x16xf32>
  %1 = arith.select %window, %0, %hidden : tensor<2x3x3xi1>, tensor<2x3x3xf32>
  %2 = nn.broadcast %later : tensor<3x3xf32> to tensor<2x3x3xf32>
  %3 = arith.addf %1, %2 : tensor<2x3x3xf32>
  %4 = nn.softmax %3 dim 2 : tensor<2x3x3xf32>
  %5 = nn.contract "axy,ayz->axz" %4, %q : tensor<2x3x3xf32>, tensor<2x3x16xf32>
  return %5 : tensor<2x3x16xf32>
}

// -----

// As DeBERTa has it: a bias of each head and sample, over merged dimensions,
// and a mask of each sample.
// CHECK-LABEL: func.func @merged_bias
// CHECK: %[[BIAS:.*]] = nn.reshape %arg1 : tensor<6x8x8xf32> to tensor<2x3x8x8xf32>
// CHECK: nn.attention %{{.*}} mask %arg2 bias %[[BIAS]] : tensor<2x3x8x8xf32> scale 1.000000e+00 : tensor<2x3x8x16xf32>
func.func @merged_bias(%q: tensor<6x8x16xf32>, %bias: tensor<6x8x8xf32>, %m: tensor<2x1x8x8xf32>) -> tensor<6x8x16xf32> {
  %0 = nn.contract "axy,azy->axz" %q, %q : tensor<6x8x16xf32>, tensor<6x8x16xf32>
  %1 = arith.addf %0, %bias : tensor<6x8x8xf32>
  %2 = nn.reshape %1 : tensor<6x8x8xf32> to tensor<2x3x8x8xf32>
  %3 = nn.broadcast %m : tensor<2x1x8x8xf32> to tensor<2x3x8x8xf32>
  %4 = arith.addf %2, %3 : tensor<2x3x8x8xf32>
  %5 = nn.reshape %4 : tensor<2x3x8x8xf32> to tensor<6x8x8xf32>
  %6 = nn.softmax %5 dim 2 : tensor<6x8x8xf32>
  %7 = nn.contract "axy,ayz->axz" %6, %q : tensor<6x8x8xf32>, tensor<6x8x16xf32>
  return %7 : tensor<6x8x16xf32>
}
