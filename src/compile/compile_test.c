/* Small programs through the whole line: compile_source, then run, then compare numbers. Inputs
 * are constants, which lie in memory as parameters do. */
#include "compile/compile.h"

#include <math.h>
#include <stdlib.h>

#include "exec/exec.h"
#include "num/convert.h"
#include "tests/unit.h"

enum { MAX_OUT = 24 };

typedef struct run_case {
  const char *name, *body; /* body of @main, which returns one tensor */
  const char *type;        /* of the result */
  u32 devices;             /* 0: one; expect[] is what each of them has, one after the other */
  u32 n;
  double expect[MAX_OUT];
} run_case;

#define IOTA23 "%x = stablehlo.constant dense<[[0., 1., 2.], [3., 4., 5.]]> : tensor<2x3xf32>\n"
#define IOTA6 "%x = stablehlo.constant dense<[0., 1., 2., 3., 4., 5.]> : tensor<6xf32>\n"
#define INTS "%i = stablehlo.constant dense<[5, 3, 4, 1, 2, 0]> : tensor<6xi32>\n"

static const run_case cases[] = {
    {"constant",
     "%r = stablehlo.constant dense<[1., 2.]> : tensor<2xf32>\nreturn %r : tensor<2xf32>",
     "tensor<2xf32>",
     0,
     2,
     {1, 2}},
    {"splat",
     "%r = stablehlo.constant dense<7.> : tensor<2x2xf32>\nreturn %r : tensor<2x2xf32>",
     "tensor<2x2xf32>",
     0,
     4,
     {7, 7, 7, 7}},
    {"fused chain",
     IOTA23 "%c = stablehlo.constant dense<2.> : tensor<2x3xf32>\n"
            "%a = stablehlo.multiply %x, %c : tensor<2x3xf32>\n"
            "%b = stablehlo.add %a, %x : tensor<2x3xf32>\n"
            "%d = stablehlo.negate %b : tensor<2x3xf32>\nreturn %d : tensor<2x3xf32>",
     "tensor<2x3xf32>",
     0,
     6,
     {0, -3, -6, -9, -12, -15}},
    {"uniform, in memory for another use before it is broadcast",
     "%c = stablehlo.constant dense<2.> : tensor<2x3xf32>\n"
     "%a = stablehlo.optimization_barrier %c : tensor<2x3xf32>\n"
     "%v = stablehlo.compare EQ, %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>\n"
     "%s = stablehlo.select %v, %a, %a : tensor<2x3xi1>, tensor<2x3xf32>\n"
     "%f = stablehlo.constant dense<false> : tensor<i1>\n"
     "%p = stablehlo.pad %v, %f, low = [1, 0], high = [0, 0], interior = [0, 0] : "
     "(tensor<2x3xi1>, tensor<i1>) -> tensor<3x3xi1>\n"
     "%q = stablehlo.convert %p : (tensor<3x3xi1>) -> tensor<3x3xf32>\n"
     "%z = stablehlo.constant dense<0.> : tensor<f32>\n"
     "%n = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [0, 1] : "
     "(tensor<3x3xf32>, tensor<f32>) -> tensor<f32>\n"
     "%b = stablehlo.broadcast_in_dim %s, dims = [1, 2] : (tensor<2x3xf32>) -> tensor<2x2x3xf32>\n"
     "%m = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<f32>) -> tensor<2x2x3xf32>\n"
     "%r = stablehlo.add %b, %m : tensor<2x2x3xf32>\nreturn %r : tensor<2x2x3xf32>",
     "tensor<2x2x3xf32>",
     0,
     12,
     {8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8}},
    {"transpose, then add",
     IOTA23 "%t = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>\n"
            "%r = stablehlo.add %t, %t : tensor<3x2xf32>\nreturn %r : tensor<3x2xf32>",
     "tensor<3x2xf32>",
     0,
     6,
     {0, 6, 2, 8, 4, 10}},
    {"transpose of computed",
     IOTA23 "%s = stablehlo.add %x, %x : tensor<2x3xf32>\n"
            "%t = stablehlo.transpose %s, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>\n"
            "return %t : tensor<3x2xf32>",
     "tensor<3x2xf32>",
     0,
     6,
     {0, 6, 2, 8, 4, 10}},
    {"computed on, rolled and padded",
     "%i = stablehlo.iota dim = 0 : tensor<4096xf32>\n"
     "%x = stablehlo.reshape %i : (tensor<4096xf32>) -> tensor<64x64xf32>\n"
     "%y = stablehlo.cosine %x : tensor<64x64xf32>\n"
     "%z = stablehlo.constant dense<0.> : tensor<f32>\n"
     "%a = stablehlo.slice %x [63:64, 0:64] : (tensor<64x64xf32>) -> tensor<1x64xf32>\n"
     "%b = stablehlo.slice %x [0:63, 0:64] : (tensor<64x64xf32>) -> tensor<63x64xf32>\n"
     "%r = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1x64xf32>, tensor<63x64xf32>) -> "
     "tensor<64x64xf32>\n"
     "%p = stablehlo.pad %y, %z, low = [0, 0], high = [0, 1], interior = [0, 0] : "
     "(tensor<64x64xf32>, tensor<f32>) -> tensor<64x65xf32>\n"
     "%q = stablehlo.slice %p [0:64, 1:65] : (tensor<64x65xf32>) -> tensor<64x64xf32>\n"
     "%n = stablehlo.is_finite %q : (tensor<64x64xf32>) -> tensor<64x64xi1>\n"
     "%o = stablehlo.convert %n : (tensor<64x64xi1>) -> tensor<64x64xf32>\n"
     "%s = stablehlo.add %r, %o : tensor<64x64xf32>\n"
     "%t = stablehlo.slice %s [0:64:21, 0:64:63] : (tensor<64x64xf32>) -> tensor<4x2xf32>\n"
     "return %t : tensor<4x2xf32>",
     "tensor<4x2xf32>",
     0,
     8,
     {4033, 4096, 1281, 1344, 2625, 2688, 3969, 4032}},
    {"gather of places from the end, and of others",
     "%x = stablehlo.constant dense<[10., 11., 12., 13., 14., 15.]> : tensor<6xf32>\n"
     "%i = stablehlo.constant dense<[-1, 0, 7, -7, 5, -6]> : tensor<6xi32>\n"
     "%z = stablehlo.constant dense<0> : tensor<6xi32>\n"
     "%n = stablehlo.constant dense<6> : tensor<6xi32>\n"
     "%m = stablehlo.constant dense<5> : tensor<6xi32>\n"
     "%l = stablehlo.compare LT, %i, %z : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>\n"
     "%a = stablehlo.add %i, %n : tensor<6xi32>\n"
     "%s = stablehlo.select %l, %a, %i : tensor<6xi1>, tensor<6xi32>\n"
     "%r = stablehlo.reshape %s : (tensor<6xi32>) -> tensor<6x1xi32>\n"
     "%y = \"stablehlo.gather\"(%x, %r) <{dimension_numbers = #stablehlo.gather<"
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, "
     "slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<6x1xi32>) -> tensor<6xf32>\n"
     "%t = stablehlo.reshape %r : (tensor<6x1xi32>) -> tensor<6xi32>\n"
     "%g = stablehlo.compare GE, %t, %z : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>\n"
     "%h = stablehlo.compare LE, %t, %m : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>\n"
     "%b = stablehlo.and %g, %h : tensor<6xi1>\n"
     "%f = stablehlo.constant dense<-9.> : tensor<6xf32>\n"
     "%v = stablehlo.select %b, %y, %f : tensor<6xi1>, tensor<6xf32>\n"
     "return %v : tensor<6xf32>",
     "tensor<6xf32>",
     0,
     6,
     {15, 10, -9, -9, 15, 10}},
    {"reshape of broadcast",
     "%x = stablehlo.constant dense<[1., 2.]> : tensor<2xf32>\n"
     "%b = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>\n"
     "%r = stablehlo.reshape %b : (tensor<2x3xf32>) -> tensor<6xf32>\nreturn %r : tensor<6xf32>",
     "tensor<6xf32>",
     0,
     6,
     {1, 1, 1, 2, 2, 2}},
    {"reverse and slice",
     IOTA6 "%v = stablehlo.reverse %x, dims = [0] : tensor<6xf32>\n"
           "%s = stablehlo.slice %v [1:6:2] : (tensor<6xf32>) -> tensor<3xf32>\n"
           "return %s : tensor<3xf32>",
     "tensor<3xf32>",
     0,
     3,
     {4, 2, 0}},
    {"slice of iota",
     "%i = stablehlo.iota dim = 0 : tensor<6xi32>\n"
     "%s = stablehlo.slice %i [1:6:2] : (tensor<6xi32>) -> tensor<3xi32>\n"
     "%a = stablehlo.add %s, %s : tensor<3xi32>\nreturn %a : tensor<3xi32>",
     "tensor<3xi32>",
     0,
     3,
     {2, 6, 10}},
    {"pad",
     "%x = stablehlo.constant dense<[1., 2., 3.]> : tensor<3xf32>\n"
     "%z = stablehlo.constant dense<9.> : tensor<f32>\n"
     "%r = stablehlo.pad %x, %z, low = [1], high = [-2], interior = [1] : (tensor<3xf32>, "
     "tensor<f32>) -> tensor<4xf32>\nreturn %r : tensor<4xf32>",
     "tensor<4xf32>",
     0,
     4,
     {9, 1, 9, 2}},
    {"pad that cuts",
     IOTA6 "%z = stablehlo.constant dense<9.> : tensor<f32>\n"
           "%r = stablehlo.pad %x, %z, low = [-2], high = [1], interior = [0] : (tensor<6xf32>, "
           "tensor<f32>) -> tensor<5xf32>\nreturn %r : tensor<5xf32>",
     "tensor<5xf32>",
     0,
     5,
     {2, 3, 4, 5, 9}},
    {"concatenate computed",
     "%x = stablehlo.constant dense<[1., 2.]> : tensor<2xf32>\n"
     "%n = stablehlo.negate %x : tensor<2xf32>\n"
     "%r = stablehlo.concatenate %x, %n, %n, dim = 0 : (tensor<2xf32>, tensor<2xf32>, "
     "tensor<2xf32>) -> tensor<6xf32>\nreturn %r : tensor<6xf32>",
     "tensor<6xf32>",
     0,
     6,
     {1, 2, -1, -2, -1, -2}},
    {"reduce rows, columns, all",
     IOTA23
     "%z = stablehlo.constant dense<0.> : tensor<f32>\n"
     "%a = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : "
     "(tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>\n"
     "%b = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : "
     "(tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>\n"
     "%c = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [0, 1] : "
     "(tensor<2x3xf32>, tensor<f32>) -> tensor<f32>\n"
     "%d = stablehlo.reshape %c : (tensor<f32>) -> tensor<1xf32>\n"
     "%r = stablehlo.concatenate %a, %b, %d, dim = 0 : (tensor<2xf32>, tensor<3xf32>, "
     "tensor<1xf32>) -> tensor<6xf32>\nreturn %r : tensor<6xf32>",
     "tensor<6xf32>",
     0,
     6,
     {3, 12, 3, 5, 7, 5}},
    {"softmax keeps what is used twice",
     IOTA23 "%z = stablehlo.constant dense<0.> : tensor<f32>\n"
            "%e = stablehlo.exponential %x : tensor<2x3xf32>\n"
            "%s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : "
            "(tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>\n"
            "%b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>\n"
            "%r = stablehlo.divide %e, %b : tensor<2x3xf32>\nreturn %r : tensor<2x3xf32>",
     "tensor<2x3xf32>",
     0,
     6,
     {0.09003057, 0.24472847, 0.66524096, 0.09003057, 0.24472847, 0.66524096}},
    {"dot with a transposed side",
     IOTA23 "%r = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<2x3xf32>, "
            "tensor<2x3xf32>) -> tensor<2x2xf32>\nreturn %r : tensor<2x2xf32>",
     "tensor<2x2xf32>",
     0,
     4,
     {5, 14, 14, 50}},
    {"dot that is transposed",
     IOTA23 "%p = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<2x3xf32>, "
            "tensor<2x3xf32>) -> tensor<3x3xf32>\n"
            "%i = stablehlo.iota dim = 1 : tensor<2x2xf32>\n"
            "%q = stablehlo.dot_general %i, %x, contracting_dims = [0] x [0] : (tensor<2x2xf32>, "
            "tensor<2x3xf32>) -> tensor<2x3xf32>\n"
            "%t = stablehlo.transpose %q, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>\n"
            "%r = stablehlo.concatenate %p, %t, dim = 1 : (tensor<3x3xf32>, tensor<3x2xf32>) -> "
            "tensor<3x5xf32>\nreturn %r : tensor<3x5xf32>",
     "tensor<3x5xf32>",
     0,
     15,
     {9, 12, 15, 0, 3, 12, 17, 22, 0, 5, 15, 22, 29, 0, 7}},
    {"dot of a slice with what is reversed",
     IOTA23 "%a = stablehlo.slice %x [0:2, 1:3] : (tensor<2x3xf32>) -> tensor<2x2xf32>\n"
            "%b = stablehlo.reverse %x, dims = [0, 1] : tensor<2x3xf32>\n"
            "%r = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<2x2xf32>, "
            "tensor<2x3xf32>) -> tensor<2x3xf32>\nreturn %r : tensor<2x3xf32>",
     "tensor<2x3xf32>",
     0,
     6,
     {13, 8, 3, 20, 13, 6}},
    {"products of a batch that are transposed alike twice",
     "%x = stablehlo.iota dim = 2 : tensor<2x2x3xf32>\n"
     "%y = stablehlo.iota dim = 1 : tensor<2x2x3xf32>\n"
     "%p = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [1] x [1] : "
     "(tensor<2x2x3xf32>, tensor<2x2x3xf32>) -> tensor<2x3x3xf32>\n"
     "%t = stablehlo.transpose %p, dims = [2, 0, 1] : (tensor<2x3x3xf32>) -> tensor<3x2x3xf32>\n"
     "%u = stablehlo.transpose %p, dims = [2, 0, 1] : (tensor<2x3x3xf32>) -> tensor<3x2x3xf32>\n"
     "%s = stablehlo.slice %t [1:2, 0:2, 0:3] : (tensor<3x2x3xf32>) -> tensor<1x2x3xf32>\n"
     "%w = stablehlo.slice %u [0:1, 0:2, 0:3] : (tensor<3x2x3xf32>) -> tensor<1x2x3xf32>\n"
     "%r = stablehlo.add %s, %w : tensor<1x2x3xf32>\nreturn %r : tensor<1x2x3xf32>",
     "tensor<1x2x3xf32>",
     0,
     6,
     {0, 2, 4, 0, 2, 4}},
    {"dynamic slice clamps",
     IOTA6 "%i = stablehlo.constant dense<[9]> : tensor<1xi32>\n"
           "%k = stablehlo.reshape %i : (tensor<1xi32>) -> tensor<i32>\n"
           "%r = stablehlo.dynamic_slice %x, %k, sizes = [2] : (tensor<6xf32>, tensor<i32>) -> "
           "tensor<2xf32>\nreturn %r : tensor<2xf32>",
     "tensor<2xf32>",
     0,
     2,
     {4, 5}},
    {"a place in what is as large is known",
     IOTA6
     "%i = stablehlo.iota dim = 0 : tensor<3xi32>\n"
     "%b = stablehlo.optimization_barrier %i : tensor<3xi32>\n"
     "%c = stablehlo.slice %b [2:3] : (tensor<3xi32>) -> tensor<1xi32>\n"
     "%k = stablehlo.reshape %c : (tensor<1xi32>) -> tensor<i32>\n"
     "%s = stablehlo.dynamic_slice %x, %k, sizes = [6] : (tensor<6xf32>, tensor<i32>) -> "
     "tensor<6xf32>\n"
     "%y = stablehlo.add %s, %x : tensor<6xf32>\n"
     "%w = stablehlo.dynamic_update_slice %x, %y, %k : (tensor<6xf32>, tensor<6xf32>, tensor<i32>)"
     " -> tensor<6xf32>\n%r = stablehlo.add %w, %x : tensor<6xf32>\nreturn %r : tensor<6xf32>",
     "tensor<6xf32>",
     0,
     6,
     {0, 3, 6, 9, 12, 15}},
    {"gather and dynamic slice of a transposed tensor",
     "%i = stablehlo.iota dim = 0 : tensor<32xf32>\n"
     "%e = stablehlo.optimization_barrier %i : tensor<32xf32>\n"
     "%x = stablehlo.reshape %e : (tensor<32xf32>) -> tensor<4x8xf32>\n"
     "%t = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>\n"
     "%k = stablehlo.constant dense<[[1], [3]]> : tensor<2x1xi32>\n"
     "%g = \"stablehlo.gather\"(%t, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], "
     "collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = "
     "array<i64: 2, 1>}> : (tensor<8x4xf32>, tensor<2x1xi32>) -> tensor<2x2xf32>\n"
     "%a = stablehlo.slice %k [0:1, 0:1] : (tensor<2x1xi32>) -> tensor<1x1xi32>\n"
     "%one = stablehlo.reshape %a : (tensor<1x1xi32>) -> tensor<i32>\n"
     "%b = stablehlo.slice %k [1:2, 0:1] : (tensor<2x1xi32>) -> tensor<1x1xi32>\n"
     "%three = stablehlo.reshape %b : (tensor<1x1xi32>) -> tensor<i32>\n"
     "%s = stablehlo.dynamic_slice %t, %one, %three, sizes = [2, 1] : (tensor<8x4xf32>, "
     "tensor<i32>, tensor<i32>) -> tensor<2x1xf32>\n"
     "%r = stablehlo.concatenate %g, %s, dim = 1 : (tensor<2x2xf32>, tensor<2x1xf32>) -> "
     "tensor<2x3xf32>\nreturn %r : tensor<2x3xf32>",
     "tensor<2x3xf32>",
     0,
     6,
     {8, 24, 25, 9, 25, 26}},
    {"update where the old value is still needed",
     IOTA6
     "%k = stablehlo.constant dense<1> : tensor<i32>\n"
     "%u = stablehlo.slice %x [3:5] : (tensor<6xf32>) -> tensor<2xf32>\n"
     "%w = stablehlo.dynamic_update_slice %x, %u, %k : (tensor<6xf32>, tensor<2xf32>, tensor<i32>)"
     " -> tensor<6xf32>\n%r = stablehlo.add %w, %x : tensor<6xf32>\nreturn %r : tensor<6xf32>",
     "tensor<6xf32>",
     0,
     6,
     {0, 4, 6, 6, 8, 10}},
    {"update of what is there, which is read where it is written, and next to it",
     IOTA6
     "%k = stablehlo.constant dense<1> : tensor<i32>\n"
     "%u = stablehlo.slice %x [1:4] : (tensor<6xf32>) -> tensor<3xf32>\n"
     "%v = stablehlo.multiply %u, %u : tensor<3xf32>\n"
     "%w = stablehlo.dynamic_update_slice %x, %v, %k : (tensor<6xf32>, tensor<3xf32>, tensor<i32>)"
     " -> tensor<6xf32>\n"
     "%p = stablehlo.slice %w [0:3] : (tensor<6xf32>) -> tensor<3xf32>\n"
     "%q = stablehlo.slice %w [1:4] : (tensor<6xf32>) -> tensor<3xf32>\n"
     "%s = stablehlo.add %p, %q : tensor<3xf32>\n"
     "%r = stablehlo.dynamic_update_slice %w, %s, %k : (tensor<6xf32>, tensor<3xf32>, tensor<i32>)"
     " -> tensor<6xf32>\nreturn %r : tensor<6xf32>",
     "tensor<6xf32>",
     0,
     6,
     {0, 1, 5, 13, 4, 5}},
    {"while that swaps",
     "%a = stablehlo.constant dense<[1., 2.]> : tensor<2xf32>\n"
     "%b = stablehlo.constant dense<[3., 4.]> : tensor<2xf32>\n"
     "%z = stablehlo.constant dense<0> : tensor<i32>\n"
     "%n = stablehlo.constant dense<3> : tensor<i32>\n"
     "%one = stablehlo.constant dense<1> : tensor<i32>\n"
     "%w:3 = stablehlo.while(%i = %z, %p = %a, %q = %b) : tensor<i32>, tensor<2xf32>, "
     "tensor<2xf32>\n cond {\n %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> "
     "tensor<i1>\n stablehlo.return %c : tensor<i1>\n } do {\n"
     "%j = stablehlo.add %i, %one : tensor<i32>\n"
     "%d = stablehlo.add %q, %q : tensor<2xf32>\n"
     "stablehlo.return %j, %d, %p : tensor<i32>, tensor<2xf32>, tensor<2xf32>\n }\n"
     "%r = stablehlo.concatenate %w#1, %w#2, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> "
     "tensor<4xf32>\nreturn %r : tensor<4xf32>",
     "tensor<4xf32>",
     0,
     4,
     {12, 16, 2, 4}},
    {"while that does not run",
     "%a = stablehlo.constant dense<[1., 2.]> : tensor<2xf32>\n"
     "%f = stablehlo.constant dense<false> : tensor<i1>\n"
     "%k = stablehlo.constant dense<0> : tensor<i32>\n"
     "%big = stablehlo.constant dense<5.> : tensor<300xf32>\n"
     "%w:2 = stablehlo.while(%p = %a, %q = %f) : tensor<2xf32>, tensor<i1>\n cond {\n"
     " stablehlo.return %q : tensor<i1>\n } do {\n"
     "%s = stablehlo.dynamic_slice %big, %k, sizes = [2] : (tensor<300xf32>, tensor<i32>) -> "
     "tensor<2xf32>\nstablehlo.return %s, %q : tensor<2xf32>, tensor<i1>\n }\n"
     "%t = stablehlo.slice %big [7:9] : (tensor<300xf32>) -> tensor<2xf32>\n"
     "%r = stablehlo.add %w#0, %t : tensor<2xf32>\nreturn %r : tensor<2xf32>",
     "tensor<2xf32>",
     0,
     2,
     {6, 7}},
    {"branches",
     INTS
     "%x = stablehlo.constant dense<[1., 2.]> : tensor<2xf32>\n"
     "%k = stablehlo.slice %i [1:2] : (tensor<6xi32>) -> tensor<1xi32>\n"
     "%n = stablehlo.reshape %k : (tensor<1xi32>) -> tensor<i32>\n"
     "%y = stablehlo.add %x, %x : tensor<2xf32>\n"
     "%r = \"stablehlo.case\"(%n) ({\n %a = stablehlo.negate %y : tensor<2xf32>\n"
     " stablehlo.return %a : tensor<2xf32>\n }, {\n stablehlo.return %x : tensor<2xf32>\n }, {\n"
     " %b = stablehlo.multiply %y, %y : tensor<2xf32>\n stablehlo.return %b : tensor<2xf32>\n"
     " }) : (tensor<i32>) -> tensor<2xf32>\nreturn %r : tensor<2xf32>",
     "tensor<2xf32>",
     0,
     2,
     {4, 16}}, /* 3 is out of range: the last */
    {"sort two by one",
     INTS IOTA6
     "%r:2 = \"stablehlo.sort\"(%i, %x) <{dimension = 0 : i64, is_stable = true}> ({\n"
     "^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<f32>):\n"
     " %l = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     " stablehlo.return %l : tensor<i1>\n }) : (tensor<6xi32>, tensor<6xf32>) -> (tensor<6xi32>, "
     "tensor<6xf32>)\nreturn %r#1 : tensor<6xf32>",
     "tensor<6xf32>",
     0,
     6,
     {5, 3, 4, 1, 2, 0}},
    {"bits of bigger and smaller elements",
     "%x = stablehlo.constant dense<[258, 1027]> : tensor<2xui32>\n"
     "%b = stablehlo.bitcast_convert %x : (tensor<2xui32>) -> tensor<2x4xui8>\n"
     "%v = stablehlo.reverse %b, dims = [0] : tensor<2x4xui8>\n"
     "%r = stablehlo.bitcast_convert %v : (tensor<2x4xui8>) -> tensor<2xui32>\n"
     "return %r : tensor<2xui32>",
     "tensor<2xui32>",
     0,
     2,
     {1027, 258}},
    {"threefry, two rows at a time", /* as XLA:CPU has it */
     "%x = stablehlo.constant dense<[3, 5]> : tensor<2xui64>\n"
     "%s, %r = stablehlo.rng_bit_generator %x, algorithm = THREE_FRY : (tensor<2xui64>) -> "
     "(tensor<2xui64>, tensor<3x3xui32>)\nreturn %r : tensor<3x3xui32>",
     "tensor<3x3xui32>",
     0,
     9,
     {1109507171, 3802093305, 849634428, 3604763515, 3166652467, 1054234490, 4095841382, 2263954335,
      167328752}},
    {"philox where it is left open",
     "%x = stablehlo.constant dense<[3, 5]> : tensor<2xui64>\n"
     "%s, %b = stablehlo.rng_bit_generator %x, algorithm = DEFAULT : (tensor<2xui64>) -> "
     "(tensor<2xui64>, tensor<4xui32>)\n"
     "%w = stablehlo.convert %b : (tensor<4xui32>) -> tensor<4xui64>\n"
     "%r = stablehlo.concatenate %w, %s, dim = 0 : (tensor<4xui64>, tensor<2xui64>) -> "
     "tensor<6xui64>\nreturn %r : tensor<6xui64>",
     "tensor<6xui64>",
     0,
     6,
     {514065308, 1112787925, 433431800, 1887756390, 3, 6}},
    {"parts of a wide complex number as narrow ones, and back",
     "%x = stablehlo.constant dense<[(3.0, 5.0)]> : tensor<1xcomplex<f64>>\n"
     "%n = stablehlo.bitcast_convert %x : (tensor<1xcomplex<f64>>) -> tensor<1x2xcomplex<f32>>\n"
     "%v = stablehlo.reverse %n, dims = [1] : tensor<1x2xcomplex<f32>>\n"
     "%w = stablehlo.bitcast_convert %v : (tensor<1x2xcomplex<f32>>) -> tensor<1xcomplex<f64>>\n"
     "%a = stablehlo.real %w : (tensor<1xcomplex<f64>>) -> tensor<1xf64>\n"
     "%b = stablehlo.imag %w : (tensor<1xcomplex<f64>>) -> tensor<1xf64>\n"
     "%r = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>"
     "\nreturn %r : tensor<2xf64>",
     "tensor<2xf64>",
     0,
     2,
     {5, 3}},
    {"bits of NaNs that signal",
     "%x = stablehlo.constant dense<[64513, 31750]> : tensor<2xui16>\n"
     "%h = stablehlo.bitcast_convert %x : (tensor<2xui16>) -> tensor<2xf16>\n"
     "%c = stablehlo.reverse %h, dims = [0] : tensor<2xf16>\n"
     "%p = stablehlo.constant dense<[true, false]> : tensor<2xi1>\n"
     "%s = stablehlo.select %p, %c, %h : tensor<2xi1>, tensor<2xf16>\n"
     "%r = stablehlo.bitcast_convert %s : (tensor<2xf16>) -> tensor<2xui16>\n"
     "return %r : tensor<2xui16>",
     "tensor<2xui16>",
     0,
     2,
     {31750, 31750}},
    {"nibbles",
     "%x = stablehlo.constant dense<[[1, -1], [7, -8]]> : tensor<2x2xi4>\n"
     "%b = stablehlo.bitcast_convert %x : (tensor<2x2xi4>) -> tensor<2xi8>\n"
     "%v = stablehlo.bitcast_convert %b : (tensor<2xi8>) -> tensor<2x2xi4>\n"
     "%w = stablehlo.convert %v : (tensor<2x2xi4>) -> tensor<2x2xi32>\n"
     "%f = stablehlo.reshape %w : (tensor<2x2xi32>) -> tensor<4xi32>\n"
     "%c = stablehlo.convert %b : (tensor<2xi8>) -> tensor<2xi32>\n"
     "%r = stablehlo.concatenate %f, %c, dim = 0 : (tensor<4xi32>, tensor<2xi32>) -> "
     "tensor<6xi32>\nreturn %r : tensor<6xi32>",
     "tensor<6xi32>",
     0,
     6,
     {1, -1, 7, -8, -15, -121}},
    {"border of a large array",
     "%x = stablehlo.iota dim = 1 : tensor<130x130xf32>\n"
     "%v = stablehlo.constant dense<7.> : tensor<f32>\n"
     "%p = stablehlo.pad %x, %v, low = [1, 2], high = [3, -1], interior = [0, 0] : "
     "(tensor<130x130xf32>, tensor<f32>) -> tensor<134x131xf32>\n"
     "%a = stablehlo.slice %p [0:2, 1:4] : (tensor<134x131xf32>) -> tensor<2x3xf32>\n"
     "%b = stablehlo.slice %p [130:132, 129:131] : (tensor<134x131xf32>) -> tensor<2x2xf32>\n"
     "%z = stablehlo.constant dense<0.> : tensor<f32>\n"
     "%s = stablehlo.reduce(%p init: %z) applies stablehlo.add across dimensions = [0, 1] : "
     "(tensor<134x131xf32>, tensor<f32>) -> tensor<f32>\n"
     "%t = stablehlo.reshape %s : (tensor<f32>) -> tensor<1xf32>\n"
     "%c = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>\n"
     "%d = stablehlo.reshape %b : (tensor<2x2xf32>) -> tensor<4xf32>\n"
     "%r = stablehlo.concatenate %c, %d, %t, dim = 0 : (tensor<6xf32>, tensor<4xf32>, "
     "tensor<1xf32>) -> tensor<11xf32>\nreturn %r : tensor<11xf32>",
     "tensor<11xf32>",
     0,
     11,
     {7, 7, 7, 7, 0, 1, 127, 128, 7, 7, 130. * 128 * 129 / 2 + 7. * (134 * 131 - 130 * 129)}},
    {"reductions of one element each",
     INTS "%c = stablehlo.reshape %i : (tensor<6xi32>) -> tensor<6x1xi32>\n"
          "%l = stablehlo.constant dense<2> : tensor<6x1xi32>\n"
          "%g = stablehlo.compare GE, %c, %l : (tensor<6x1xi32>, tensor<6x1xi32>) -> "
          "tensor<6x1xi1>\n"
          "%n = stablehlo.not %g : tensor<6x1xi1>\n"
          "%t = stablehlo.constant dense<true> : tensor<i1>\n"
          "%f = stablehlo.constant dense<false> : tensor<i1>\n"
          "%a = stablehlo.reduce(%g init: %t) applies stablehlo.and across dimensions = [1] : "
          "(tensor<6x1xi1>, tensor<i1>) -> tensor<6xi1>\n"
          "%o = stablehlo.reduce(%n init: %t) applies stablehlo.or across dimensions = [1] : "
          "(tensor<6x1xi1>, tensor<i1>) -> tensor<6xi1>\n"
          "%e = stablehlo.reduce(%n init: %f) applies stablehlo.or across dimensions = [1] : "
          "(tensor<6x1xi1>, tensor<i1>) -> tensor<6xi1>\n"
          "%m = stablehlo.constant dense<-2147483648> : tensor<i32>\n"
          "%x = stablehlo.reduce(%c init: %m) applies stablehlo.maximum across dimensions = [1] : "
          "(tensor<6x1xi32>, tensor<i32>) -> tensor<6xi32>\n"
          "%s = stablehlo.select %a, %x, %i : tensor<6xi1>, tensor<6xi32>\n"
          "%p = stablehlo.convert %o : (tensor<6xi1>) -> tensor<6xi32>\n"
          "%q = stablehlo.convert %e : (tensor<6xi1>) -> tensor<6xi32>\n"
          "%u = stablehlo.add %s, %p : tensor<6xi32>\n"
          "%v = stablehlo.add %q, %q : tensor<6xi32>\n"
          "%r = stablehlo.add %u, %v : tensor<6xi32>\nreturn %r : tensor<6xi32>",
     "tensor<6xi32>",
     0,
     6,
     {6, 4, 5, 4, 3, 3}},
    {"all-reduce over pairs, ids",
     "%p = stablehlo.partition_id : tensor<ui32>\n"
     "%f = stablehlo.convert %p : (tensor<ui32>) -> tensor<f32>\n"
     "%r = \"stablehlo.all_reduce\"(%f) <{channel_handle = #stablehlo.channel_handle<handle = 1, "
     "type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, "
     "use_global_device_ids}> ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
     " %s = stablehlo.add %a, %b : tensor<f32>\n stablehlo.return %s : tensor<f32>\n"
     " }) : (tensor<f32>) -> tensor<f32>\nreturn %r : tensor<f32>",
     "tensor<f32>",
     4,
     4,
     {2, 4, 2, 4}},
    {"permute in a ring",
     "%p = stablehlo.partition_id : tensor<ui32>\n"
     "%f = stablehlo.convert %p : (tensor<ui32>) -> tensor<f32>\n"
     "%r = \"stablehlo.collective_permute\"(%f) <{channel_handle = #stablehlo.channel_handle<handle"
     " = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : "
     "(tensor<f32>) -> tensor<f32>\nreturn %r : tensor<f32>",
     "tensor<f32>",
     3,
     3,
     {0, 0, 1}},
};

