// A top-k of IREE, whose waves read, modify and write the same outputs without a barrier (IREE's issues 18649 and
// 21202; its own tests have the same as topk_2d_dim1_max and topk_2d_dim1_inverted_max). topk.hsaco is the code object
// in it, made by iree-base-compiler 3.13.0:
//   iree-compile --iree-hal-target-device=hip --iree-rocm-target=gfx90a topk.mlir -o topk.vmfb \
//     --iree-hal-dump-executable-binaries-to=.
func.func @topk_2d_dim1_max(%v: tensor<2x6xf32>, %i: tensor<2x6xi32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %ve = tensor.empty() : tensor<2x3xf32>
  %ie = tensor.empty() : tensor<2x3xi32>
  %ninf = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : i32
  %vo = linalg.fill ins(%ninf : f32) outs(%ve : tensor<2x3xf32>) -> tensor<2x3xf32>
  %io = linalg.fill ins(%c0 : i32) outs(%ie : tensor<2x3xi32>) -> tensor<2x3xi32>
  %0:2 = iree_linalg_ext.topk dimension(1)
        ins(%v, %i : tensor<2x6xf32> , tensor<2x6xi32>)
        outs(%vo, %io : tensor<2x3xf32>, tensor<2x3xi32>) {
        ^bb0(%a : f32, %b : f32):
         %c = arith.cmpf ogt, %a, %b : f32
         iree_linalg_ext.yield %c : i1
        } -> tensor<2x3xf32>, tensor<2x3xi32>
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xi32>
}
