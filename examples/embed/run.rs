//! The same from Rust, without a crate: the functions that it calls are declared here.
//!
//!   rustc run.rs $(pkg-config --libs-only-L terrazzo) -l terrazzo
use std::ffi::{c_char, c_void, CStr};
use std::{process, ptr};

#[repr(C)]
struct CompileOptions {
    struct_size: usize, // what follows may be left out: then it is zero to the library
    file: *const c_char,
    devices: u32,
}

#[link(name = "terrazzo")]
extern "C" {
    fn tz_compile(source: *const u8, length: usize, options: *const CompileOptions,
                  out: *mut *mut c_void) -> *mut c_void;
    fn tz_program_free(program: *mut c_void);
    fn tz_runtime_create(threads: u32, out: *mut *mut c_void) -> *mut c_void;
    fn tz_runtime_free(runtime: *mut c_void);
    fn tz_run(runtime: *mut c_void, program: *const c_void, inputs: *const *const c_void,
              outputs: *const *mut c_void) -> *mut c_void;
    fn tz_error_message(error: *const c_void) -> *const c_char;
    fn tz_error_free(error: *mut c_void);
}

fn check(error: *mut c_void) -> Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    unsafe {
        let text = CStr::from_ptr(tz_error_message(error)).to_string_lossy().into_owned();
        tz_error_free(error);
        Err(text)
    }
}

struct Program(*mut c_void);
impl Program {
    fn compile(source: &str, devices: u32) -> Result<Program, String> {
        let options = CompileOptions {
            struct_size: std::mem::size_of::<CompileOptions>(),
            file: ptr::null(),
            devices,
        };
        let mut p = Program(ptr::null_mut());
        check(unsafe { tz_compile(source.as_ptr(), source.len(), &options, &mut p.0) })?;
        Ok(p)
    }
}
impl Drop for Program {
    fn drop(&mut self) {
        unsafe { tz_program_free(self.0) }
    }
}

struct Runtime(*mut c_void);
impl Runtime {
    fn start() -> Result<Runtime, String> {
        let mut r = Runtime(ptr::null_mut());
        check(unsafe { tz_runtime_create(0, &mut r.0) })?;
        Ok(r)
    }
    fn run(&self, p: &Program, input: &[f32], output: &mut [f32]) -> Result<(), String> {
        let (inputs, outputs) = ([input.as_ptr().cast()], [output.as_mut_ptr().cast()]);
        check(unsafe { tz_run(self.0, p.0, inputs.as_ptr(), outputs.as_ptr()) })
    }
}
impl Drop for Runtime {
    fn drop(&mut self) {
        unsafe { tz_runtime_free(self.0) }
    }
}

const SOURCE: &str = r#"
sdy.mesh @m = <["x"=8]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> tensor<16xf32> {
  %0 = stablehlo.multiply %a, %a : tensor<16xf32>
  return %0 : tensor<16xf32>
}"#;

fn main() {
    let done = (|| {
        let (program, runtime) = (Program::compile(SOURCE, 8)?, Runtime::start()?);
        let input: Vec<f32> = (0..16).map(|i| i as f32).collect();
        let mut output = vec![0f32; 16];
        runtime.run(&program, &input, &mut output)?;
        println!("{:?}", &output[..5]);
        Program::compile("func.func", 8).map(|_| ())
    })();
    if let Err(text) = done {
        println!("refused: {}", text.lines().next().unwrap_or(""));
        process::exit(0);
    }
}
