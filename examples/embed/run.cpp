// The same from C++: handles in unique_ptr, errors as exceptions.
//
//   c++ run.cpp $(pkg-config --cflags --libs terrazzo)
#include <cstring>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <terrazzo/terrazzo.h>
#include <vector>

namespace {

void check(tz_error *e) {
  if (!e) return;
  std::string message = tz_error_message(e);
  tz_error_free(e);
  throw std::runtime_error(message);
}

struct Free {
  void operator()(tz_program *p) const { tz_program_free(p); }
  void operator()(tz_runtime *r) const { tz_runtime_free(r); }
};
using Program = std::unique_ptr<tz_program, Free>;
using Runtime = std::unique_ptr<tz_runtime, Free>;

Program compile(const char *source, unsigned devices) {
  tz_compile_options o = {};
  o.struct_size = sizeof o;
  o.devices = devices;
  tz_program *p;
  check(tz_compile(source, std::strlen(source), &o, &p));
  return Program(p);
}

Runtime start() {
  tz_runtime *r;
  check(tz_runtime_create(0, &r));
  return Runtime(r);
}

} // namespace

int main() try {
  Program p = compile(R"(
    sdy.mesh @m = <["x"=8]>
    func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> tensor<f32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0]
          : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    })", 8);
  Runtime r = start();
  std::vector<float> a(16, 0.5f), sum(1);
  const void *in[] = {a.data()};
  void *out[] = {sum.data()};
  check(tz_run(r.get(), p.get(), in, out));
  std::cout << sum[0] << " on " << tz_program_devices(p.get()) << " devices\n";
} catch (const std::exception &e) {
  std::cerr << e.what() << "\n";
  return 1;
}
