// Bytes over a constant are multiplied by its inverse, and what is left corrected: the same quotients
// as by a divisor that is not known before.
// RUN: terrazzo run %s
// RUN: env TERRAZZO_KERNELS=v3 terrazzo run %s
// RUN: env TERRAZZO_JIT=0 terrazzo run %s

func.func @main() {
  %u = stablehlo.constant dense<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3B4B5B6B7B8B9BABBBCBDBEBFC0C1C2C3C4C5C6C7C8C9CACBCCCDCECFD0D1D2D3D4D5D6D7D8D9DADBDCDDDEDFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEFF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF"> : tensor<256xui8>
  %ux = stablehlo.convert %u : (tensor<256xui8>) -> tensor<256xf32>
  %uall = stablehlo.broadcast_in_dim %ux, dims = [1] : (tensor<256xf32>) -> tensor<6x256xf32>
  %d = stablehlo.constant dense<[2.550000e+02, 3.000000e+00, 1.000000e+01, 7.000000e+00, -1.275000e+02, 1.000000e-01]> : tensor<6xf32>
  %dall = stablehlo.broadcast_in_dim %d, dims = [0] : (tensor<6xf32>) -> tensor<6x256xf32>
  %uwant = stablehlo.divide %uall, %dall : tensor<6x256xf32>
  %ub0 = stablehlo.reshape %u : (tensor<256xui8>) -> tensor<1x256xui8>
  %ux0 = stablehlo.convert %ub0 : (tensor<1x256xui8>) -> tensor<1x256xf32>
  %uc0 = stablehlo.constant dense<2.550000e+02> : tensor<1x256xf32>
  %uq0 = stablehlo.divide %ux0, %uc0 : tensor<1x256xf32>
  %uw0 = stablehlo.slice %uwant [0:1, 0:256] : (tensor<6x256xf32>) -> tensor<1x256xf32>
  %ur0 = stablehlo.reshape %uw0 : (tensor<1x256xf32>) -> tensor<1x256xf32>
  check.expect_eq %uq0, %ur0 : tensor<1x256xf32>
  %ub1 = stablehlo.reshape %u : (tensor<256xui8>) -> tensor<2x128xui8>
  %ux1 = stablehlo.convert %ub1 : (tensor<2x128xui8>) -> tensor<2x128xf32>
  %uc1 = stablehlo.constant dense<3.000000e+00> : tensor<2x128xf32>
  %uq1 = stablehlo.divide %ux1, %uc1 : tensor<2x128xf32>
  %uw1 = stablehlo.slice %uwant [1:2, 0:256] : (tensor<6x256xf32>) -> tensor<1x256xf32>
  %ur1 = stablehlo.reshape %uw1 : (tensor<1x256xf32>) -> tensor<2x128xf32>
  check.expect_eq %uq1, %ur1 : tensor<2x128xf32>
  %ub2 = stablehlo.reshape %u : (tensor<256xui8>) -> tensor<4x64xui8>
  %ux2 = stablehlo.convert %ub2 : (tensor<4x64xui8>) -> tensor<4x64xf32>
  %uc2 = stablehlo.constant dense<1.000000e+01> : tensor<4x64xf32>
  %uq2 = stablehlo.divide %ux2, %uc2 : tensor<4x64xf32>
  %uw2 = stablehlo.slice %uwant [2:3, 0:256] : (tensor<6x256xf32>) -> tensor<1x256xf32>
  %ur2 = stablehlo.reshape %uw2 : (tensor<1x256xf32>) -> tensor<4x64xf32>
  check.expect_eq %uq2, %ur2 : tensor<4x64xf32>
  %ub3 = stablehlo.reshape %u : (tensor<256xui8>) -> tensor<8x32xui8>
  %ux3 = stablehlo.convert %ub3 : (tensor<8x32xui8>) -> tensor<8x32xf32>
  %uc3 = stablehlo.constant dense<7.000000e+00> : tensor<8x32xf32>
  %uq3 = stablehlo.divide %ux3, %uc3 : tensor<8x32xf32>
  %uw3 = stablehlo.slice %uwant [3:4, 0:256] : (tensor<6x256xf32>) -> tensor<1x256xf32>
  %ur3 = stablehlo.reshape %uw3 : (tensor<1x256xf32>) -> tensor<8x32xf32>
  check.expect_eq %uq3, %ur3 : tensor<8x32xf32>
  %ub4 = stablehlo.reshape %u : (tensor<256xui8>) -> tensor<16x16xui8>
  %ux4 = stablehlo.convert %ub4 : (tensor<16x16xui8>) -> tensor<16x16xf32>
  %uc4 = stablehlo.constant dense<-1.275000e+02> : tensor<16x16xf32>
  %uq4 = stablehlo.divide %ux4, %uc4 : tensor<16x16xf32>
  %uw4 = stablehlo.slice %uwant [4:5, 0:256] : (tensor<6x256xf32>) -> tensor<1x256xf32>
  %ur4 = stablehlo.reshape %uw4 : (tensor<1x256xf32>) -> tensor<16x16xf32>
  check.expect_eq %uq4, %ur4 : tensor<16x16xf32>
  %ub5 = stablehlo.reshape %u : (tensor<256xui8>) -> tensor<32x8xui8>
  %ux5 = stablehlo.convert %ub5 : (tensor<32x8xui8>) -> tensor<32x8xf32>
  %uc5 = stablehlo.constant dense<1.000000e-01> : tensor<32x8xf32>
  %uq5 = stablehlo.divide %ux5, %uc5 : tensor<32x8xf32>
  %uw5 = stablehlo.slice %uwant [5:6, 0:256] : (tensor<6x256xf32>) -> tensor<1x256xf32>
  %ur5 = stablehlo.reshape %uw5 : (tensor<1x256xf32>) -> tensor<32x8xf32>
  check.expect_eq %uq5, %ur5 : tensor<32x8xf32>
  %s = stablehlo.constant dense<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3B4B5B6B7B8B9BABBBCBDBEBFC0C1C2C3C4C5C6C7C8C9CACBCCCDCECFD0D1D2D3D4D5D6D7D8D9DADBDCDDDEDFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEFF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF"> : tensor<256xi8>
  %sx = stablehlo.convert %s : (tensor<256xi8>) -> tensor<256xf32>
  %sall = stablehlo.broadcast_in_dim %sx, dims = [1] : (tensor<256xf32>) -> tensor<6x256xf32>
  %swant = stablehlo.divide %sall, %dall : tensor<6x256xf32>
  %sb0 = stablehlo.reshape %s : (tensor<256xi8>) -> tensor<1x256xi8>
  %sx0 = stablehlo.convert %sb0 : (tensor<1x256xi8>) -> tensor<1x256xf32>
  %sc0 = stablehlo.constant dense<2.550000e+02> : tensor<1x256xf32>
  %sq0 = stablehlo.divide %sx0, %sc0 : tensor<1x256xf32>
  %sw0 = stablehlo.slice %swant [0:1, 0:256] : (tensor<6x256xf32>) -> tensor<1x256xf32>
  %sr0 = stablehlo.reshape %sw0 : (tensor<1x256xf32>) -> tensor<1x256xf32>
  check.expect_eq %sq0, %sr0 : tensor<1x256xf32>
  %sb1 = stablehlo.reshape %s : (tensor<256xi8>) -> tensor<2x128xi8>
  %sx1 = stablehlo.convert %sb1 : (tensor<2x128xi8>) -> tensor<2x128xf32>
  %sc1 = stablehlo.constant dense<3.000000e+00> : tensor<2x128xf32>
  %sq1 = stablehlo.divide %sx1, %sc1 : tensor<2x128xf32>
  %sw1 = stablehlo.slice %swant [1:2, 0:256] : (tensor<6x256xf32>) -> tensor<1x256xf32>
  %sr1 = stablehlo.reshape %sw1 : (tensor<1x256xf32>) -> tensor<2x128xf32>
  check.expect_eq %sq1, %sr1 : tensor<2x128xf32>
  %sb2 = stablehlo.reshape %s : (tensor<256xi8>) -> tensor<4x64xi8>
  %sx2 = stablehlo.convert %sb2 : (tensor<4x64xi8>) -> tensor<4x64xf32>
  %sc2 = stablehlo.constant dense<1.000000e+01> : tensor<4x64xf32>
  %sq2 = stablehlo.divide %sx2, %sc2 : tensor<4x64xf32>
  %sw2 = stablehlo.slice %swant [2:3, 0:256] : (tensor<6x256xf32>) -> tensor<1x256xf32>
  %sr2 = stablehlo.reshape %sw2 : (tensor<1x256xf32>) -> tensor<4x64xf32>
  check.expect_eq %sq2, %sr2 : tensor<4x64xf32>
  %sb3 = stablehlo.reshape %s : (tensor<256xi8>) -> tensor<8x32xi8>
  %sx3 = stablehlo.convert %sb3 : (tensor<8x32xi8>) -> tensor<8x32xf32>
  %sc3 = stablehlo.constant dense<7.000000e+00> : tensor<8x32xf32>
  %sq3 = stablehlo.divide %sx3, %sc3 : tensor<8x32xf32>
  %sw3 = stablehlo.slice %swant [3:4, 0:256] : (tensor<6x256xf32>) -> tensor<1x256xf32>
  %sr3 = stablehlo.reshape %sw3 : (tensor<1x256xf32>) -> tensor<8x32xf32>
  check.expect_eq %sq3, %sr3 : tensor<8x32xf32>
  %sb4 = stablehlo.reshape %s : (tensor<256xi8>) -> tensor<16x16xi8>
  %sx4 = stablehlo.convert %sb4 : (tensor<16x16xi8>) -> tensor<16x16xf32>
  %sc4 = stablehlo.constant dense<-1.275000e+02> : tensor<16x16xf32>
  %sq4 = stablehlo.divide %sx4, %sc4 : tensor<16x16xf32>
  %sw4 = stablehlo.slice %swant [4:5, 0:256] : (tensor<6x256xf32>) -> tensor<1x256xf32>
  %sr4 = stablehlo.reshape %sw4 : (tensor<1x256xf32>) -> tensor<16x16xf32>
  check.expect_eq %sq4, %sr4 : tensor<16x16xf32>
  %sb5 = stablehlo.reshape %s : (tensor<256xi8>) -> tensor<32x8xi8>
  %sx5 = stablehlo.convert %sb5 : (tensor<32x8xi8>) -> tensor<32x8xf32>
  %sc5 = stablehlo.constant dense<1.000000e-01> : tensor<32x8xf32>
  %sq5 = stablehlo.divide %sx5, %sc5 : tensor<32x8xf32>
  %sw5 = stablehlo.slice %swant [5:6, 0:256] : (tensor<6x256xf32>) -> tensor<1x256xf32>
  %sr5 = stablehlo.reshape %sw5 : (tensor<1x256xf32>) -> tensor<32x8xf32>
  check.expect_eq %sq5, %sr5 : tensor<32x8xf32>
  return
}
