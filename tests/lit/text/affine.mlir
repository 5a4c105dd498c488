// Affine maps and sets, simplified as MLIR does.
// RUN: terrazzo opt -mlir-print-local-scope -split-input-file %s | FileCheck %s

// CHECK: t.a = affine_map<(d0, d1)[s0] -> (d0 + d1 * 2 + s0, 3, d1 floordiv 4, (d0 + 1) mod 2, d0 ceildiv 3)>
module attributes {t.a = affine_map<(i, j)[s] -> (i + j * 2 + s, 3, j floordiv 4, (i + 1) mod 2, i ceildiv 3)>} {}

// -----

// CHECK: t.a = affine_map<(d0) -> (d0, 0, 1, 3, -4, 2, 4)>
module attributes {t.a = affine_map<(d0) -> (d0 floordiv 1, d0 mod 1, 7 mod 3, 7 floordiv 2, -7 floordiv 2, -7 mod 3, 7 ceildiv 2)>} {}

// -----

// CHECK: t.a = affine_map<(d0, d1) -> (d0 * -3 - d1 * 5 + 2, d0 mod 4, d0 * 5, -(d0 + 1))>
module attributes {t.a = affine_map<(d0, d1) -> (d0 * -3 + 2 - d1 * 5, d0 - (d0 floordiv 4) * 4, d0 * 2 + d0 * 3, -(d0 + 1))>} {}

// -----

// CHECK: t.a = affine_set<(d0)[s0] : (d0 - 1 >= 0, -d0 + s0 >= 0, d0 == 0)>
module attributes {t.a = affine_set<(d0)[s0] : (d0 - 1 >= 0, d0 <= s0, d0 == 0)>} {}

// -----

// The least number, which is one more behind a minus than numbers go.
// CHECK: t.a = affine_map<(d0, d1) -> (d0 - d1 * 9223372036854775808, -9223372036854775808, d0 - 9223372036854775808, d0 - (d1 - 5))>
module attributes {t.a = affine_map<(d0, d1) -> (d0 - d1 * 9223372036854775808, -9223372036854775808, d0 - 1 - 9223372036854775807, d0 - (d1 - 5))>} {}
