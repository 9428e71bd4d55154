// Prints from a kernel.
func.func @main() {
  %c1 = arith.constant 1 : index
  %items = arith.constant 3 : index
  // EXPECT: item 0 of 3: 0.000
  // EXPECT: item 1 of 3: 0.500
  // EXPECT: item 2 of 3: 1.000
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %items, %sy = %c1, %sz = %c1) {
    %half = arith.constant 0.5 : f32
    %integer = arith.index_cast %tx : index to i32
    %i = arith.sitofp %integer : i32 to f32
    %x = arith.mulf %i, %half : f32
    gpu.printf "item %lld of %lld: %.3f\n", %tx, %items, %x : index, index, f32
    gpu.terminator
  }
  return
}
