/* The public answers: marshalling only. */
#include "terrazzo/explain.h"

#include "api/context.h"
#include "api/sized.h"
#include "api/verify.h"
#include "explain/plan.h"

/* What is to be released, whatever jumps back for lack of memory. */
typedef struct asking {
  tz_explain_options o;
  explain_source source, other;
  explain_run run, second;
  plan_answer plan;
  arena a;
  oom_trap trap;
  topology links;
  buf out, messages;
} asking;

static status ask_why(asking *q) {
  why_question w = {.number = q->o.collective,
                    .value = str_of(q->o.value),
                    .line = q->o.line,
                    .tries = q->o.tries,
                    .json = !q->o.text,
                    .most = q->o.most,
                    .links = q->o.topology ? &q->links : NULL};
  RETURN_IF_ERROR(explain_line(&q->source, NULL, 0, false, &q->run));
  return explain_why_print(&q->run, &w, &q->out);
}

static status ask_mem(asking *q) {
  RETURN_IF_ERROR(explain_line(&q->source, NULL, 0, true, &q->run));
  mem_answer m = explain_mem(&q->run);
  explain_mem_print(&q->run, &m, !q->o.text, q->o.most, &q->out);
  return NULL;
}

static status ask_comms(asking *q) {
  if (!q->o.topology)
    return status_make(STATUS_INVALID_ARGUMENT, "tz_explain: comms wants a topology");
  RETURN_IF_ERROR(explain_line(&q->source, NULL, 0, false, &q->run));
  comms_answer c = explain_comms(&q->run, &q->links);
  explain_comms_print(&c, !q->o.text, &q->out);
  return NULL;
}

static status ask_check(asking *q) {
  RETURN_IF_ERROR(explain_line(&q->source, NULL, 0, true, &q->run));
  check_answer c = explain_check(&q->run, q->o.large ? q->o.large : 1 << 20);
  explain_check_print(&q->run, &c, !q->o.text, q->o.most, &q->out);
  return NULL;
}

static status run_both(asking *q) {
  q->other = q->source;
  q->other.text = (str){q->o.other, q->o.other_length};
  return explain_both(&q->source, &q->other, &q->run, &q->second);
}

static status ask_diff(asking *q) {
  if (!q->o.other)
    return status_make(STATUS_INVALID_ARGUMENT, "tz_explain: diff wants another program");
  RETURN_IF_ERROR(run_both(q));
  diff_answer d = explain_diff(&q->run, &q->second);
  explain_diff_print(&q->run, &q->second, &d, !q->o.text, q->o.most, &q->out);
  return NULL;
}

static status ask_verify(asking *q) {
  tz_runtime *on;
  verify_answer v;
  tz_error *bad = tz_runtime_create(0, &on);
  if (bad) return (status)(const void *)bad;
  status s = verify_program(on, &q->source, &(verify_question){.seed = q->o.seed}, &v, &q->run);
  tz_runtime_free(on);
  if (!s) verify_print(&q->run, &v, !q->o.text, &q->out);
  return s;
}

static status ask_report(asking *q) {
  report_question r = {.links = q->o.topology ? &q->links : NULL,
                       .tries = q->o.tries,
                       .large = q->o.large ? q->o.large : 1 << 20,
                       .other = q->o.other ? &q->second : NULL,
                       .form = q->o.text ? REPORT_PAGE : REPORT_DATA};
  RETURN_IF_ERROR(q->o.other ? run_both(q) : explain_line(&q->source, NULL, 0, true, &q->run));
  return explain_report(&q->run, &r, &q->out);
}

static status ask_plan(asking *q) {
  plan_question p = {.source = &q->source,
                     .mesh = str_of(q->o.mesh),
                     .axes = str_of(q->o.axes),
                     .links = q->o.topology ? &q->links : NULL,
                     .memory = q->o.memory,
                     .tries = q->o.tries,
                     .threads = q->o.threads,
                     .free = q->o.free_of_constraints};
  RETURN_IF_ERROR(plan_make(&p, &q->plan));
  plan_print(&q->plan, !q->o.text, &q->out);
  return NULL;
}

static status (*const answers[])(asking *q) = {
    [TZ_EXPLAIN_WHY] = ask_why,       [TZ_EXPLAIN_MEM] = ask_mem,
    [TZ_EXPLAIN_COMMS] = ask_comms,   [TZ_EXPLAIN_CHECK] = ask_check,
    [TZ_EXPLAIN_DIFF] = ask_diff,     [TZ_EXPLAIN_VERIFY] = ask_verify,
    [TZ_EXPLAIN_REPORT] = ask_report, [TZ_EXPLAIN_PLAN] = ask_plan};

static status read_links(asking *q) {
  diag_sink sink = {.fn = diag_to_buf, .user = &q->messages};
  if (!q->o.topology ||
      topology_read(&q->a, &sink, STR("topology"), str_of(q->o.topology), &q->links))
    return NULL;
  return status_make(STATUS_INVALID_ARGUMENT, "%s", buf_cstr(&q->messages));
}

static status ask(asking *q, tz_explain_question question) {
  if (setjmp(q->trap.at)) return status_oom();
  RETURN_IF_ERROR(read_links(q));
  return answers[question](q);
}

tz_error *tz_explain(tz_explain_question question, const char *source, size_t length,
                     const tz_explain_options *options, char **out_answer) {
  asking q = {0};
  status s = options ? SIZED_READ(tz_explain_options, options, &q.o) : NULL;
  if (s) return error_out(s);
  if (out_answer) *out_answer = NULL;
  if (!out_answer || (length && !source) || (unsigned)question >= COUNT(answers))
    return error_out(
        status_make(STATUS_INVALID_ARGUMENT, "tz_explain: no such question, or a pointer is NULL"));
  if (!q.o.most) q.o.most = 20;
  q.source = (explain_source){.text = {length ? source : "", length},
                              .file = str_of(q.o.file),
                              .devices = q.o.devices,
                              .meshes = q.o.meshes,
                              .trap = &q.trap};
  arena_init(&q.a, &mem_system, &q.trap);
  buf_init(&q.out, &mem_system);
  buf_init(&q.messages, &mem_system);
  why_init(&q.run.log, &mem_system);
  why_init(&q.second.log, &mem_system);
  s = ask(&q, question);
  const char *text = s ? NULL : buf_cstr(&q.out);
  if (!s && !buf_ok(&q.out)) s = status_oom();
  explain_end(&q.run);
  explain_end(&q.second);
  plan_end(&q.plan);
  arena_deinit(&q.a);
  buf_deinit(&q.messages);
  if (s)
    buf_deinit(&q.out);
  else
    *out_answer = (char *)(uintptr_t)text;
  return error_out(s);
}
