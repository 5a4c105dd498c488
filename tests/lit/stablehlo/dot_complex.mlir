// Products of complex numbers are products of real ones, whose operands are parts in turn: by the
// right side and i times it, as rows or as columns lie together; or, of few rows, of both parts of
// the left side. Few terms are a loop, two vectors a sum.
// RUN: terrazzo run %s --dump program 2>&1 | FileCheck %s
// RUN: terrazzo run %s --executor plain

func.func @main() {
  // CHECK: stablehlo.dot_general: dot b0 m1 n2 k2 {{.*}} parts
  %x0rei = stablehlo.iota dim = 0 : tensor<108xi32>
  %x0rea = stablehlo.constant dense<7> : tensor<108xi32>
  %x0reb = stablehlo.constant dense<11> : tensor<108xi32>
  %x0reh = stablehlo.constant dense<5> : tensor<108xi32>
  %x0rem = stablehlo.multiply %x0rei, %x0rea : tensor<108xi32>
  %x0rer = stablehlo.remainder %x0rem, %x0reb : tensor<108xi32>
  %x0res = stablehlo.subtract %x0rer, %x0reh : tensor<108xi32>
  %x0ref = stablehlo.convert %x0res : (tensor<108xi32>) -> tensor<108xf32>
  %x0re = stablehlo.reshape %x0ref : (tensor<108xf32>) -> tensor<12x9xf32>
  %x0imi = stablehlo.iota dim = 0 : tensor<108xi32>
  %x0ima = stablehlo.constant dense<5> : tensor<108xi32>
  %x0imb = stablehlo.constant dense<9> : tensor<108xi32>
  %x0imh = stablehlo.constant dense<4> : tensor<108xi32>
  %x0imm = stablehlo.multiply %x0imi, %x0ima : tensor<108xi32>
  %x0imr = stablehlo.remainder %x0imm, %x0imb : tensor<108xi32>
  %x0ims = stablehlo.subtract %x0imr, %x0imh : tensor<108xi32>
  %x0imf = stablehlo.convert %x0ims : (tensor<108xi32>) -> tensor<108xf32>
  %x0im = stablehlo.reshape %x0imf : (tensor<108xf32>) -> tensor<12x9xf32>
  %x0 = stablehlo.complex %x0re, %x0im : tensor<12x9xcomplex<f32>>
  %y0rei = stablehlo.iota dim = 0 : tensor<90xi32>
  %y0rea = stablehlo.constant dense<8> : tensor<90xi32>
  %y0reb = stablehlo.constant dense<11> : tensor<90xi32>
  %y0reh = stablehlo.constant dense<5> : tensor<90xi32>
  %y0rem = stablehlo.multiply %y0rei, %y0rea : tensor<90xi32>
  %y0rer = stablehlo.remainder %y0rem, %y0reb : tensor<90xi32>
  %y0res = stablehlo.subtract %y0rer, %y0reh : tensor<90xi32>
  %y0ref = stablehlo.convert %y0res : (tensor<90xi32>) -> tensor<90xf32>
  %y0re = stablehlo.reshape %y0ref : (tensor<90xf32>) -> tensor<9x10xf32>
  %y0imi = stablehlo.iota dim = 0 : tensor<90xi32>
  %y0ima = stablehlo.constant dense<6> : tensor<90xi32>
  %y0imb = stablehlo.constant dense<9> : tensor<90xi32>
  %y0imh = stablehlo.constant dense<4> : tensor<90xi32>
  %y0imm = stablehlo.multiply %y0imi, %y0ima : tensor<90xi32>
  %y0imr = stablehlo.remainder %y0imm, %y0imb : tensor<90xi32>
  %y0ims = stablehlo.subtract %y0imr, %y0imh : tensor<90xi32>
  %y0imf = stablehlo.convert %y0ims : (tensor<90xi32>) -> tensor<90xf32>
  %y0im = stablehlo.reshape %y0imf : (tensor<90xf32>) -> tensor<9x10xf32>
  %y0 = stablehlo.complex %y0re, %y0im : tensor<9x10xcomplex<f32>>
  %z0 = stablehlo.dot_general %x0, %y0, contracting_dims = [1] x [0] : (tensor<12x9xcomplex<f32>>, tensor<9x10xcomplex<f32>>) -> tensor<12x10xcomplex<f32>>
  %p0rere = stablehlo.dot_general %x0re, %y0re, contracting_dims = [1] x [0] : (tensor<12x9xf32>, tensor<9x10xf32>) -> tensor<12x10xf32>
  %p0imim = stablehlo.dot_general %x0im, %y0im, contracting_dims = [1] x [0] : (tensor<12x9xf32>, tensor<9x10xf32>) -> tensor<12x10xf32>
  %p0reim = stablehlo.dot_general %x0re, %y0im, contracting_dims = [1] x [0] : (tensor<12x9xf32>, tensor<9x10xf32>) -> tensor<12x10xf32>
  %p0imre = stablehlo.dot_general %x0im, %y0re, contracting_dims = [1] x [0] : (tensor<12x9xf32>, tensor<9x10xf32>) -> tensor<12x10xf32>
  %wre0 = stablehlo.subtract %p0rere, %p0imim : tensor<12x10xf32>
  %wim0 = stablehlo.add %p0reim, %p0imre : tensor<12x10xf32>
  %w0 = stablehlo.complex %wre0, %wim0 : tensor<12x10xcomplex<f32>>
  check.expect_eq %z0, %w0 : tensor<12x10xcomplex<f32>>
  // CHECK: stablehlo.dot_general: dot b0 m1 n2 k2 {{.*}} parts
  %x1rei = stablehlo.iota dim = 0 : tensor<108xi32>
  %x1rea = stablehlo.constant dense<8> : tensor<108xi32>
  %x1reb = stablehlo.constant dense<11> : tensor<108xi32>
  %x1reh = stablehlo.constant dense<5> : tensor<108xi32>
  %x1rem = stablehlo.multiply %x1rei, %x1rea : tensor<108xi32>
  %x1rer = stablehlo.remainder %x1rem, %x1reb : tensor<108xi32>
  %x1res = stablehlo.subtract %x1rer, %x1reh : tensor<108xi32>
  %x1ref = stablehlo.convert %x1res : (tensor<108xi32>) -> tensor<108xf32>
  %x1re = stablehlo.reshape %x1ref : (tensor<108xf32>) -> tensor<12x9xf32>
  %x1imi = stablehlo.iota dim = 0 : tensor<108xi32>
  %x1ima = stablehlo.constant dense<6> : tensor<108xi32>
  %x1imb = stablehlo.constant dense<9> : tensor<108xi32>
  %x1imh = stablehlo.constant dense<4> : tensor<108xi32>
  %x1imm = stablehlo.multiply %x1imi, %x1ima : tensor<108xi32>
  %x1imr = stablehlo.remainder %x1imm, %x1imb : tensor<108xi32>
  %x1ims = stablehlo.subtract %x1imr, %x1imh : tensor<108xi32>
  %x1imf = stablehlo.convert %x1ims : (tensor<108xi32>) -> tensor<108xf32>
  %x1im = stablehlo.reshape %x1imf : (tensor<108xf32>) -> tensor<12x9xf32>
  %x1 = stablehlo.complex %x1re, %x1im : tensor<12x9xcomplex<f32>>
  %y1rei = stablehlo.iota dim = 0 : tensor<90xi32>
  %y1rea = stablehlo.constant dense<9> : tensor<90xi32>
  %y1reb = stablehlo.constant dense<11> : tensor<90xi32>
  %y1reh = stablehlo.constant dense<5> : tensor<90xi32>
  %y1rem = stablehlo.multiply %y1rei, %y1rea : tensor<90xi32>
  %y1rer = stablehlo.remainder %y1rem, %y1reb : tensor<90xi32>
  %y1res = stablehlo.subtract %y1rer, %y1reh : tensor<90xi32>
  %y1ref = stablehlo.convert %y1res : (tensor<90xi32>) -> tensor<90xf32>
  %y1re = stablehlo.reshape %y1ref : (tensor<90xf32>) -> tensor<10x9xf32>
  %y1imi = stablehlo.iota dim = 0 : tensor<90xi32>
  %y1ima = stablehlo.constant dense<7> : tensor<90xi32>
  %y1imb = stablehlo.constant dense<9> : tensor<90xi32>
  %y1imh = stablehlo.constant dense<4> : tensor<90xi32>
  %y1imm = stablehlo.multiply %y1imi, %y1ima : tensor<90xi32>
  %y1imr = stablehlo.remainder %y1imm, %y1imb : tensor<90xi32>
  %y1ims = stablehlo.subtract %y1imr, %y1imh : tensor<90xi32>
  %y1imf = stablehlo.convert %y1ims : (tensor<90xi32>) -> tensor<90xf32>
  %y1im = stablehlo.reshape %y1imf : (tensor<90xf32>) -> tensor<10x9xf32>
  %y1 = stablehlo.complex %y1re, %y1im : tensor<10x9xcomplex<f32>>
  %z1 = stablehlo.dot_general %x1, %y1, contracting_dims = [1] x [1] : (tensor<12x9xcomplex<f32>>, tensor<10x9xcomplex<f32>>) -> tensor<12x10xcomplex<f32>>
  %p1rere = stablehlo.dot_general %x1re, %y1re, contracting_dims = [1] x [1] : (tensor<12x9xf32>, tensor<10x9xf32>) -> tensor<12x10xf32>
  %p1imim = stablehlo.dot_general %x1im, %y1im, contracting_dims = [1] x [1] : (tensor<12x9xf32>, tensor<10x9xf32>) -> tensor<12x10xf32>
  %p1reim = stablehlo.dot_general %x1re, %y1im, contracting_dims = [1] x [1] : (tensor<12x9xf32>, tensor<10x9xf32>) -> tensor<12x10xf32>
  %p1imre = stablehlo.dot_general %x1im, %y1re, contracting_dims = [1] x [1] : (tensor<12x9xf32>, tensor<10x9xf32>) -> tensor<12x10xf32>
  %wre1 = stablehlo.subtract %p1rere, %p1imim : tensor<12x10xf32>
  %wim1 = stablehlo.add %p1reim, %p1imre : tensor<12x10xf32>
  %w1 = stablehlo.complex %wre1, %wim1 : tensor<12x10xcomplex<f32>>
  check.expect_eq %z1, %w1 : tensor<12x10xcomplex<f32>>
  // CHECK: stablehlo.dot_general: dot b0 m2 n2 k1 {{.*}} parts
  %x2rei = stablehlo.iota dim = 0 : tensor<18xi32>
  %x2rea = stablehlo.constant dense<9> : tensor<18xi32>
  %x2reb = stablehlo.constant dense<11> : tensor<18xi32>
  %x2reh = stablehlo.constant dense<5> : tensor<18xi32>
  %x2rem = stablehlo.multiply %x2rei, %x2rea : tensor<18xi32>
  %x2rer = stablehlo.remainder %x2rem, %x2reb : tensor<18xi32>
  %x2res = stablehlo.subtract %x2rer, %x2reh : tensor<18xi32>
  %x2ref = stablehlo.convert %x2res : (tensor<18xi32>) -> tensor<18xf64>
  %x2re = stablehlo.reshape %x2ref : (tensor<18xf64>) -> tensor<2x9xf64>
  %x2imi = stablehlo.iota dim = 0 : tensor<18xi32>
  %x2ima = stablehlo.constant dense<7> : tensor<18xi32>
  %x2imb = stablehlo.constant dense<9> : tensor<18xi32>
  %x2imh = stablehlo.constant dense<4> : tensor<18xi32>
  %x2imm = stablehlo.multiply %x2imi, %x2ima : tensor<18xi32>
  %x2imr = stablehlo.remainder %x2imm, %x2imb : tensor<18xi32>
  %x2ims = stablehlo.subtract %x2imr, %x2imh : tensor<18xi32>
  %x2imf = stablehlo.convert %x2ims : (tensor<18xi32>) -> tensor<18xf64>
  %x2im = stablehlo.reshape %x2imf : (tensor<18xf64>) -> tensor<2x9xf64>
  %x2 = stablehlo.complex %x2re, %x2im : tensor<2x9xcomplex<f64>>
  %y2rei = stablehlo.iota dim = 0 : tensor<90xi32>
  %y2rea = stablehlo.constant dense<10> : tensor<90xi32>
  %y2reb = stablehlo.constant dense<11> : tensor<90xi32>
  %y2reh = stablehlo.constant dense<5> : tensor<90xi32>
  %y2rem = stablehlo.multiply %y2rei, %y2rea : tensor<90xi32>
  %y2rer = stablehlo.remainder %y2rem, %y2reb : tensor<90xi32>
  %y2res = stablehlo.subtract %y2rer, %y2reh : tensor<90xi32>
  %y2ref = stablehlo.convert %y2res : (tensor<90xi32>) -> tensor<90xf64>
  %y2re = stablehlo.reshape %y2ref : (tensor<90xf64>) -> tensor<9x10xf64>
  %y2imi = stablehlo.iota dim = 0 : tensor<90xi32>
  %y2ima = stablehlo.constant dense<8> : tensor<90xi32>
  %y2imb = stablehlo.constant dense<9> : tensor<90xi32>
  %y2imh = stablehlo.constant dense<4> : tensor<90xi32>
  %y2imm = stablehlo.multiply %y2imi, %y2ima : tensor<90xi32>
  %y2imr = stablehlo.remainder %y2imm, %y2imb : tensor<90xi32>
  %y2ims = stablehlo.subtract %y2imr, %y2imh : tensor<90xi32>
  %y2imf = stablehlo.convert %y2ims : (tensor<90xi32>) -> tensor<90xf64>
  %y2im = stablehlo.reshape %y2imf : (tensor<90xf64>) -> tensor<9x10xf64>
  %y2 = stablehlo.complex %y2re, %y2im : tensor<9x10xcomplex<f64>>
  %z2 = stablehlo.dot_general %x2, %y2, contracting_dims = [1] x [0] : (tensor<2x9xcomplex<f64>>, tensor<9x10xcomplex<f64>>) -> tensor<2x10xcomplex<f64>>
  %p2rere = stablehlo.dot_general %x2re, %y2re, contracting_dims = [1] x [0] : (tensor<2x9xf64>, tensor<9x10xf64>) -> tensor<2x10xf64>
  %p2imim = stablehlo.dot_general %x2im, %y2im, contracting_dims = [1] x [0] : (tensor<2x9xf64>, tensor<9x10xf64>) -> tensor<2x10xf64>
  %p2reim = stablehlo.dot_general %x2re, %y2im, contracting_dims = [1] x [0] : (tensor<2x9xf64>, tensor<9x10xf64>) -> tensor<2x10xf64>
  %p2imre = stablehlo.dot_general %x2im, %y2re, contracting_dims = [1] x [0] : (tensor<2x9xf64>, tensor<9x10xf64>) -> tensor<2x10xf64>
  %wre2 = stablehlo.subtract %p2rere, %p2imim : tensor<2x10xf64>
  %wim2 = stablehlo.add %p2reim, %p2imre : tensor<2x10xf64>
  %w2 = stablehlo.complex %wre2, %wim2 : tensor<2x10xcomplex<f64>>
  check.expect_eq %z2, %w2 : tensor<2x10xcomplex<f64>>
  // CHECK: stablehlo.dot_general: dot b1 m2 n2 k1 {{.*}} parts
  %x3rei = stablehlo.iota dim = 0 : tensor<54xi32>
  %x3rea = stablehlo.constant dense<10> : tensor<54xi32>
  %x3reb = stablehlo.constant dense<11> : tensor<54xi32>
  %x3reh = stablehlo.constant dense<5> : tensor<54xi32>
  %x3rem = stablehlo.multiply %x3rei, %x3rea : tensor<54xi32>
  %x3rer = stablehlo.remainder %x3rem, %x3reb : tensor<54xi32>
  %x3res = stablehlo.subtract %x3rer, %x3reh : tensor<54xi32>
  %x3ref = stablehlo.convert %x3res : (tensor<54xi32>) -> tensor<54xf32>
  %x3re = stablehlo.reshape %x3ref : (tensor<54xf32>) -> tensor<3x2x9xf32>
  %x3imi = stablehlo.iota dim = 0 : tensor<54xi32>
  %x3ima = stablehlo.constant dense<8> : tensor<54xi32>
  %x3imb = stablehlo.constant dense<9> : tensor<54xi32>
  %x3imh = stablehlo.constant dense<4> : tensor<54xi32>
  %x3imm = stablehlo.multiply %x3imi, %x3ima : tensor<54xi32>
  %x3imr = stablehlo.remainder %x3imm, %x3imb : tensor<54xi32>
  %x3ims = stablehlo.subtract %x3imr, %x3imh : tensor<54xi32>
  %x3imf = stablehlo.convert %x3ims : (tensor<54xi32>) -> tensor<54xf32>
  %x3im = stablehlo.reshape %x3imf : (tensor<54xf32>) -> tensor<3x2x9xf32>
  %x3 = stablehlo.complex %x3re, %x3im : tensor<3x2x9xcomplex<f32>>
  %y3rei = stablehlo.iota dim = 0 : tensor<270xi32>
  %y3rea = stablehlo.constant dense<11> : tensor<270xi32>
  %y3reb = stablehlo.constant dense<11> : tensor<270xi32>
  %y3reh = stablehlo.constant dense<5> : tensor<270xi32>
  %y3rem = stablehlo.multiply %y3rei, %y3rea : tensor<270xi32>
  %y3rer = stablehlo.remainder %y3rem, %y3reb : tensor<270xi32>
  %y3res = stablehlo.subtract %y3rer, %y3reh : tensor<270xi32>
  %y3ref = stablehlo.convert %y3res : (tensor<270xi32>) -> tensor<270xf32>
  %y3re = stablehlo.reshape %y3ref : (tensor<270xf32>) -> tensor<3x9x10xf32>
  %y3imi = stablehlo.iota dim = 0 : tensor<270xi32>
  %y3ima = stablehlo.constant dense<9> : tensor<270xi32>
  %y3imb = stablehlo.constant dense<9> : tensor<270xi32>
  %y3imh = stablehlo.constant dense<4> : tensor<270xi32>
  %y3imm = stablehlo.multiply %y3imi, %y3ima : tensor<270xi32>
  %y3imr = stablehlo.remainder %y3imm, %y3imb : tensor<270xi32>
  %y3ims = stablehlo.subtract %y3imr, %y3imh : tensor<270xi32>
  %y3imf = stablehlo.convert %y3ims : (tensor<270xi32>) -> tensor<270xf32>
  %y3im = stablehlo.reshape %y3imf : (tensor<270xf32>) -> tensor<3x9x10xf32>
  %y3 = stablehlo.complex %y3re, %y3im : tensor<3x9x10xcomplex<f32>>
  %z3 = stablehlo.dot_general %x3, %y3, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x2x9xcomplex<f32>>, tensor<3x9x10xcomplex<f32>>) -> tensor<3x2x10xcomplex<f32>>
  %p3rere = stablehlo.dot_general %x3re, %y3re, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x2x9xf32>, tensor<3x9x10xf32>) -> tensor<3x2x10xf32>
  %p3imim = stablehlo.dot_general %x3im, %y3im, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x2x9xf32>, tensor<3x9x10xf32>) -> tensor<3x2x10xf32>
  %p3reim = stablehlo.dot_general %x3re, %y3im, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x2x9xf32>, tensor<3x9x10xf32>) -> tensor<3x2x10xf32>
  %p3imre = stablehlo.dot_general %x3im, %y3re, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x2x9xf32>, tensor<3x9x10xf32>) -> tensor<3x2x10xf32>
  %wre3 = stablehlo.subtract %p3rere, %p3imim : tensor<3x2x10xf32>
  %wim3 = stablehlo.add %p3reim, %p3imre : tensor<3x2x10xf32>
  %w3 = stablehlo.complex %wre3, %wim3 : tensor<3x2x10xcomplex<f32>>
  check.expect_eq %z3, %w3 : tensor<3x2x10xcomplex<f32>>
  // CHECK: stablehlo.dot_general: dot b1 m1 n2 k2 {{.*}} parts
  %x4rei = stablehlo.iota dim = 0 : tensor<324xi32>
  %x4rea = stablehlo.constant dense<11> : tensor<324xi32>
  %x4reb = stablehlo.constant dense<11> : tensor<324xi32>
  %x4reh = stablehlo.constant dense<5> : tensor<324xi32>
  %x4rem = stablehlo.multiply %x4rei, %x4rea : tensor<324xi32>
  %x4rer = stablehlo.remainder %x4rem, %x4reb : tensor<324xi32>
  %x4res = stablehlo.subtract %x4rer, %x4reh : tensor<324xi32>
  %x4ref = stablehlo.convert %x4res : (tensor<324xi32>) -> tensor<324xf32>
  %x4re = stablehlo.reshape %x4ref : (tensor<324xf32>) -> tensor<9x3x12xf32>
  %x4imi = stablehlo.iota dim = 0 : tensor<324xi32>
  %x4ima = stablehlo.constant dense<9> : tensor<324xi32>
  %x4imb = stablehlo.constant dense<9> : tensor<324xi32>
  %x4imh = stablehlo.constant dense<4> : tensor<324xi32>
  %x4imm = stablehlo.multiply %x4imi, %x4ima : tensor<324xi32>
  %x4imr = stablehlo.remainder %x4imm, %x4imb : tensor<324xi32>
  %x4ims = stablehlo.subtract %x4imr, %x4imh : tensor<324xi32>
  %x4imf = stablehlo.convert %x4ims : (tensor<324xi32>) -> tensor<324xf32>
  %x4im = stablehlo.reshape %x4imf : (tensor<324xf32>) -> tensor<9x3x12xf32>
  %x4 = stablehlo.complex %x4re, %x4im : tensor<9x3x12xcomplex<f32>>
  %y4rei = stablehlo.iota dim = 0 : tensor<270xi32>
  %y4rea = stablehlo.constant dense<12> : tensor<270xi32>
  %y4reb = stablehlo.constant dense<11> : tensor<270xi32>
  %y4reh = stablehlo.constant dense<5> : tensor<270xi32>
  %y4rem = stablehlo.multiply %y4rei, %y4rea : tensor<270xi32>
  %y4rer = stablehlo.remainder %y4rem, %y4reb : tensor<270xi32>
  %y4res = stablehlo.subtract %y4rer, %y4reh : tensor<270xi32>
  %y4ref = stablehlo.convert %y4res : (tensor<270xi32>) -> tensor<270xf32>
  %y4re = stablehlo.reshape %y4ref : (tensor<270xf32>) -> tensor<10x9x3xf32>
  %y4imi = stablehlo.iota dim = 0 : tensor<270xi32>
  %y4ima = stablehlo.constant dense<10> : tensor<270xi32>
  %y4imb = stablehlo.constant dense<9> : tensor<270xi32>
  %y4imh = stablehlo.constant dense<4> : tensor<270xi32>
  %y4imm = stablehlo.multiply %y4imi, %y4ima : tensor<270xi32>
  %y4imr = stablehlo.remainder %y4imm, %y4imb : tensor<270xi32>
  %y4ims = stablehlo.subtract %y4imr, %y4imh : tensor<270xi32>
  %y4imf = stablehlo.convert %y4ims : (tensor<270xi32>) -> tensor<270xf32>
  %y4im = stablehlo.reshape %y4imf : (tensor<270xf32>) -> tensor<10x9x3xf32>
  %y4 = stablehlo.complex %y4re, %y4im : tensor<10x9x3xcomplex<f32>>
  %z4 = stablehlo.dot_general %x4, %y4, batching_dims = [1] x [2], contracting_dims = [0] x [1] : (tensor<9x3x12xcomplex<f32>>, tensor<10x9x3xcomplex<f32>>) -> tensor<3x12x10xcomplex<f32>>
  %p4rere = stablehlo.dot_general %x4re, %y4re, batching_dims = [1] x [2], contracting_dims = [0] x [1] : (tensor<9x3x12xf32>, tensor<10x9x3xf32>) -> tensor<3x12x10xf32>
  %p4imim = stablehlo.dot_general %x4im, %y4im, batching_dims = [1] x [2], contracting_dims = [0] x [1] : (tensor<9x3x12xf32>, tensor<10x9x3xf32>) -> tensor<3x12x10xf32>
  %p4reim = stablehlo.dot_general %x4re, %y4im, batching_dims = [1] x [2], contracting_dims = [0] x [1] : (tensor<9x3x12xf32>, tensor<10x9x3xf32>) -> tensor<3x12x10xf32>
  %p4imre = stablehlo.dot_general %x4im, %y4re, batching_dims = [1] x [2], contracting_dims = [0] x [1] : (tensor<9x3x12xf32>, tensor<10x9x3xf32>) -> tensor<3x12x10xf32>
  %wre4 = stablehlo.subtract %p4rere, %p4imim : tensor<3x12x10xf32>
  %wim4 = stablehlo.add %p4reim, %p4imre : tensor<3x12x10xf32>
  %w4 = stablehlo.complex %wre4, %wim4 : tensor<3x12x10xcomplex<f32>>
  check.expect_eq %z4, %w4 : tensor<3x12x10xcomplex<f32>>
  // CHECK: stablehlo.dot_general: dot b0 m1 n1 k2 {{.*}} parts
  %x5rei = stablehlo.iota dim = 0 : tensor<108xi32>
  %x5rea = stablehlo.constant dense<12> : tensor<108xi32>
  %x5reb = stablehlo.constant dense<11> : tensor<108xi32>
  %x5reh = stablehlo.constant dense<5> : tensor<108xi32>
  %x5rem = stablehlo.multiply %x5rei, %x5rea : tensor<108xi32>
  %x5rer = stablehlo.remainder %x5rem, %x5reb : tensor<108xi32>
  %x5res = stablehlo.subtract %x5rer, %x5reh : tensor<108xi32>
  %x5ref = stablehlo.convert %x5res : (tensor<108xi32>) -> tensor<108xf32>
  %x5re = stablehlo.reshape %x5ref : (tensor<108xf32>) -> tensor<12x9xf32>
  %x5imi = stablehlo.iota dim = 0 : tensor<108xi32>
  %x5ima = stablehlo.constant dense<10> : tensor<108xi32>
  %x5imb = stablehlo.constant dense<9> : tensor<108xi32>
  %x5imh = stablehlo.constant dense<4> : tensor<108xi32>
  %x5imm = stablehlo.multiply %x5imi, %x5ima : tensor<108xi32>
  %x5imr = stablehlo.remainder %x5imm, %x5imb : tensor<108xi32>
  %x5ims = stablehlo.subtract %x5imr, %x5imh : tensor<108xi32>
  %x5imf = stablehlo.convert %x5ims : (tensor<108xi32>) -> tensor<108xf32>
  %x5im = stablehlo.reshape %x5imf : (tensor<108xf32>) -> tensor<12x9xf32>
  %x5 = stablehlo.complex %x5re, %x5im : tensor<12x9xcomplex<f32>>
  %y5rei = stablehlo.iota dim = 0 : tensor<9xi32>
  %y5rea = stablehlo.constant dense<13> : tensor<9xi32>
  %y5reb = stablehlo.constant dense<11> : tensor<9xi32>
  %y5reh = stablehlo.constant dense<5> : tensor<9xi32>
  %y5rem = stablehlo.multiply %y5rei, %y5rea : tensor<9xi32>
  %y5rer = stablehlo.remainder %y5rem, %y5reb : tensor<9xi32>
  %y5res = stablehlo.subtract %y5rer, %y5reh : tensor<9xi32>
  %y5ref = stablehlo.convert %y5res : (tensor<9xi32>) -> tensor<9xf32>
  %y5re = stablehlo.reshape %y5ref : (tensor<9xf32>) -> tensor<9xf32>
  %y5imi = stablehlo.iota dim = 0 : tensor<9xi32>
  %y5ima = stablehlo.constant dense<11> : tensor<9xi32>
  %y5imb = stablehlo.constant dense<9> : tensor<9xi32>
  %y5imh = stablehlo.constant dense<4> : tensor<9xi32>
  %y5imm = stablehlo.multiply %y5imi, %y5ima : tensor<9xi32>
  %y5imr = stablehlo.remainder %y5imm, %y5imb : tensor<9xi32>
  %y5ims = stablehlo.subtract %y5imr, %y5imh : tensor<9xi32>
  %y5imf = stablehlo.convert %y5ims : (tensor<9xi32>) -> tensor<9xf32>
  %y5im = stablehlo.reshape %y5imf : (tensor<9xf32>) -> tensor<9xf32>
  %y5 = stablehlo.complex %y5re, %y5im : tensor<9xcomplex<f32>>
  %z5 = stablehlo.dot_general %x5, %y5, contracting_dims = [1] x [0] : (tensor<12x9xcomplex<f32>>, tensor<9xcomplex<f32>>) -> tensor<12xcomplex<f32>>
  %p5rere = stablehlo.dot_general %x5re, %y5re, contracting_dims = [1] x [0] : (tensor<12x9xf32>, tensor<9xf32>) -> tensor<12xf32>
  %p5imim = stablehlo.dot_general %x5im, %y5im, contracting_dims = [1] x [0] : (tensor<12x9xf32>, tensor<9xf32>) -> tensor<12xf32>
  %p5reim = stablehlo.dot_general %x5re, %y5im, contracting_dims = [1] x [0] : (tensor<12x9xf32>, tensor<9xf32>) -> tensor<12xf32>
  %p5imre = stablehlo.dot_general %x5im, %y5re, contracting_dims = [1] x [0] : (tensor<12x9xf32>, tensor<9xf32>) -> tensor<12xf32>
  %wre5 = stablehlo.subtract %p5rere, %p5imim : tensor<12xf32>
  %wim5 = stablehlo.add %p5reim, %p5imre : tensor<12xf32>
  %w5 = stablehlo.complex %wre5, %wim5 : tensor<12xcomplex<f32>>
  check.expect_eq %z5, %w5 : tensor<12xcomplex<f32>>
  // CHECK: stablehlo.dot_general: dot b0 m2 n2 k3 {{.*}} parts
  %x6rei = stablehlo.iota dim = 0 : tensor<120xi32>
  %x6rea = stablehlo.constant dense<13> : tensor<120xi32>
  %x6reb = stablehlo.constant dense<11> : tensor<120xi32>
  %x6reh = stablehlo.constant dense<5> : tensor<120xi32>
  %x6rem = stablehlo.multiply %x6rei, %x6rea : tensor<120xi32>
  %x6rer = stablehlo.remainder %x6rem, %x6reb : tensor<120xi32>
  %x6res = stablehlo.subtract %x6rer, %x6reh : tensor<120xi32>
  %x6ref = stablehlo.convert %x6res : (tensor<120xi32>) -> tensor<120xf64>
  %x6re = stablehlo.reshape %x6ref : (tensor<120xf64>) -> tensor<4x5x3x2xf64>
  %x6imi = stablehlo.iota dim = 0 : tensor<120xi32>
  %x6ima = stablehlo.constant dense<11> : tensor<120xi32>
  %x6imb = stablehlo.constant dense<9> : tensor<120xi32>
  %x6imh = stablehlo.constant dense<4> : tensor<120xi32>
  %x6imm = stablehlo.multiply %x6imi, %x6ima : tensor<120xi32>
  %x6imr = stablehlo.remainder %x6imm, %x6imb : tensor<120xi32>
  %x6ims = stablehlo.subtract %x6imr, %x6imh : tensor<120xi32>
  %x6imf = stablehlo.convert %x6ims : (tensor<120xi32>) -> tensor<120xf64>
  %x6im = stablehlo.reshape %x6imf : (tensor<120xf64>) -> tensor<4x5x3x2xf64>
  %x6 = stablehlo.complex %x6re, %x6im : tensor<4x5x3x2xcomplex<f64>>
  %y6rei = stablehlo.iota dim = 0 : tensor<90xi32>
  %y6rea = stablehlo.constant dense<14> : tensor<90xi32>
  %y6reb = stablehlo.constant dense<11> : tensor<90xi32>
  %y6reh = stablehlo.constant dense<5> : tensor<90xi32>
  %y6rem = stablehlo.multiply %y6rei, %y6rea : tensor<90xi32>
  %y6rer = stablehlo.remainder %y6rem, %y6reb : tensor<90xi32>
  %y6res = stablehlo.subtract %y6rer, %y6reh : tensor<90xi32>
  %y6ref = stablehlo.convert %y6res : (tensor<90xi32>) -> tensor<90xf64>
  %y6re = stablehlo.reshape %y6ref : (tensor<90xf64>) -> tensor<3x5x6xf64>
  %y6imi = stablehlo.iota dim = 0 : tensor<90xi32>
  %y6ima = stablehlo.constant dense<12> : tensor<90xi32>
  %y6imb = stablehlo.constant dense<9> : tensor<90xi32>
  %y6imh = stablehlo.constant dense<4> : tensor<90xi32>
  %y6imm = stablehlo.multiply %y6imi, %y6ima : tensor<90xi32>
  %y6imr = stablehlo.remainder %y6imm, %y6imb : tensor<90xi32>
  %y6ims = stablehlo.subtract %y6imr, %y6imh : tensor<90xi32>
  %y6imf = stablehlo.convert %y6ims : (tensor<90xi32>) -> tensor<90xf64>
  %y6im = stablehlo.reshape %y6imf : (tensor<90xf64>) -> tensor<3x5x6xf64>
  %y6 = stablehlo.complex %y6re, %y6im : tensor<3x5x6xcomplex<f64>>
  %z6 = stablehlo.dot_general %x6, %y6, contracting_dims = [2, 1] x [0, 1] : (tensor<4x5x3x2xcomplex<f64>>, tensor<3x5x6xcomplex<f64>>) -> tensor<4x2x6xcomplex<f64>>
  %p6rere = stablehlo.dot_general %x6re, %y6re, contracting_dims = [2, 1] x [0, 1] : (tensor<4x5x3x2xf64>, tensor<3x5x6xf64>) -> tensor<4x2x6xf64>
  %p6imim = stablehlo.dot_general %x6im, %y6im, contracting_dims = [2, 1] x [0, 1] : (tensor<4x5x3x2xf64>, tensor<3x5x6xf64>) -> tensor<4x2x6xf64>
  %p6reim = stablehlo.dot_general %x6re, %y6im, contracting_dims = [2, 1] x [0, 1] : (tensor<4x5x3x2xf64>, tensor<3x5x6xf64>) -> tensor<4x2x6xf64>
  %p6imre = stablehlo.dot_general %x6im, %y6re, contracting_dims = [2, 1] x [0, 1] : (tensor<4x5x3x2xf64>, tensor<3x5x6xf64>) -> tensor<4x2x6xf64>
  %wre6 = stablehlo.subtract %p6rere, %p6imim : tensor<4x2x6xf64>
  %wim6 = stablehlo.add %p6reim, %p6imre : tensor<4x2x6xf64>
  %w6 = stablehlo.complex %wre6, %wim6 : tensor<4x2x6xcomplex<f64>>
  check.expect_eq %z6, %w6 : tensor<4x2x6xcomplex<f64>>
  // CHECK: stablehlo.dot_general: loop [2,16] in {{.*}}mul
  %x7rei = stablehlo.iota dim = 0 : tensor<6xi32>
  %x7rea = stablehlo.constant dense<14> : tensor<6xi32>
  %x7reb = stablehlo.constant dense<11> : tensor<6xi32>
  %x7reh = stablehlo.constant dense<5> : tensor<6xi32>
  %x7rem = stablehlo.multiply %x7rei, %x7rea : tensor<6xi32>
  %x7rer = stablehlo.remainder %x7rem, %x7reb : tensor<6xi32>
  %x7res = stablehlo.subtract %x7rer, %x7reh : tensor<6xi32>
  %x7ref = stablehlo.convert %x7res : (tensor<6xi32>) -> tensor<6xf32>
  %x7re = stablehlo.reshape %x7ref : (tensor<6xf32>) -> tensor<2x3xf32>
  %x7imi = stablehlo.iota dim = 0 : tensor<6xi32>
  %x7ima = stablehlo.constant dense<12> : tensor<6xi32>
  %x7imb = stablehlo.constant dense<9> : tensor<6xi32>
  %x7imh = stablehlo.constant dense<4> : tensor<6xi32>
  %x7imm = stablehlo.multiply %x7imi, %x7ima : tensor<6xi32>
  %x7imr = stablehlo.remainder %x7imm, %x7imb : tensor<6xi32>
  %x7ims = stablehlo.subtract %x7imr, %x7imh : tensor<6xi32>
  %x7imf = stablehlo.convert %x7ims : (tensor<6xi32>) -> tensor<6xf32>
  %x7im = stablehlo.reshape %x7imf : (tensor<6xf32>) -> tensor<2x3xf32>
  %x7 = stablehlo.complex %x7re, %x7im : tensor<2x3xcomplex<f32>>
  %y7rei = stablehlo.iota dim = 0 : tensor<48xi32>
  %y7rea = stablehlo.constant dense<15> : tensor<48xi32>
  %y7reb = stablehlo.constant dense<11> : tensor<48xi32>
  %y7reh = stablehlo.constant dense<5> : tensor<48xi32>
  %y7rem = stablehlo.multiply %y7rei, %y7rea : tensor<48xi32>
  %y7rer = stablehlo.remainder %y7rem, %y7reb : tensor<48xi32>
  %y7res = stablehlo.subtract %y7rer, %y7reh : tensor<48xi32>
  %y7ref = stablehlo.convert %y7res : (tensor<48xi32>) -> tensor<48xf32>
  %y7re = stablehlo.reshape %y7ref : (tensor<48xf32>) -> tensor<3x16xf32>
  %y7imi = stablehlo.iota dim = 0 : tensor<48xi32>
  %y7ima = stablehlo.constant dense<13> : tensor<48xi32>
  %y7imb = stablehlo.constant dense<9> : tensor<48xi32>
  %y7imh = stablehlo.constant dense<4> : tensor<48xi32>
  %y7imm = stablehlo.multiply %y7imi, %y7ima : tensor<48xi32>
  %y7imr = stablehlo.remainder %y7imm, %y7imb : tensor<48xi32>
  %y7ims = stablehlo.subtract %y7imr, %y7imh : tensor<48xi32>
  %y7imf = stablehlo.convert %y7ims : (tensor<48xi32>) -> tensor<48xf32>
  %y7im = stablehlo.reshape %y7imf : (tensor<48xf32>) -> tensor<3x16xf32>
  %y7 = stablehlo.complex %y7re, %y7im : tensor<3x16xcomplex<f32>>
  %z7 = stablehlo.dot_general %x7, %y7, contracting_dims = [1] x [0] : (tensor<2x3xcomplex<f32>>, tensor<3x16xcomplex<f32>>) -> tensor<2x16xcomplex<f32>>
  %p7rere = stablehlo.dot_general %x7re, %y7re, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x16xf32>) -> tensor<2x16xf32>
  %p7imim = stablehlo.dot_general %x7im, %y7im, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x16xf32>) -> tensor<2x16xf32>
  %p7reim = stablehlo.dot_general %x7re, %y7im, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x16xf32>) -> tensor<2x16xf32>
  %p7imre = stablehlo.dot_general %x7im, %y7re, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x16xf32>) -> tensor<2x16xf32>
  %wre7 = stablehlo.subtract %p7rere, %p7imim : tensor<2x16xf32>
  %wim7 = stablehlo.add %p7reim, %p7imre : tensor<2x16xf32>
  %w7 = stablehlo.complex %wre7, %wim7 : tensor<2x16xcomplex<f32>>
  check.expect_eq %z7, %w7 : tensor<2x16xcomplex<f32>>
  // CHECK: stablehlo.dot_general: loop [6,16,2] in {{.*}} out %{{[0-9]+}}[32,1,16]
  %x8rei = stablehlo.iota dim = 0 : tensor<192xi32>
  %x8rea = stablehlo.constant dense<15> : tensor<192xi32>
  %x8reb = stablehlo.constant dense<11> : tensor<192xi32>
  %x8reh = stablehlo.constant dense<5> : tensor<192xi32>
  %x8rem = stablehlo.multiply %x8rei, %x8rea : tensor<192xi32>
  %x8rer = stablehlo.remainder %x8rem, %x8reb : tensor<192xi32>
  %x8res = stablehlo.subtract %x8rer, %x8reh : tensor<192xi32>
  %x8ref = stablehlo.convert %x8res : (tensor<192xi32>) -> tensor<192xf32>
  %x8re = stablehlo.reshape %x8ref : (tensor<192xf32>) -> tensor<6x2x16xf32>
  %x8imi = stablehlo.iota dim = 0 : tensor<192xi32>
  %x8ima = stablehlo.constant dense<13> : tensor<192xi32>
  %x8imb = stablehlo.constant dense<9> : tensor<192xi32>
  %x8imh = stablehlo.constant dense<4> : tensor<192xi32>
  %x8imm = stablehlo.multiply %x8imi, %x8ima : tensor<192xi32>
  %x8imr = stablehlo.remainder %x8imm, %x8imb : tensor<192xi32>
  %x8ims = stablehlo.subtract %x8imr, %x8imh : tensor<192xi32>
  %x8imf = stablehlo.convert %x8ims : (tensor<192xi32>) -> tensor<192xf32>
  %x8im = stablehlo.reshape %x8imf : (tensor<192xf32>) -> tensor<6x2x16xf32>
  %x8 = stablehlo.complex %x8re, %x8im : tensor<6x2x16xcomplex<f32>>
  %y8rei = stablehlo.iota dim = 0 : tensor<4xi32>
  %y8rea = stablehlo.constant dense<16> : tensor<4xi32>
  %y8reb = stablehlo.constant dense<11> : tensor<4xi32>
  %y8reh = stablehlo.constant dense<5> : tensor<4xi32>
  %y8rem = stablehlo.multiply %y8rei, %y8rea : tensor<4xi32>
  %y8rer = stablehlo.remainder %y8rem, %y8reb : tensor<4xi32>
  %y8res = stablehlo.subtract %y8rer, %y8reh : tensor<4xi32>
  %y8ref = stablehlo.convert %y8res : (tensor<4xi32>) -> tensor<4xf32>
  %y8re = stablehlo.reshape %y8ref : (tensor<4xf32>) -> tensor<2x2xf32>
  %y8imi = stablehlo.iota dim = 0 : tensor<4xi32>
  %y8ima = stablehlo.constant dense<14> : tensor<4xi32>
  %y8imb = stablehlo.constant dense<9> : tensor<4xi32>
  %y8imh = stablehlo.constant dense<4> : tensor<4xi32>
  %y8imm = stablehlo.multiply %y8imi, %y8ima : tensor<4xi32>
  %y8imr = stablehlo.remainder %y8imm, %y8imb : tensor<4xi32>
  %y8ims = stablehlo.subtract %y8imr, %y8imh : tensor<4xi32>
  %y8imf = stablehlo.convert %y8ims : (tensor<4xi32>) -> tensor<4xf32>
  %y8im = stablehlo.reshape %y8imf : (tensor<4xf32>) -> tensor<2x2xf32>
  %y8 = stablehlo.complex %y8re, %y8im : tensor<2x2xcomplex<f32>>
  %z8 = stablehlo.dot_general %x8, %y8, contracting_dims = [1] x [1] : (tensor<6x2x16xcomplex<f32>>, tensor<2x2xcomplex<f32>>) -> tensor<6x16x2xcomplex<f32>>
  %t8 = stablehlo.transpose %z8, dims = [0, 2, 1] : (tensor<6x16x2xcomplex<f32>>) -> tensor<6x2x16xcomplex<f32>>
  %p8rere = stablehlo.dot_general %x8re, %y8re, contracting_dims = [1] x [1] : (tensor<6x2x16xf32>, tensor<2x2xf32>) -> tensor<6x16x2xf32>
  %p8imim = stablehlo.dot_general %x8im, %y8im, contracting_dims = [1] x [1] : (tensor<6x2x16xf32>, tensor<2x2xf32>) -> tensor<6x16x2xf32>
  %p8reim = stablehlo.dot_general %x8re, %y8im, contracting_dims = [1] x [1] : (tensor<6x2x16xf32>, tensor<2x2xf32>) -> tensor<6x16x2xf32>
  %p8imre = stablehlo.dot_general %x8im, %y8re, contracting_dims = [1] x [1] : (tensor<6x2x16xf32>, tensor<2x2xf32>) -> tensor<6x16x2xf32>
  %wre8 = stablehlo.subtract %p8rere, %p8imim : tensor<6x16x2xf32>
  %wim8 = stablehlo.add %p8reim, %p8imre : tensor<6x16x2xf32>
  %w8 = stablehlo.complex %wre8, %wim8 : tensor<6x16x2xcomplex<f32>>
  %v8 = stablehlo.transpose %w8, dims = [0, 2, 1] : (tensor<6x16x2xcomplex<f32>>) -> tensor<6x2x16xcomplex<f32>>
  check.expect_eq %t8, %v8 : tensor<6x2x16xcomplex<f32>>
  // CHECK: stablehlo.dot_general: loop [40] in {{.*}} sum
  %x9rei = stablehlo.iota dim = 0 : tensor<40xi32>
  %x9rea = stablehlo.constant dense<16> : tensor<40xi32>
  %x9reb = stablehlo.constant dense<11> : tensor<40xi32>
  %x9reh = stablehlo.constant dense<5> : tensor<40xi32>
  %x9rem = stablehlo.multiply %x9rei, %x9rea : tensor<40xi32>
  %x9rer = stablehlo.remainder %x9rem, %x9reb : tensor<40xi32>
  %x9res = stablehlo.subtract %x9rer, %x9reh : tensor<40xi32>
  %x9ref = stablehlo.convert %x9res : (tensor<40xi32>) -> tensor<40xf32>
  %x9re = stablehlo.reshape %x9ref : (tensor<40xf32>) -> tensor<40xf32>
  %x9imi = stablehlo.iota dim = 0 : tensor<40xi32>
  %x9ima = stablehlo.constant dense<14> : tensor<40xi32>
  %x9imb = stablehlo.constant dense<9> : tensor<40xi32>
  %x9imh = stablehlo.constant dense<4> : tensor<40xi32>
  %x9imm = stablehlo.multiply %x9imi, %x9ima : tensor<40xi32>
  %x9imr = stablehlo.remainder %x9imm, %x9imb : tensor<40xi32>
  %x9ims = stablehlo.subtract %x9imr, %x9imh : tensor<40xi32>
  %x9imf = stablehlo.convert %x9ims : (tensor<40xi32>) -> tensor<40xf32>
  %x9im = stablehlo.reshape %x9imf : (tensor<40xf32>) -> tensor<40xf32>
  %x9 = stablehlo.complex %x9re, %x9im : tensor<40xcomplex<f32>>
  %y9rei = stablehlo.iota dim = 0 : tensor<40xi32>
  %y9rea = stablehlo.constant dense<17> : tensor<40xi32>
  %y9reb = stablehlo.constant dense<11> : tensor<40xi32>
  %y9reh = stablehlo.constant dense<5> : tensor<40xi32>
  %y9rem = stablehlo.multiply %y9rei, %y9rea : tensor<40xi32>
  %y9rer = stablehlo.remainder %y9rem, %y9reb : tensor<40xi32>
  %y9res = stablehlo.subtract %y9rer, %y9reh : tensor<40xi32>
  %y9ref = stablehlo.convert %y9res : (tensor<40xi32>) -> tensor<40xf32>
  %y9re = stablehlo.reshape %y9ref : (tensor<40xf32>) -> tensor<40xf32>
  %y9imi = stablehlo.iota dim = 0 : tensor<40xi32>
  %y9ima = stablehlo.constant dense<15> : tensor<40xi32>
  %y9imb = stablehlo.constant dense<9> : tensor<40xi32>
  %y9imh = stablehlo.constant dense<4> : tensor<40xi32>
  %y9imm = stablehlo.multiply %y9imi, %y9ima : tensor<40xi32>
  %y9imr = stablehlo.remainder %y9imm, %y9imb : tensor<40xi32>
  %y9ims = stablehlo.subtract %y9imr, %y9imh : tensor<40xi32>
  %y9imf = stablehlo.convert %y9ims : (tensor<40xi32>) -> tensor<40xf32>
  %y9im = stablehlo.reshape %y9imf : (tensor<40xf32>) -> tensor<40xf32>
  %y9 = stablehlo.complex %y9re, %y9im : tensor<40xcomplex<f32>>
  %z9 = stablehlo.dot_general %x9, %y9, contracting_dims = [0] x [0] : (tensor<40xcomplex<f32>>, tensor<40xcomplex<f32>>) -> tensor<complex<f32>>
  %p9rere = stablehlo.dot_general %x9re, %y9re, contracting_dims = [0] x [0] : (tensor<40xf32>, tensor<40xf32>) -> tensor<f32>
  %p9imim = stablehlo.dot_general %x9im, %y9im, contracting_dims = [0] x [0] : (tensor<40xf32>, tensor<40xf32>) -> tensor<f32>
  %p9reim = stablehlo.dot_general %x9re, %y9im, contracting_dims = [0] x [0] : (tensor<40xf32>, tensor<40xf32>) -> tensor<f32>
  %p9imre = stablehlo.dot_general %x9im, %y9re, contracting_dims = [0] x [0] : (tensor<40xf32>, tensor<40xf32>) -> tensor<f32>
  %wre9 = stablehlo.subtract %p9rere, %p9imim : tensor<f32>
  %wim9 = stablehlo.add %p9reim, %p9imre : tensor<f32>
  %w9 = stablehlo.complex %wre9, %wim9 : tensor<complex<f32>>
  check.expect_eq %z9, %w9 : tensor<complex<f32>>
  // CHECK: stablehlo.dot_general: dot
  %x10rei = stablehlo.iota dim = 0 : tensor<0xi32>
  %x10rea = stablehlo.constant dense<17> : tensor<0xi32>
  %x10reb = stablehlo.constant dense<11> : tensor<0xi32>
  %x10reh = stablehlo.constant dense<5> : tensor<0xi32>
  %x10rem = stablehlo.multiply %x10rei, %x10rea : tensor<0xi32>
  %x10rer = stablehlo.remainder %x10rem, %x10reb : tensor<0xi32>
  %x10res = stablehlo.subtract %x10rer, %x10reh : tensor<0xi32>
  %x10ref = stablehlo.convert %x10res : (tensor<0xi32>) -> tensor<0xf32>
  %x10re = stablehlo.reshape %x10ref : (tensor<0xf32>) -> tensor<3x0xf32>
  %x10imi = stablehlo.iota dim = 0 : tensor<0xi32>
  %x10ima = stablehlo.constant dense<15> : tensor<0xi32>
  %x10imb = stablehlo.constant dense<9> : tensor<0xi32>
  %x10imh = stablehlo.constant dense<4> : tensor<0xi32>
  %x10imm = stablehlo.multiply %x10imi, %x10ima : tensor<0xi32>
  %x10imr = stablehlo.remainder %x10imm, %x10imb : tensor<0xi32>
  %x10ims = stablehlo.subtract %x10imr, %x10imh : tensor<0xi32>
  %x10imf = stablehlo.convert %x10ims : (tensor<0xi32>) -> tensor<0xf32>
  %x10im = stablehlo.reshape %x10imf : (tensor<0xf32>) -> tensor<3x0xf32>
  %x10 = stablehlo.complex %x10re, %x10im : tensor<3x0xcomplex<f32>>
  %y10rei = stablehlo.iota dim = 0 : tensor<0xi32>
  %y10rea = stablehlo.constant dense<18> : tensor<0xi32>
  %y10reb = stablehlo.constant dense<11> : tensor<0xi32>
  %y10reh = stablehlo.constant dense<5> : tensor<0xi32>
  %y10rem = stablehlo.multiply %y10rei, %y10rea : tensor<0xi32>
  %y10rer = stablehlo.remainder %y10rem, %y10reb : tensor<0xi32>
  %y10res = stablehlo.subtract %y10rer, %y10reh : tensor<0xi32>
  %y10ref = stablehlo.convert %y10res : (tensor<0xi32>) -> tensor<0xf32>
  %y10re = stablehlo.reshape %y10ref : (tensor<0xf32>) -> tensor<0x9xf32>
  %y10imi = stablehlo.iota dim = 0 : tensor<0xi32>
  %y10ima = stablehlo.constant dense<16> : tensor<0xi32>
  %y10imb = stablehlo.constant dense<9> : tensor<0xi32>
  %y10imh = stablehlo.constant dense<4> : tensor<0xi32>
  %y10imm = stablehlo.multiply %y10imi, %y10ima : tensor<0xi32>
  %y10imr = stablehlo.remainder %y10imm, %y10imb : tensor<0xi32>
  %y10ims = stablehlo.subtract %y10imr, %y10imh : tensor<0xi32>
  %y10imf = stablehlo.convert %y10ims : (tensor<0xi32>) -> tensor<0xf32>
  %y10im = stablehlo.reshape %y10imf : (tensor<0xf32>) -> tensor<0x9xf32>
  %y10 = stablehlo.complex %y10re, %y10im : tensor<0x9xcomplex<f32>>
  %z10 = stablehlo.dot_general %x10, %y10, contracting_dims = [1] x [0] : (tensor<3x0xcomplex<f32>>, tensor<0x9xcomplex<f32>>) -> tensor<3x9xcomplex<f32>>
  %p10rere = stablehlo.dot_general %x10re, %y10re, contracting_dims = [1] x [0] : (tensor<3x0xf32>, tensor<0x9xf32>) -> tensor<3x9xf32>
  %p10imim = stablehlo.dot_general %x10im, %y10im, contracting_dims = [1] x [0] : (tensor<3x0xf32>, tensor<0x9xf32>) -> tensor<3x9xf32>
  %p10reim = stablehlo.dot_general %x10re, %y10im, contracting_dims = [1] x [0] : (tensor<3x0xf32>, tensor<0x9xf32>) -> tensor<3x9xf32>
  %p10imre = stablehlo.dot_general %x10im, %y10re, contracting_dims = [1] x [0] : (tensor<3x0xf32>, tensor<0x9xf32>) -> tensor<3x9xf32>
  %wre10 = stablehlo.subtract %p10rere, %p10imim : tensor<3x9xf32>
  %wim10 = stablehlo.add %p10reim, %p10imre : tensor<3x9xf32>
  %w10 = stablehlo.complex %wre10, %wim10 : tensor<3x9xcomplex<f32>>
  check.expect_eq %z10, %w10 : tensor<3x9xcomplex<f32>>
  // Many of no terms: what a product of reals makes a sum of stays a product.
  %x11 = stablehlo.constant dense<> : tensor<64x1x0xcomplex<f32>>
  %y11 = stablehlo.constant dense<> : tensor<64x0x17xcomplex<f32>>
  %z11 = stablehlo.dot_general %x11, %y11, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<64x1x0xcomplex<f32>>, tensor<64x0x17xcomplex<f32>>) -> tensor<64x1x17xcomplex<f32>>
  %w11 = stablehlo.constant dense<(0.0, 0.0)> : tensor<64x1x17xcomplex<f32>>
  check.expect_eq %z11, %w11 : tensor<64x1x17xcomplex<f32>>
  return
}
