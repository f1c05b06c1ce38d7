// RUN: ttmlir-opt --ttir-reduction-force-keep-dim %s | FileCheck %s

// CHECK-LABEL: reduction_keeps_its_dimension
func.func @reduction_keeps_its_dimension(%a: tensor<32x64xf32>) -> tensor<32xf32> {
  // CHECK: %[[SUM:.*]] = "ttir.sum"(%arg0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<32x64xf32>) -> tensor<32x1xf32>
  // CHECK-NEXT: "ttir.reshape"(%[[SUM]])
  %0 = "ttir.sum"(%a) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<32x64xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}

// CHECK-LABEL: kept_dimension_stays
func.func @kept_dimension_stays(%a: tensor<32x64xf32>) -> tensor<32x1xf32> {
  // CHECK: "ttir.max"
  // CHECK-NOT: "ttir.reshape"
  // CHECK: return
  %0 = "ttir.max"(%a) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<32x64xf32>) -> tensor<32x1xf32>
  return %0 : tensor<32x1xf32>
}
