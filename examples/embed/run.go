// The same from Go, through cgo.
//
//	go run run.go      with PKG_CONFIG_PATH where terrazzo.pc is
package main

/*
#cgo pkg-config: terrazzo
#include <stdlib.h>
#include <terrazzo/terrazzo.h>

// Go may not keep pointers to its memory in C's, so the lists of them are made here.
static tz_error *run(tz_runtime *r, tz_program *p, void *input, void *output) {
  const void *in[] = {input};
  void *out[] = {output};
  return tz_run(r, p, in, out);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"log"
	"unsafe"
)

func check(e *C.tz_error) error {
	if e == nil {
		return nil
	}
	defer C.tz_error_free(e)
	return errors.New(C.GoString(C.tz_error_message(e)))
}

const source = `
sdy.mesh @m = <["x"=8]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> tensor<16xf32> {
  %0 = stablehlo.multiply %a, %a : tensor<16xf32>
  return %0 : tensor<16xf32>
}`

func square(values []float32) ([]float32, error) {
	text := C.CString(source)
	defer C.free(unsafe.Pointer(text))
	var p *C.tz_program
	if err := check(C.tz_compile(text, C.size_t(len(source)), nil, &p)); err != nil {
		return nil, err
	}
	defer C.tz_program_free(p)
	var r *C.tz_runtime
	if err := check(C.tz_runtime_create(0, &r)); err != nil {
		return nil, err
	}
	defer C.tz_runtime_free(r)
	out := make([]float32, len(values))
	return out, check(C.run(r, p, unsafe.Pointer(&values[0]), unsafe.Pointer(&out[0])))
}

func main() {
	values := make([]float32, 16)
	for i := range values {
		values[i] = float32(i)
	}
	squares, err := square(values)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(squares[:5])
}