static char *source_of(const run_case *c) {
  size_t n = strlen(c->body) + 2 * strlen(c->type) + 200;
  char *text = malloc(n);
  snprintf(text, n, "module @t {\nfunc.func public @main() -> %s {\n%s : %s\n}\n}\n", c->type,
           c->body, c->type);
  char *extra = strstr(text, c->body) + strlen(c->body); /* the body names its type itself */
  memmove(extra, "\n}\n}\n", 6);
  return text;
}

typedef struct outcome {
  dev_event *done;
} outcome;
static void finished(void *user, status error) {
  dev_event_set(((outcome *)user)->done, status_copy(error));
}

static void compare(const run_case *c, const executable *e, void *const *results) {
  const compile_tensor *t = &e->results[0];
  u64 count = 1;
  for (size_t d = 0; d < t->local_dims.len; d++) count *= (u64)t->local_dims.data[d];
  CHECK(count * e->num_partitions == c->n);
  for (u32 k = 0; k < c->n; k++) {
    const char *at = (const char *)results[k / count] + k % count * dtype_size(t->type);
    double got = num_to_f64(t->type, at);
    bool close = fabs(got - c->expect[k]) <= 1e-6 * (1 + fabs(c->expect[k]));
    CHECK(close);
    if (!close)
      fprintf(stderr, "%s: element %u: expected %g, found %g\n", c->name, k, c->expect[k], got);
  }
}

