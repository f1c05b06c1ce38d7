// RUN: ttmlir-opt --const-eval-hoist-transform %s | FileCheck %s

#dram = #ttnn.buffer_type<dram>
#tiles = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
!tensor = tensor<32x32xf32, #tiles>

// CHECK-LABEL: constants_are_computed_once
func.func @constants_are_computed_once(%a: !tensor {ttcore.argument_type = #ttcore.argument_type<input>}, %w: !tensor {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> !tensor {
  // CHECK: %[[EXP:.*]] = ttcore.load_cached
  // CHECK-NEXT: "ttnn.add"(%arg0, %[[EXP]])
  %0 = "ttnn.exp"(%w) : (!tensor) -> !tensor
  %1 = "ttnn.add"(%a, %0) : (!tensor, !tensor) -> !tensor
  return %1 : !tensor
}

// CHECK-LABEL: tensors_that_are_written_to_are_computed_anew
func.func @tensors_that_are_written_to_are_computed_anew(%a: !tensor {ttcore.argument_type = #ttcore.argument_type<input>}, %w: !tensor {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> !tensor {
  // CHECK-NEXT: %[[EXP:.*]] = "ttnn.exp"(%arg1)
  // CHECK-NEXT: "ttnn.copy"(%arg0, %[[EXP]])
  %0 = "ttnn.exp"(%w) : (!tensor) -> !tensor
  "ttnn.copy"(%a, %0) : (!tensor, !tensor) -> ()
  return %0 : !tensor
}

// CHECK-LABEL: random_tensors_are_computed_anew
func.func @random_tensors_are_computed_anew(%w: !tensor {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> !tensor {
  // CHECK: "ttnn.dropout"(%arg0)
  %0 = "ttnn.dropout"(%w) <{prob = 5.000000e-01 : f32}> : (!tensor) -> !tensor
  return %0 : !tensor
}
