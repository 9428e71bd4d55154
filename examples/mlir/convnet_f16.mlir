// The network of convnet.mlir with images, weights and activations in f16 and sums in f32. Nothing here
// says where it runs.
func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}

#nhwc = affine_map<(n, h, w, c) -> (n, h, w, c)>
#channel = affine_map<(n, h, w, c) -> (c)>
#image_channel = affine_map<(n, c, h, w) -> (n, c)>
#by_channel = affine_map<(n, c, h, w) -> (n, h, w, c)>
#matrix = affine_map<(i, j) -> (i, j)>
#by_row = affine_map<(i, j) -> (i)>

func.func @main() {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant -3.40282347E+38 : f32
  %lowest_half = arith.constant -65504.0 : f16
  %images = call @images() : () -> tensor<2x12x12x1xf16>
  %k1 = call @kernel1() : () -> tensor<3x3x1x4xf16>
  %k2 = call @kernel2() : () -> tensor<3x3x4x6xf16>
  %bias = call @bias() : () -> tensor<4xf16>
  %dense = call @dense() : () -> tensor<6x3xf16>

  %e1 = tensor.empty() : tensor<2x10x10x4xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x10x10x4xf32>) -> tensor<2x10x10x4xf32>
  %c1 = linalg.conv_2d_nhwc_hwcf ins(%images, %k1 : tensor<2x12x12x1xf16>, tensor<3x3x1x4xf16>)
                                 outs(%z1 : tensor<2x10x10x4xf32>) -> tensor<2x10x10x4xf32>
  %eh = tensor.empty() : tensor<2x10x10x4xf16>
  %r1 = linalg.generic {indexing_maps = [#nhwc, #channel, #nhwc],
                        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%c1, %bias : tensor<2x10x10x4xf32>, tensor<4xf16>) outs(%eh : tensor<2x10x10x4xf16>) {
  ^bb0(%x: f32, %b: f16, %o: f16):
    %wide = arith.extf %b : f16 to f32
    %s = arith.addf %x, %wide : f32
    %r = arith.maximumf %s, %zero : f32
    %h = arith.truncf %r : f32 to f16
    linalg.yield %h : f16
  } -> tensor<2x10x10x4xf16>

  %window = tensor.empty() : tensor<2x2xf16>
  %ep = tensor.empty() : tensor<2x5x5x4xf16>
  %zp = linalg.fill ins(%lowest_half : f16) outs(%ep : tensor<2x5x5x4xf16>) -> tensor<2x5x5x4xf16>
  %p1 = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
        ins(%r1, %window : tensor<2x10x10x4xf16>, tensor<2x2xf16>)
        outs(%zp : tensor<2x5x5x4xf16>) -> tensor<2x5x5x4xf16>

  %e2 = tensor.empty() : tensor<2x3x3x6xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x3x3x6xf32>) -> tensor<2x3x3x6xf32>
  %c2 = linalg.conv_2d_nhwc_hwcf ins(%p1, %k2 : tensor<2x5x5x4xf16>, tensor<3x3x4x6xf16>)
                                 outs(%z2 : tensor<2x3x3x6xf32>) -> tensor<2x3x3x6xf32>

  // relu and the sum of each channel in one; then a ninth of that.
  %em = tensor.empty() : tensor<2x6xf32>
  %zm = linalg.fill ins(%zero : f32) outs(%em : tensor<2x6xf32>) -> tensor<2x6xf32>
  %sums = linalg.generic {indexing_maps = [#by_channel, #image_channel],
                          iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
          ins(%c2 : tensor<2x3x3x6xf32>) outs(%zm : tensor<2x6xf32>) {
  ^bb0(%x: f32, %o: f32):
    %r = arith.maximumf %x, %zero : f32
    %s = arith.addf %o, %r : f32
    linalg.yield %s : f32
  } -> tensor<2x6xf32>
  %emh = tensor.empty() : tensor<2x6xf16>
  %means = linalg.generic {indexing_maps = [#matrix, #matrix],
                           iterator_types = ["parallel", "parallel"]}
           ins(%sums : tensor<2x6xf32>) outs(%emh : tensor<2x6xf16>) {
  ^bb0(%x: f32, %o: f16):
    %nine = arith.constant 9.0 : f32
    %m = arith.divf %x, %nine : f32
    %h = arith.truncf %m : f32 to f16
    linalg.yield %h : f16
  } -> tensor<2x6xf16>

  %el = tensor.empty() : tensor<2x3xf32>
  %zl = linalg.fill ins(%zero : f32) outs(%el : tensor<2x3xf32>) -> tensor<2x3xf32>
  %logits = linalg.matmul ins(%means, %dense : tensor<2x6xf16>, tensor<6x3xf16>)
                          outs(%zl : tensor<2x3xf32>) -> tensor<2x3xf32>

  // softmax
  %er = tensor.empty() : tensor<2xf32>
  %zmost = linalg.fill ins(%lowest : f32) outs(%er : tensor<2xf32>) -> tensor<2xf32>
  %most = linalg.generic {indexing_maps = [#matrix, #by_row],
                          iterator_types = ["parallel", "reduction"]}
          ins(%logits : tensor<2x3xf32>) outs(%zmost : tensor<2xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.maximumf %x, %o : f32
    linalg.yield %m : f32
  } -> tensor<2xf32>
  %exponentials = linalg.generic {indexing_maps = [#matrix, #by_row, #matrix],
                                  iterator_types = ["parallel", "parallel"]}
          ins(%logits, %most : tensor<2x3xf32>, tensor<2xf32>) outs(%el : tensor<2x3xf32>) {
  ^bb0(%x: f32, %m: f32, %o: f32):
    %d = arith.subf %x, %m : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  } -> tensor<2x3xf32>
  %zsum = linalg.fill ins(%zero : f32) outs(%er : tensor<2xf32>) -> tensor<2xf32>
  %sum = linalg.generic {indexing_maps = [#matrix, #by_row],
                         iterator_types = ["parallel", "reduction"]}
          ins(%exponentials : tensor<2x3xf32>) outs(%zsum : tensor<2xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  %softmax = linalg.generic {indexing_maps = [#matrix, #by_row, #matrix],
                             iterator_types = ["parallel", "parallel"]}
          ins(%exponentials, %sum : tensor<2x3xf32>, tensor<2xf32>) outs(%el : tensor<2x3xf32>) {
  ^bb0(%x: f32, %s: f32, %o: f32):
    %q = arith.divf %x, %s : f32
    linalg.yield %q : f32
  } -> tensor<2x3xf32>

  %ew = tensor.empty() : tensor<2x5x5x4xf32>
  %wide = linalg.generic {indexing_maps = [#nhwc, #nhwc],
                          iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%p1 : tensor<2x5x5x4xf16>) outs(%ew : tensor<2x5x5x4xf32>) {
  ^bb0(%x: f16, %o: f32):
    %w = arith.extf %x : f16 to f32
    linalg.yield %w : f32
  } -> tensor<2x5x5x4xf32>
  %u1 = tensor.cast %wide : tensor<2x5x5x4xf32> to tensor<*xf32>
  call @printMemrefF32(%u1) : (tensor<*xf32>) -> ()
  %u2 = tensor.cast %softmax : tensor<2x3xf32> to tensor<*xf32>
  call @printMemrefF32(%u2) : (tensor<*xf32>) -> ()
  return
}

// Numbers between -1 and 1 that look random: ((position * step) mod 101 - 50) / 50.
func.func @images() -> tensor<2x12x12x1xf16> {
  %e = tensor.empty() : tensor<2x12x12x1xf16>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
       outs(%e : tensor<2x12x12x1xf16>) {
  ^bb0(%o: f16):
    %modulus = arith.constant 101 : index
    %half = arith.constant 50.0 : f32
    %step = arith.constant 37 : index
    %i0 = linalg.index 0 : index
    %n1 = arith.constant 12 : index
    %i1 = linalg.index 1 : index
    %s1 = arith.muli %i0, %n1 : index
    %f1 = arith.addi %s1, %i1 : index
    %n2 = arith.constant 12 : index
    %i2 = linalg.index 2 : index
    %s2 = arith.muli %f1, %n2 : index
    %f2 = arith.addi %s2, %i2 : index
    %n3 = arith.constant 1 : index
    %i3 = linalg.index 3 : index
    %s3 = arith.muli %f2, %n3 : index
    %f3 = arith.addi %s3, %i3 : index
    %p = arith.muli %f3, %step : index
    %m = arith.remui %p, %modulus : index
    %n = arith.index_cast %m : index to i32
    %x = arith.sitofp %n : i32 to f32
    %d = arith.subf %x, %half : f32
    %q = arith.divf %d, %half : f32
    %h = arith.truncf %q : f32 to f16
    linalg.yield %h : f16
  } -> tensor<2x12x12x1xf16>
  return %t : tensor<2x12x12x1xf16>
}

func.func @kernel1() -> tensor<3x3x1x4xf16> {
  %e = tensor.empty() : tensor<3x3x1x4xf16>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
       outs(%e : tensor<3x3x1x4xf16>) {
  ^bb0(%o: f16):
    %modulus = arith.constant 101 : index
    %half = arith.constant 50.0 : f32
    %step = arith.constant 29 : index
    %i0 = linalg.index 0 : index
    %n1 = arith.constant 3 : index
    %i1 = linalg.index 1 : index
    %s1 = arith.muli %i0, %n1 : index
    %f1 = arith.addi %s1, %i1 : index
    %n2 = arith.constant 1 : index
    %i2 = linalg.index 2 : index
    %s2 = arith.muli %f1, %n2 : index
    %f2 = arith.addi %s2, %i2 : index
    %n3 = arith.constant 4 : index
    %i3 = linalg.index 3 : index
    %s3 = arith.muli %f2, %n3 : index
    %f3 = arith.addi %s3, %i3 : index
    %p = arith.muli %f3, %step : index
    %m = arith.remui %p, %modulus : index
    %n = arith.index_cast %m : index to i32
    %x = arith.sitofp %n : i32 to f32
    %d = arith.subf %x, %half : f32
    %q = arith.divf %d, %half : f32
    %h = arith.truncf %q : f32 to f16
    linalg.yield %h : f16
  } -> tensor<3x3x1x4xf16>
  return %t : tensor<3x3x1x4xf16>
}

func.func @kernel2() -> tensor<3x3x4x6xf16> {
  %e = tensor.empty() : tensor<3x3x4x6xf16>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
       outs(%e : tensor<3x3x4x6xf16>) {
  ^bb0(%o: f16):
    %modulus = arith.constant 101 : index
    %half = arith.constant 50.0 : f32
    %step = arith.constant 43 : index
    %i0 = linalg.index 0 : index
    %n1 = arith.constant 3 : index
    %i1 = linalg.index 1 : index
    %s1 = arith.muli %i0, %n1 : index
    %f1 = arith.addi %s1, %i1 : index
    %n2 = arith.constant 4 : index
    %i2 = linalg.index 2 : index
    %s2 = arith.muli %f1, %n2 : index
    %f2 = arith.addi %s2, %i2 : index
    %n3 = arith.constant 6 : index
    %i3 = linalg.index 3 : index
    %s3 = arith.muli %f2, %n3 : index
    %f3 = arith.addi %s3, %i3 : index
    %p = arith.muli %f3, %step : index
    %m = arith.remui %p, %modulus : index
    %n = arith.index_cast %m : index to i32
    %x = arith.sitofp %n : i32 to f32
    %d = arith.subf %x, %half : f32
    %q = arith.divf %d, %half : f32
    %h = arith.truncf %q : f32 to f16
    linalg.yield %h : f16
  } -> tensor<3x3x4x6xf16>
  return %t : tensor<3x3x4x6xf16>
}

func.func @bias() -> tensor<4xf16> {
  %e = tensor.empty() : tensor<4xf16>
  %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
       outs(%e : tensor<4xf16>) {
  ^bb0(%o: f16):
    %modulus = arith.constant 101 : index
    %half = arith.constant 50.0 : f32
    %step = arith.constant 17 : index
    %i0 = linalg.index 0 : index
    %p = arith.muli %i0, %step : index
    %m = arith.remui %p, %modulus : index
    %n = arith.index_cast %m : index to i32
    %x = arith.sitofp %n : i32 to f32
    %d = arith.subf %x, %half : f32
    %q = arith.divf %d, %half : f32
    %h = arith.truncf %q : f32 to f16
    linalg.yield %h : f16
  } -> tensor<4xf16>
  return %t : tensor<4xf16>
}

func.func @dense() -> tensor<6x3xf16> {
  %e = tensor.empty() : tensor<6x3xf16>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
       outs(%e : tensor<6x3xf16>) {
  ^bb0(%o: f16):
    %modulus = arith.constant 101 : index
    %half = arith.constant 50.0 : f32
    %step = arith.constant 71 : index
    %i0 = linalg.index 0 : index
    %n1 = arith.constant 3 : index
    %i1 = linalg.index 1 : index
    %s1 = arith.muli %i0, %n1 : index
    %f1 = arith.addi %s1, %i1 : index
    %p = arith.muli %f1, %step : index
    %m = arith.remui %p, %modulus : index
    %n = arith.index_cast %m : index to i32
    %x = arith.sitofp %n : i32 to f32
    %d = arith.subf %x, %half : f32
    %q = arith.divf %d, %half : f32
    %h = arith.truncf %q : f32 to f16
    linalg.yield %h : f16
  } -> tensor<6x3xf16>
  return %t : tensor<6x3xf16>
}