static void run_one(executor *pool, const run_case *c) {
  char *text = source_of(c);
  executable *e = NULL;
  compile_options o = {
      .file = str_of(c->name), .num_partitions = c->devices, .keep_denormals = true};
  status bad = compile_source(str_of(text), &o, &e);
  CHECK(!bad);
  if (bad) {
    fprintf(stderr, "%s: %s\n", c->name, status_message(bad).data);
    status_free(bad);
    free(text);
    return;
  }
  executor_image *image = NULL;
  CHECK(!executor_image_create(pool, e->prog, NULL, NULL, &image));
  u32 n = e->num_partitions, devices[8];
  void *results[8];
  executor_memory *memory[8];
  for (u32 i = 0; i < n; i++) {
    devices[i] = i, results[i] = aligned_alloc(64, 4096);
    memory[i] = executor_import(pool, i, results[i], 4096);
  }
  outcome done = {dev_event_create()};
  bad = executor_launch(
      pool,
      &(executor_launch_args){
          .image = image, .devices = devices, .results = memory, .done = finished, .user = &done});
  if (!bad) bad = status_copy(dev_event_await(done.done));
  CHECK(!bad);
  if (bad)
    fprintf(stderr, "%s: %s\n", c->name, status_message(bad).data);
  else
    compare(c, e, results);
  status_free(bad);
  dev_event_release(done.done);
  executor_image_release(pool, image);
  for (u32 i = 0; i < n; i++) executor_forget(pool, memory[i]), free(results[i]);
  executable_release(e);
  free(text);
}

