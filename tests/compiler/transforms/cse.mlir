// RUN: ttmlir-opt --cse %s | FileCheck %s

// CHECK-LABEL: equal_operations_merge
func.func @equal_operations_merge(%a: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // CHECK: %[[EXP:.*]] = "ttir.exp"(%arg0)
  // CHECK-NEXT: "ttir.add"(%[[EXP]], %[[EXP]])
  %0 = "ttir.exp"(%a) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = "ttir.exp"(%a) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = "ttir.add"(%0, %1) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %2 : tensor<32x32xf32>
}

// CHECK-LABEL: operations_with_other_attributes_stay
func.func @operations_with_other_attributes_stay(%a: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // CHECK: "ttir.softmax"(%arg0) <{dimension = 0 : si32
  // CHECK-NEXT: "ttir.softmax"(%arg0) <{dimension = 1 : si32
  %0 = "ttir.softmax"(%a) <{dimension = 0 : si32}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = "ttir.softmax"(%a) <{dimension = 1 : si32}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = "ttir.add"(%0, %1) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %2 : tensor<32x32xf32>
}

// CHECK-LABEL: random_tensors_stay_apart
func.func @random_tensors_stay_apart() -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  // CHECK: %[[A:.*]] = "ttir.rand"()
  // CHECK-NEXT: %[[B:.*]] = "ttir.rand"()
  // CHECK-NEXT: return %[[A]], %[[B]]
  %0 = "ttir.rand"() <{size = [32 : i32, 32 : i32]}> : () -> tensor<32x32xf32>
  %1 = "ttir.rand"() <{size = [32 : i32, 32 : i32]}> : () -> tensor<32x32xf32>
  return %0, %1 : tensor<32x32xf32>, tensor<32x32xf32>
}

// CHECK-LABEL: empty_tensors_stay_apart
func.func @empty_tensors_stay_apart() -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  // CHECK: %[[A:.*]] = ttir.empty()
  // CHECK-NEXT: %[[B:.*]] = ttir.empty()
  // CHECK-NEXT: return %[[A]], %[[B]]
  %0 = ttir.empty() : tensor<32x32xf32>
  %1 = ttir.empty() : tensor<32x32xf32>
  return %0, %1 : tensor<32x32xf32>, tensor<32x32xf32>
}
