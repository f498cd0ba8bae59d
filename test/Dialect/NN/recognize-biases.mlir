// RUN: gpuopt-opt %s --nn-recognize-biases | FileCheck %s
// RUN: gpuopt-opt %s --nn-recognize-biases --remarks-filter=recognize-biases --remark-format=emitRemark -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// REMARK-COUNT-2: "what is added to the scores is a trained bias"
// REMARK-COUNT-4: "what is added to the scores is a trained bias and a mask"
// REMARK-COUNT-2: "what is added to the scores is a trained bias"
// REMARK: [Missed] {{.*}}"a trained mask in half precision is no bias"
// REMARK-NOT: trained bias

train.variable @table parameter : tensor<3x3xf32>
train.variable @slopes frozen : tensor<3x3xf32>

// What is not trained stays a mask; it is swapped with a bias that is not.
// CHECK-LABEL: func.func @whole
// CHECK: %[[SLOPES:.*]] = train.read @slopes
// CHECK: %[[TABLE:.*]] = train.read @table
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} mask %[[SLOPES]] scale
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} bias %[[TABLE]] : tensor<3x3xf32> scale
// CHECK: %[[SUM:.*]] = arith.addf %[[TABLE]], %[[TABLE]]
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} bias %[[SUM]] : tensor<3x3xf32> scale
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} mask %[[SLOPES]] bias %[[TABLE]] : tensor<3x3xf32> scale
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} mask %[[SUM]] bias %[[TABLE]] : tensor<3x3xf32> scale
func.func @whole(%q: tensor<3x16xf32>) {
  %slopes = train.read @slopes : tensor<3x3xf32>
  %table = train.read @table : tensor<3x3xf32>
  %0:2 = nn.attention %q, %q, %q mask %slopes scale 1.0 : tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x3xf32>
  %1:2 = nn.attention %q, %q, %q mask %table scale 1.0 : tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x3xf32>
  %sum = arith.addf %table, %table : tensor<3x3xf32>
  %2:2 = nn.attention %q, %q, %q mask %sum scale 1.0 : tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x3xf32>
  %3:2 = nn.attention %q, %q, %q mask %table bias %slopes : tensor<3x3xf32> scale 1.0
      : tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x3xf32>
  %4:2 = nn.attention %q, %q, %q mask %sum bias %table : tensor<3x3xf32> scale 1.0
      : tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x3xf32>
  return
}

// A sum is taken apart; what repeats the parts is not needed.
// CHECK-LABEL: func.func @sum
// CHECK: %[[TABLE:.*]] = train.read @table
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} mask %arg1 bias %[[TABLE]] : tensor<3x3xf32> scale 1.000000e+00 :
func.func @sum(%q: tensor<2x3x16xf32>, %padding: tensor<2x1x3xf32>) {
  %table = train.read @table : tensor<3x3xf32>
  %a = nn.broadcast %padding : tensor<2x1x3xf32> to tensor<2x3x3xf32>
  %b = nn.broadcast %table : tensor<3x3xf32> to tensor<2x3x3xf32>
  %mask = arith.addf %a, %b : tensor<2x3x3xf32>
  %0:2 = nn.attention %q, %q, %q mask %mask scale 1.0 : tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<2x3x3xf32>
  return
}

// The decoder of T5 sees no later keys; a mask may say what is seen or what is
// hidden.
// CHECK-LABEL: func.func @selections
// CHECK: %[[SEEN:.*]] = arith.constant dense<{{\[\[}}true, false, false], [true, true, false], [true, true, true]]>
// CHECK: %[[TABLE:.*]] = train.read @table
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} mask %[[SEEN]] bias %[[TABLE]] : tensor<3x3xf32> scale 1.000000e+00 {masked_value = -1.000000e+09 : f64} :
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} bias %[[TABLE]] : tensor<3x3xf32> scale 1.000000e+00 :
func.func @selections(%q: tensor<2x3x16xf32>, %computed: tensor<2x3x3xi1>) {
  %seen = arith.constant dense<[[true, false, false], [true, true, false], [true, true, true]]> : tensor<3x3xi1>
  %finite = arith.constant dense<-1.0e9> : tensor<3x3xf32>
  %infinite = arith.constant dense<0xFF800000> : tensor<2x3x3xf32>
  %table = train.read @table : tensor<3x3xf32>
  %repeated = nn.broadcast %table : tensor<3x3xf32> to tensor<2x3x3xf32>
  %m = arith.select %seen, %table, %finite : tensor<3x3xi1>, tensor<3x3xf32>
  %0:2 = nn.attention %q, %q, %q mask %m scale 1.0 : tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<3x3xf32>
  %n = arith.select %computed, %infinite, %repeated : tensor<2x3x3xi1>, tensor<2x3x3xf32>
  %1:2 = nn.attention %q, %q, %q mask %n scale 1.0 : tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<2x3x3xf32>
  return
}

// A finite number does not hide keys where a query may see none, and a number
// that is not low does not at all.
// CHECK-LABEL: func.func @no_masks
// CHECK: %[[M:.*]] = arith.select
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} bias %[[M]] : tensor<3x3xf32> scale
// CHECK: %[[N:.*]] = arith.select
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} bias %[[N]] : tensor<3x3xf32> scale
func.func @no_masks(%q: tensor<3x16xf32>, %computed: tensor<3x3xi1>) {
  %seen = arith.constant dense<[[true, false, false], [true, true, false], [true, true, true]]> : tensor<3x3xi1>
  %finite = arith.constant dense<-1.0e9> : tensor<3x3xf32>
  %low = arith.constant dense<-10.0> : tensor<3x3xf32>
  %table = train.read @table : tensor<3x3xf32>
  %m = arith.select %computed, %table, %finite : tensor<3x3xi1>, tensor<3x3xf32>
  %0:2 = nn.attention %q, %q, %q mask %m scale 1.0 : tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x3xf32>
  %n = arith.select %seen, %table, %low : tensor<3x3xi1>, tensor<3x3xf32>
  %1:2 = nn.attention %q, %q, %q mask %n scale 1.0 : tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x3xf32>
  return
}

// The pass comes before precisions: a bias has the type of sums.
// CHECK-LABEL: func.func @half
// CHECK: nn.attention %{{.*}} mask %{{.*}} scale 1.000000e+00 : {{.*}}, tensor<3x3xf16>
func.func @half(%q: tensor<3x16xf16>) {
  %table = train.read @table : tensor<3x3xf32>
  %mask = arith.truncf %table : tensor<3x3xf32> to tensor<3x3xf16>
  %0:2 = nn.attention %q, %q, %q mask %mask scale 1.0 : tensor<3x16xf16>, tensor<3x16xf16>, tensor<3x16xf16>, tensor<3x3xf16>
  return
}
