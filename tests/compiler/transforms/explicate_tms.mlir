// RUN: ttmlir-opt --ttir-explicate-tms %s | FileCheck %s

// CHECK-LABEL: elementwise_inputs_are_broadcast
func.func @elementwise_inputs_are_broadcast(%a: tensor<32x64xf32>, %b: tensor<64xf32>) -> tensor<32x64xf32> {
  // CHECK: %[[ROW:.*]] = "ttir.reshape"(%arg1) <{shape = [1 : i32, 64 : i32]}>
  // CHECK-NEXT: %[[ALL:.*]] = "ttir.broadcast"(%[[ROW]]) <{broadcast_dimensions = array<i64: 32, 1>}>
  // CHECK-NEXT: "ttir.add"(%arg0, %[[ALL]])
  %0 = "ttir.add"(%a, %b) : (tensor<32x64xf32>, tensor<64xf32>) -> tensor<32x64xf32>
  return %0 : tensor<32x64xf32>
}

// CHECK-LABEL: operands_of_a_matmul_are_not_broadcast
func.func @operands_of_a_matmul_are_not_broadcast(%a: tensor<2x32x64xf32>, %b: tensor<64x32xf32>) -> tensor<2x32x32xf32> {
  // CHECK-NEXT: "ttir.matmul"(%arg0, %arg1)
  %0 = "ttir.matmul"(%a, %b) : (tensor<2x32x64xf32>, tensor<64x32xf32>) -> tensor<2x32x32xf32>
  return %0 : tensor<2x32x32xf32>
}
