// A small convolutional network, f32, in linalg on tensors: two images of 12 × 12; a 3 × 3 convolution
// to 4 channels, bias and relu, 2 × 2 max pooling, another convolution to 6 channels, relu, the mean of
// each channel, and a dense layer with a softmax. Nothing here says where it runs.
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
  %images = call @images() : () -> tensor<2x12x12x1xf32>
  %k1 = call @kernel1() : () -> tensor<3x3x1x4xf32>
  %k2 = call @kernel2() : () -> tensor<3x3x4x6xf32>
  %bias = call @bias() : () -> tensor<4xf32>
  %dense = call @dense() : () -> tensor<6x3xf32>

  %e1 = tensor.empty() : tensor<2x10x10x4xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x10x10x4xf32>) -> tensor<2x10x10x4xf32>
  %c1 = linalg.conv_2d_nhwc_hwcf ins(%images, %k1 : tensor<2x12x12x1xf32>, tensor<3x3x1x4xf32>)
                                 outs(%z1 : tensor<2x10x10x4xf32>) -> tensor<2x10x10x4xf32>
  %r1 = linalg.generic {indexing_maps = [#nhwc, #channel, #nhwc],
                        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%c1, %bias : tensor<2x10x10x4xf32>, tensor<4xf32>) outs(%e1 : tensor<2x10x10x4xf32>) {
  ^bb0(%x: f32, %b: f32, %o: f32):
    %s = arith.addf %x, %b : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<2x10x10x4xf32>

  %window = tensor.empty() : tensor<2x2xf32>
  %ep = tensor.empty() : tensor<2x5x5x4xf32>
  %zp = linalg.fill ins(%lowest : f32) outs(%ep : tensor<2x5x5x4xf32>) -> tensor<2x5x5x4xf32>
  %p1 = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
        ins(%r1, %window : tensor<2x10x10x4xf32>, tensor<2x2xf32>)
        outs(%zp : tensor<2x5x5x4xf32>) -> tensor<2x5x5x4xf32>

  %e2 = tensor.empty() : tensor<2x3x3x6xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x3x3x6xf32>) -> tensor<2x3x3x6xf32>
  %c2 = linalg.conv_2d_nhwc_hwcf ins(%p1, %k2 : tensor<2x5x5x4xf32>, tensor<3x3x4x6xf32>)
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
  %means = linalg.generic {indexing_maps = [#matrix, #matrix],
                           iterator_types = ["parallel", "parallel"]}
           ins(%sums : tensor<2x6xf32>) outs(%em : tensor<2x6xf32>) {
  ^bb0(%x: f32, %o: f32):
    %nine = arith.constant 9.0 : f32
    %m = arith.divf %x, %nine : f32
    linalg.yield %m : f32
  } -> tensor<2x6xf32>

  %el = tensor.empty() : tensor<2x3xf32>
  %zl = linalg.fill ins(%zero : f32) outs(%el : tensor<2x3xf32>) -> tensor<2x3xf32>
  %logits = linalg.matmul ins(%means, %dense : tensor<2x6xf32>, tensor<6x3xf32>)
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

  %u1 = tensor.cast %p1 : tensor<2x5x5x4xf32> to tensor<*xf32>
  call @printMemrefF32(%u1) : (tensor<*xf32>) -> ()
  %u2 = tensor.cast %softmax : tensor<2x3xf32> to tensor<*xf32>
  call @printMemrefF32(%u2) : (tensor<*xf32>) -> ()
  return
}

// Numbers between -1 and 1 that look random: ((position * step) mod 101 - 50) / 50.
func.func @images() -> tensor<2x12x12x1xf32> {
  %e = tensor.empty() : tensor<2x12x12x1xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
       outs(%e : tensor<2x12x12x1xf32>) {
  ^bb0(%o: f32):
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
    linalg.yield %q : f32
  } -> tensor<2x12x12x1xf32>
  return %t : tensor<2x12x12x1xf32>
}

func.func @kernel1() -> tensor<3x3x1x4xf32> {
  %e = tensor.empty() : tensor<3x3x1x4xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
       outs(%e : tensor<3x3x1x4xf32>) {
  ^bb0(%o: f32):
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
    linalg.yield %q : f32
  } -> tensor<3x3x1x4xf32>
  return %t : tensor<3x3x1x4xf32>
}

func.func @kernel2() -> tensor<3x3x4x6xf32> {
  %e = tensor.empty() : tensor<3x3x4x6xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
       outs(%e : tensor<3x3x4x6xf32>) {
  ^bb0(%o: f32):
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
    linalg.yield %q : f32
  } -> tensor<3x3x4x6xf32>
  return %t : tensor<3x3x4x6xf32>
}

func.func @bias() -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
       outs(%e : tensor<4xf32>) {
  ^bb0(%o: f32):
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
    linalg.yield %q : f32
  } -> tensor<4xf32>
  return %t : tensor<4xf32>
}

func.func @dense() -> tensor<6x3xf32> {
  %e = tensor.empty() : tensor<6x3xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
       outs(%e : tensor<6x3xf32>) {
  ^bb0(%o: f32):
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
    linalg.yield %q : f32
  } -> tensor<6x3xf32>
  return %t : tensor<6x3xf32>
}
