/* The encodings of every primitive, for AVX-512 and for AVX2, as a disassembler reads them
 * (objdump, of binutils). */
#include "exec/jit_x86_regs.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/unit.h"

static const u8 numbers[] = {0, 5, 8, 15, 17, 31};

static const char *const ids[JP_COUNT_] = {
#define PRIM(id, ...) #id,
#include "exec/jit_prims.def"
#undef PRIM
};

/* What the disassembler calls it, where that is not v and the primitive's name; up to its length.
 */
static const char *const names[JP_COUNT_] = {
    [JP_const32] = "vbroadcastss", [JP_const64] = "vbroadcastsd", [JP_store_bytes] = "vmovq",
    [JP_one32] = "vbroadcastss",   [JP_load32] = "vmovups",       [JP_load16] = "vpmovzxwd",
    [JP_load16s] = "vpmovsxwd",    [JP_load8] = "vpmovzxbd",      [JP_load8s] = "vpmovsxbd",
    [JP_load_half] = "vcvtph2ps",  [JP_load_words] = "vmovdqu16", [JP_store32] = "vmovups",
    [JP_store16] = "vpmovdw",      [JP_store8] = "vpmovdb",       [JP_store_half] = "vmovdqu16",
    [JP_fmaddps] = "vfmadd213ps",  [JP_fmsubps] = "vfmsub213ps",  [JP_fnmaddps] = "vfnmadd213ps",
    [JP_fmaddpd] = "vfmadd213pd",  [JP_cmpps] = "vcmpps",         [JP_pcmpd] = "vpcmpd",
    [JP_pcmpud] = "vpcmpud",       [JP_places] = "vmovups",       [JP_one64] = "vbroadcastsd",
    [JP_load64] = "vmovupd",       [JP_load64h] = "vmovupd",      [JP_store64] = "vmovupd",
    [JP_store64h] = "vmovupd",     [JP_fmsubpd] = "vfmsub213pd",  [JP_fnmaddpd] = "vfnmadd213pd",
    [JP_cmppd] = "vcmppd",         [JP_pcmpq] = "vpcmpq",         [JP_pcmpuq] = "vpcmpuq",
    [JP_halves] = "vmovups",       [JP_numbers] = "vmovups",      [JP_load128] = "vmovupd",
    [JP_load128b] = "vmovupd",     [JP_load128c] = "vmovupd",     [JP_load128d] = "vmovupd",
    [JP_store128] = "vmovupd",     [JP_store128b] = "vmovupd",    [JP_store128c] = "vmovupd",
    [JP_store128d] = "vmovupd",    [JP_load_all] = "vmovdqu16",   [JP_load8w] = "vpmovzxbw",
    [JP_load8sw] = "vpmovsxbw",    [JP_store_all] = "vmovdqu16",  [JP_store8w] = "vpmovwb",
    [JP_pcmpw] = "vpcmpw",         [JP_pcmpuw] = "vpcmpuw",       [JP_load8b] = "vmovdqu8",
    [JP_store8b] = "vmovdqu8",     [JP_pcmpb] = "vpcmpb",         [JP_pcmpub] = "vpcmpub",
};

typedef struct expected {
  char text[96];
} expected;
static VEC(expected) wants;

/* The same with AVX2, where it is another one. */
static const char *const narrow_names[JP_COUNT_] = {
    [JP_pandd] = "vpand",
    [JP_pandnd] = "vpandn",
    [JP_pord] = "vpor",
    [JP_pxord] = "vpxor",
    [JP_pandq] = "vpand",
    [JP_porq] = "vpor",
    [JP_pxorq] = "vpxor",
    [JP_pblendmq] = "vblendvpd",
    [JP_const64] = "vbroadcastsd",
    [JP_store_half] = "vmovdqu",
    [JP_load_all] = "vmovdqu",
    [JP_store_all] = "vmovdqu",
    [JP_load8b] = "vmovdqu",
    [JP_store8b] = "vmovdqu",
    [JP_store8w] = "vmovdqu",
    [JP_pblendmw] = "vpblendvb",
    [JP_pblendmb] = "vpblendvb",
    [JP_pblendmd] = "vblendvps",
    [JP_rndscaleps] = "vroundps",
    [JP_rndscalepd] = "vroundpd",
    [JP_extracti64x4] = "vextracti128",
    [JP_inserti64x4] = "vinserti128",
};

