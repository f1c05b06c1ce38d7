// RUN: ttmlir-opt --remove-dead-values %s | FileCheck %s

// CHECK-LABEL: unused_operations_are_erased
func.func @unused_operations_are_erased(%a: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // CHECK-NEXT: %[[NEG:.*]] = "ttir.neg"(%arg0)
  // CHECK-NEXT: return %[[NEG]]
  %0 = "ttir.exp"(%a) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = "ttir.abs"(%0) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = "ttir.neg"(%a) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %2 : tensor<32x32xf32>
}

// CHECK-LABEL: unused_random_tensors_are_kept
func.func @unused_random_tensors_are_kept(%a: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // CHECK-NEXT: "ttir.rand"()
  %0 = "ttir.rand"() <{size = [32 : i32, 32 : i32]}> : () -> tensor<32x32xf32>
  %1 = "ttir.neg"(%a) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %1 : tensor<32x32xf32>
}

// CHECK-LABEL: cache_updates_are_kept
func.func @cache_updates_are_kept(%cache: tensor<1x8x64x32xf32>, %a: tensor<1x8x32x32xf32>) -> tensor<1x8x32x32xf32> {
  // CHECK-NEXT: "ttir.fill_cache"(%arg0, %arg1)
  "ttir.fill_cache"(%cache, %a) <{batch_offset = 0 : i32}> : (tensor<1x8x64x32xf32>, tensor<1x8x32x32xf32>) -> ()
  %1 = "ttir.neg"(%a) : (tensor<1x8x32x32xf32>) -> tensor<1x8x32x32xf32>
  return %1 : tensor<1x8x32x32xf32>
}