/* ---- what must fail, and how ---- */

typedef struct bad_case {
  const char *text;
  u32 devices;
  status_code code;
  const char *message; /* part of it */
  const char *mesh;    /* override */
} bad_case;

#define MESH_MODULE                                                                                \
  "module {\nsdy.mesh @mesh = <[\"x\"=4]>\nfunc.func @main(%a: tensor<8xf32> {sdy.sharding = "     \
  "#sdy.sharding<@mesh, [{\"x\"}]>}) -> tensor<8xf32> {\nreturn %a : tensor<8xf32>\n}\n}\n"

static const bad_case bad_cases[] = {
    {"module { func.func @f() { return } func.func @g() { return } }", 0, STATUS_INVALID_ARGUMENT,
     "no function @main", NULL},
    {"modul", 0, STATUS_INVALID_ARGUMENT, "bad:1:1: error:", NULL},
    {MESH_MODULE, 3, STATUS_INVALID_ARGUMENT, "has 4 devices", NULL},
    {MESH_MODULE, 0, STATUS_INVALID_ARGUMENT, "no mesh @m2", "m2=x=4"},
    {MESH_MODULE, 0, STATUS_INVALID_ARGUMENT, "expected MESH=AXIS=SIZE", "mesh=x"},
    {MESH_MODULE, 0, STATUS_INVALID_ARGUMENT, "\"x\"", "mesh=y=4"},
};