static void want(arena *a, jit_prim p, bool avx2, const char *operands) {
  const char *name = avx2 && narrow_names[p] ? narrow_names[p] : names[p];
  expected e;
  bool is_mask = jit_prim_infos[p].shape >= JIT_K3;
  if (name)
    snprintf(e.text, sizeof e.text, "%s %s", name, operands);
  else
    snprintf(e.text, sizeof e.text, "%s%s %s", is_mask ? "" : "v", ids[p], operands);
  for (char *z = e.text; avx2 && (z = strstr(z, "ymm"));) *z = 'x';
  for (char *z = e.text; avx2 && (z = strstr(z, "zmm"));) *z = 'y';
  VEC_PUSH(a, wants, e);
}

static const char *const gprs[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                   "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

static bool narrows(u32 prim) {
  return prim == JP_cvtneps2bf16 || prim == JP_cvtpd2ps || prim == JP_cvttpd2dq ||
         prim == JP_cvttpd2udq || prim == JP_cvtqq2ps || prim == JP_cvtuqq2ps;
}

/* One primitive of masks. */
static void add_masks(emit *e, jit_prim at, u32 d, u32 a, u32 b) {
  bool of_two = jit_prim_infos[at].shape == JIT_K3;
  x86_op op = regs_op(e, at);
  char text[80];
  op.length = of_two;
  snprintf(text, sizeof text, of_two ? "k%u,k%u,k%u" : "k%u,k%u", d, of_two ? a : b, b);
  if (at == JP_kshiftrw) snprintf(text, sizeof text, "k%u,k%u,0x8", d, b);
  x86_vex(&e->code, op, d, of_two ? a : 0, x86_reg(b), at == JP_kshiftrw ? 8 : -1);
  want(e->a, at, false, text);
}

/* One primitive with three registers; memory is at each base, the index is rcx. */
static void add_one(emit *e, jit_prim at, u32 d, u32 a, u32 b) {
  const jit_prim_info *p = &jit_prim_infos[at];
  bool avx2 = is_avx2(e);
  x86_op op = regs_op(e, at);
  char text[80];
  u32 base = b & 15, k = d & 7;
  x86_rm m = {.memory = true, .base = (u8)base, .index = RCX, .scale = 2, .disp = (i32)(64 * a)};
  switch ((jit_shape)p->shape) {
  case JIT_X3:
  case JIT_FMA:
    snprintf(text, sizeof text, "zmm%u,zmm%u,zmm%u", d, a, b);
    regs_put(e, op, d, a, x86_reg(b), -1);
    break;
  case JIT_SHIFT:
    snprintf(text, sizeof text, "zmm%u,zmm%u,0x5", d, b);
    regs_put(e, op, p->more, d, x86_reg(b), 5);
    break;
  case JIT_CMP:
  case JIT_TEST:
    snprintf(text, sizeof text, avx2 ? "zmm%u,zmm%u,zmm%u" : "k%u,zmm%u,zmm%u", avx2 ? d : k, a, b);
    regs_put(e, op, avx2 ? d : k, a, x86_reg(b), p->shape == JIT_CMP ? 3 : -1);
    break;
  case JIT_BLEND:
    op.mask = 3;
    snprintf(text, sizeof text, avx2 ? "zmm%u,zmm%u,zmm%u,zmm3" : "zmm%u{k3},zmm%u,zmm%u", d, a, b);
    regs_put(e, op, d, a, x86_reg(b), avx2 ? 3 << 4 : -1);
    break;
  case JIT_K3:
  case JIT_K2:
    add_masks(e, at, k, a & 7, b & 7);
    return;
  case JIT_X2:
  case JIT_X2I:
    if (p->more) return; /* these have what they write to in r/m */
    snprintf(text, sizeof text, narrows(at) ? "ymm%u,zmm%u" : "zmm%u,", d, b);
    regs_put(e, op, d, 0, x86_reg(b), p->shape == JIT_X2I ? 9 : -1);
    break;
  case JIT_X3I:
    snprintf(text, sizeof text,
             at == JP_inserti64x4 ? "zmm%u,zmm%u,ymm%u,0x1" : "zmm%u,zmm%u,zmm%u", d, a, b);
    regs_put(e, op, d, a, x86_reg(b), 1);
    break;
  case JIT_LOAD:
  case JIT_CONST:
    if (p->class == JIT_K || at == JP_uppers) return;
    snprintf(text, sizeof text, "zmm%u,[%s+rcx*4", d, gprs[base]);
    regs_put(e, op, d, 0, m, -1);
    break;
  case JIT_STORE:
    if (at == JP_storek) return;
    if (at == JP_store_half) op.length = 1;
    if (at == JP_store_bytes) op.length = 0;
    snprintf(text, sizeof text, "[%s+rcx*4", gprs[base]);
    regs_put(e, op, d, 0, m, -1);
    break;
  default:
    return;
  }
  want(e->a, at, avx2, text);
}

/* The disassembler's lines with one space and without what it says of sizes, compared in order. */
static int compare_lines(FILE *f) {
  char line[512];
  size_t at = 0;
  int bad = 0;
  while (fgets(line, sizeof line, f)) {
    char *text = strchr(line, ':'), out[256];
    if (line[0] != ' ' || !text) continue;
    size_t n = 0;
    for (text += 1 + strspn(text + 1, "\t "); *text && *text != '\n' && n + 1 < sizeof out;
         text++) {
      static const char *const sizes[] = {"ZMMWORD PTR ", "YMMWORD PTR ", "XMMWORD PTR ",
                                          "DWORD PTR ",   "QWORD PTR ",   "{evex} "};
      for (u32 i = 0; i < COUNT(sizes); i++)
        if (strncmp(text, sizes[i], strlen(sizes[i])) == 0) text += strlen(sizes[i]);
      if (*text == ' ' && (n == 0 || out[n - 1] == ' ')) continue;
      out[n++] = *text;
    }
    out[n] = 0;
    /* comparisons have names by their immediate, unord here */
    char *unord = strstr(out, "unord");
    if (unord && strncmp(out, "vcmp", 4) == 0) memmove(unord, unord + 5, strlen(unord + 5) + 1);
    const char *want_text = at < wants.len ? wants.data[at++].text : "nothing";
    if (strncmp(out, want_text, strlen(want_text)) == 0) continue;
    if (bad++ < 5) fprintf(stderr, "%s: want %s\n", out, want_text);
  }
  return bad + (at != wants.len);
}

int main(void) {
  oom_trap trap;
  arena a;
  if (setjmp(trap.at)) return 1;
  if (system("objdump --version >/dev/null 2>&1") != 0) {
    printf("there is no objdump\n0 passed, 0 failed, 1 skipped\n");
    return 0;
  }
  arena_init(&a, &mem_system, &trap);
  emit e = {.a = &a, .code.a = &a};
  for (u32 avx2 = 0; avx2 < 2; avx2++) {
    e.b = &(jit_build){.a = &a, .target = avx2 ? JIT_AVX2 : JIT_AVX512};
    for (u32 p = 0; p < JP_COUNT_; p++) {
      if (jit_prim_infos[p].shape > JIT_SUM && !regs_op(&e, p).map) continue; /* of aarch64 */
      for (u32 i = 0; i < COUNT(numbers) && (!avx2 || regs_has_vex(p)); i++)
        for (u32 k = 0; k < COUNT(numbers); k++) {
          u32 third = numbers[(i + 2 * k + p) % COUNT(numbers)], most = avx2 ? 15 : 31;
          add_one(&e, (jit_prim)p, numbers[i] & most, numbers[k] & most, third & most);
        }
    }
  }
  jit_code c = e.code;
  char path[] = "/tmp/jit_x86_XXXXXX", command[160];
  int fd = mkstemp(path);
  CHECK(fd >= 0 && write(fd, c.bytes.data, c.bytes.len) == (ssize_t)c.bytes.len);
  close(fd);
  snprintf(command, sizeof command,
           "objdump -D -b binary -m i386:x86-64 -M intel --no-show-raw-insn %s", path);
  FILE *f = popen(command, "r");
  CHECK(f && compare_lines(f) == 0);
  if (f) pclose(f);
  unlink(path);
  printf("%zu instructions\n", wants.len);
  arena_deinit(&a);
  return UNIT_END();
}
