// What an IREE user compiles; add.hsaco is the code object in it, made by iree-base-compiler 3.13.0:
//   iree-compile --iree-hal-target-device=hip --iree-rocm-target=gfx90a add.mlir -o add.vmfb \
//     --iree-hal-dump-executable-binaries-to=.
func.func @add(%x: tensor<1024xf32>, %y: tensor<1024xf32>) -> tensor<1024xf32> {
  %sum = arith.addf %x, %y : tensor<1024xf32>
  return %sum : tensor<1024xf32>
}