static void fail_one(const bad_case *c) {
  const char *meshes[] = {c->mesh, NULL};
  executable *e = NULL;
  compile_options o = {.file = STR("bad"), .num_partitions = c->devices, .mesh_overrides = meshes};
  status s = compile_source(str_of(c->text), &o, &e);
  CHECK(s && !e);
  CHECK(status_get_code(s) == c->code);
  bool found = s && strstr(status_message(s).data, c->message);
  CHECK(found);
  if (!found)
    fprintf(stderr, "expected '%s' in:\n%s\n", c->message, s ? status_message(s).data : "");
  status_free(s);
  executable_release(e);
}

/* The Nth allocation fails: an error each time, and nothing is leaked. */
typedef struct failing {
  i64 left, live;
} failing;
static void *failing_fn(void *user, void *p, size_t old_size, size_t new_size) {
  failing *f = user;
  if (new_size > old_size && f->left-- <= 0) return NULL;
  void *r = mem_system.fn(NULL, p, old_size, new_size);
  if (!p && r) f->live++;
  if (p && !new_size) f->live--;
  return r;
}

static void out_of_memory(void) {
  for (i64 n = 0;; n++) {
    failing f = {.left = n};
    allocator mem = {failing_fn, &f};
    executable *e = NULL;
    status s = compile_source(STR(MESH_MODULE), &(compile_options){.mem = &mem}, &e);
    bool fine = s == NULL;
    CHECK(fine || status_get_code(s) == STATUS_RESOURCE_EXHAUSTED);
    status_free(s);
    executable_release(e);
    CHECK(f.live == 0);
    if (fine || n > 100000) break;
  }
}

