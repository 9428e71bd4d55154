// A perceptron of two layers, f32, in linalg on tensors: relu(x w1 + b1) w2 + b2 for a batch of 8.
// Nothing here says where it runs.
func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}

#matrix = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>

func.func @main() {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -1.0 : f64
  %high = arith.constant 1.0 : f64
  %seed0 = arith.constant 1 : i32
  %seed1 = arith.constant 2 : i32
  %seed2 = arith.constant 3 : i32
  %ex = tensor.empty() : tensor<8x20xf32>
  %ew1 = tensor.empty() : tensor<20x32xf32>
  %ew2 = tensor.empty() : tensor<32x6xf32>
  %x = linalg.fill_rng_2d ins(%low, %high, %seed0 : f64, f64, i32)
                          outs(%ex : tensor<8x20xf32>) -> tensor<8x20xf32>
  %w1 = linalg.fill_rng_2d ins(%low, %high, %seed1 : f64, f64, i32)
                           outs(%ew1 : tensor<20x32xf32>) -> tensor<20x32xf32>
  %w2 = linalg.fill_rng_2d ins(%low, %high, %seed2 : f64, f64, i32)
                           outs(%ew2 : tensor<32x6xf32>) -> tensor<32x6xf32>
  %b1 = call @bias32() : () -> tensor<32xf32>
  %b2 = call @bias6() : () -> tensor<6xf32>

  %e1 = tensor.empty() : tensor<8x32xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %m1 = linalg.matmul ins(%x, %w1 : tensor<8x20xf32>, tensor<20x32xf32>)
                      outs(%z1 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %h = linalg.generic {indexing_maps = [#matrix, #row, #matrix],
                       iterator_types = ["parallel", "parallel"]}
       ins(%m1, %b1 : tensor<8x32xf32>, tensor<32xf32>) outs(%e1 : tensor<8x32xf32>) {
  ^bb0(%m: f32, %b: f32, %o: f32):
    %s = arith.addf %m, %b : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<8x32xf32>

  %e2 = tensor.empty() : tensor<8x6xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8x6xf32>) -> tensor<8x6xf32>
  %m2 = linalg.matmul ins(%h, %w2 : tensor<8x32xf32>, tensor<32x6xf32>)
                      outs(%z2 : tensor<8x6xf32>) -> tensor<8x6xf32>
  %y = linalg.generic {indexing_maps = [#matrix, #row, #matrix],
                       iterator_types = ["parallel", "parallel"]}
       ins(%m2, %b2 : tensor<8x6xf32>, tensor<6xf32>) outs(%e2 : tensor<8x6xf32>) {
  ^bb0(%m: f32, %b: f32, %o: f32):
    %s = arith.addf %m, %b : f32
    linalg.yield %s : f32
  } -> tensor<8x6xf32>
  %u = tensor.cast %y : tensor<8x6xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}

// i / 10
func.func @bias32() -> tensor<32xf32> {
  %e = tensor.empty() : tensor<32xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
       outs(%e : tensor<32xf32>) {
  ^bb0(%o: f32):
    %ten = arith.constant 10.0 : f32
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %v = arith.divf %f, %ten : f32
    linalg.yield %v : f32
  } -> tensor<32xf32>
  return %b : tensor<32xf32>
}

func.func @bias6() -> tensor<6xf32> {
  %e = tensor.empty() : tensor<6xf32>
  %third = arith.constant 0.3 : f32
  %b = linalg.fill ins(%third : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  return %b : tensor<6xf32>
}
