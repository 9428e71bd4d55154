// The perceptron of mlp.mlir with weights, inputs and activations in f16 and sums in f32.
func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}

#matrix = affine_map<(i, j) -> (i, j)>

func.func @main() {
  %zero = arith.constant 0.0 : f32
  %step_x = arith.constant 37 : index
  %step_1 = arith.constant 29 : index
  %step_2 = arith.constant 43 : index
  %ex = tensor.empty() : tensor<8x20xf16>
  %ew1 = tensor.empty() : tensor<20x32xf16>
  %ew2 = tensor.empty() : tensor<32x6xf16>
  // ((position * step) mod 101 - 50) / 64, which f16 holds exactly.
  %x = linalg.generic {indexing_maps = [#matrix], iterator_types = ["parallel", "parallel"]}
       outs(%ex : tensor<8x20xf16>) {
  ^bb0(%o: f16):
    %modulus = arith.constant 101 : index
    %columns = arith.constant 20 : index
    %half = arith.constant 50.0 : f32
    %scale = arith.constant 0.015625 : f32
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %row = arith.muli %i, %columns : index
    %position = arith.addi %row, %j : index
    %p = arith.muli %position, %step_x : index
    %m = arith.remui %p, %modulus : index
    %n = arith.index_cast %m : index to i32
    %f = arith.sitofp %n : i32 to f32
    %d = arith.subf %f, %half : f32
    %q = arith.mulf %d, %scale : f32
    %h = arith.truncf %q : f32 to f16
    linalg.yield %h : f16
  } -> tensor<8x20xf16>
  // ((position * step) mod 101 - 50) / 64, which f16 holds exactly.
  %w1 = linalg.generic {indexing_maps = [#matrix], iterator_types = ["parallel", "parallel"]}
       outs(%ew1 : tensor<20x32xf16>) {
  ^bb0(%o: f16):
    %modulus = arith.constant 101 : index
    %columns = arith.constant 32 : index
    %half = arith.constant 50.0 : f32
    %scale = arith.constant 0.015625 : f32
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %row = arith.muli %i, %columns : index
    %position = arith.addi %row, %j : index
    %p = arith.muli %position, %step_1 : index
    %m = arith.remui %p, %modulus : index
    %n = arith.index_cast %m : index to i32
    %f = arith.sitofp %n : i32 to f32
    %d = arith.subf %f, %half : f32
    %q = arith.mulf %d, %scale : f32
    %h = arith.truncf %q : f32 to f16
    linalg.yield %h : f16
  } -> tensor<20x32xf16>
  // ((position * step) mod 101 - 50) / 64, which f16 holds exactly.
  %w2 = linalg.generic {indexing_maps = [#matrix], iterator_types = ["parallel", "parallel"]}
       outs(%ew2 : tensor<32x6xf16>) {
  ^bb0(%o: f16):
    %modulus = arith.constant 101 : index
    %columns = arith.constant 6 : index
    %half = arith.constant 50.0 : f32
    %scale = arith.constant 0.015625 : f32
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %row = arith.muli %i, %columns : index
    %position = arith.addi %row, %j : index
    %p = arith.muli %position, %step_2 : index
    %m = arith.remui %p, %modulus : index
    %n = arith.index_cast %m : index to i32
    %f = arith.sitofp %n : i32 to f32
    %d = arith.subf %f, %half : f32
    %q = arith.mulf %d, %scale : f32
    %h = arith.truncf %q : f32 to f16
    linalg.yield %h : f16
  } -> tensor<32x6xf16>

  %e1 = tensor.empty() : tensor<8x32xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %m1 = linalg.matmul ins(%x, %w1 : tensor<8x20xf16>, tensor<20x32xf16>)
                      outs(%z1 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %eh = tensor.empty() : tensor<8x32xf16>
  %h = linalg.generic {indexing_maps = [#matrix, #matrix],
                       iterator_types = ["parallel", "parallel"]}
       ins(%m1 : tensor<8x32xf32>) outs(%eh : tensor<8x32xf16>) {
  ^bb0(%s: f32, %o: f16):
    %r = arith.maximumf %s, %zero : f32
    %n = arith.truncf %r : f32 to f16
    linalg.yield %n : f16
  } -> tensor<8x32xf16>

  %e2 = tensor.empty() : tensor<8x6xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8x6xf32>) -> tensor<8x6xf32>
  %y = linalg.matmul ins(%h, %w2 : tensor<8x32xf16>, tensor<32x6xf16>)
                     outs(%z2 : tensor<8x6xf32>) -> tensor<8x6xf32>
  %u = tensor.cast %y : tensor<8x6xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}