/* Serialized, it is the same executable; cut short or with a bit turned over, it is refused or one
 * whose program is valid. */
static void serialized(void) {
  executable *e = NULL, *again = NULL;
  buf bytes, second;
  buf_init(&bytes, &mem_system), buf_init(&second, &mem_system);
  CHECK(!compile_source(STR(MESH_MODULE), NULL, &e));
  executable_serialize(e, &bytes);
  CHECK(buf_ok(&bytes) && !executable_deserialize(NULL, buf_view(&bytes), &again));
  CHECK(str_eq(e->name, again->name) && e->fingerprint == again->fingerprint);
  CHECK(str_eq(e->params[0].op_sharding, again->params[0].op_sharding));
  executable_serialize(again, &second);
  CHECK(str_eq(buf_view(&bytes), buf_view(&second)));
  executable_release(again);
  executable_release(e);
  for (size_t i = 0; i < bytes.len; i++) {
    status s = executable_deserialize(NULL, (str){bytes.data, i}, &again);
    CHECK(s && !again);
    status_free(s);
    for (int bit = 0; bit < 8; bit++) {
      bytes.data[i] ^= (char)(1 << bit);
      s = executable_deserialize(NULL, buf_view(&bytes), &again);
      CHECK((s != NULL) == (again == NULL));
      status_free(s);
      executable_release(again);
      bytes.data[i] ^= (char)(1 << bit);
    }
  }
  buf_deinit(&bytes), buf_deinit(&second);
}

int main(void) {
  executor *pool = NULL;
  CHECK(!exec_create(&(exec_options){.kind = "plain"}, &pool));
  for (size_t i = 0; i < COUNT(cases); i++) run_one(pool, &cases[i]);
  executor_release(pool);
  CHECK(!exec_create(&(exec_options){.kind = "cpu", .threads = 2}, &pool));
  for (size_t i = 0; i < COUNT(cases); i++) run_one(pool, &cases[i]);
  for (size_t i = 0; i < COUNT(bad_cases); i++) fail_one(&bad_cases[i]);
  out_of_memory();
  serialized();
  executor_release(pool);
  return UNIT_END();
}
