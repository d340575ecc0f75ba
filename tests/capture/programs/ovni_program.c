/* An instrumented program with threads, and wrong uses of the library, one per name. */
#define _GNU_SOURCE
#include <ovni.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 3
static int rounds = 1000;
static int process_id;

static void emit(const char *mcv) {
  struct ovni_ev ev = {0};
  ovni_ev_set_clock(&ev, ovni_clock_now());
  ovni_ev_set_mcv(&ev, mcv);
  ovni_ev_emit(&ev);
}

static void execute(int32_t cpu) {
  struct ovni_ev ev = {0};
  int32_t creator = -1;
  uint64_t tag = 0;
  ovni_ev_set_clock(&ev, ovni_clock_now());
  ovni_ev_set_mcv(&ev, "OHx");
  ovni_payload_add(&ev, (uint8_t *)&cpu, sizeof cpu);
  ovni_payload_add(&ev, (uint8_t *)&creator, sizeof creator);
  ovni_payload_add(&ev, (uint8_t *)&tag, sizeof tag);
  if (ovni_ev_size(&ev) != 28 || ovni_payload_size(&ev) != 16) abort();
  ovni_ev_emit(&ev);
}

static void *work(void *argument) {
  const int me = (int)(size_t)argument;
  ovni_thread_init(process_id + 1 + me);
  ovni_thread_require("nanos6", "1.1.0");
  if (me == 0) {
    for (int i = 0; i < THREADS; ++i) ovni_add_cpu(i, 10 + i);
    ovni_proc_set_rank(0, 1);
  }
  const int marks = getenv("NO_MARKS") == NULL;
  if (marks) ovni_mark_type(3, OVNI_MARK_STACK, "phase");
  if (marks) ovni_mark_label(3, 1, "first");
  ovni_attr_set_str("app.name", "test");
  ovni_attr_set_double("app.rounds", rounds);
  ovni_attr_set_boolean("app.fast", 1);
  ovni_attr_set_json("app.list", "[1, 2, {\"a\": null}]");
  char *json = ovni_attr_get_json("app.list");
  if (strcmp(json, "[1,2,{\"a\":null}]") != 0 || strcmp(ovni_attr_get_str("app.name"), "test") != 0) abort();
  if (ovni_attr_get_double("app.rounds") != rounds || !ovni_attr_get_boolean("app.fast") || ovni_attr_has("no.such")) abort();
  free(json);
  if (!ovni_thread_isready()) abort();
  execute(me);
  if (marks) ovni_mark_push(3, 1);
  for (int i = 0; i < rounds; ++i) {
    emit("6W[");
    emit("6W]");
  }
  if (marks) ovni_mark_pop(3, 1);
  if (me == 0) {
    struct ovni_ev ev = {0};
    uint8_t data[64] = {1, 0, 0, 0, 'a', ' ', 't', 'y', 'p', 'e', 0};
    ovni_ev_set_clock(&ev, ovni_clock_now());
    ovni_ev_set_mcv(&ev, "6Yc");
    ovni_ev_jumbo_emit(&ev, data, 11);
  }
  emit("OHe");
  ovni_flush();
  ovni_thread_free();
  if (ovni_thread_isready()) abort();
  return NULL;
}

static void misuse(const char *what) {
  struct ovni_ev ev = {0};
  uint8_t bytes[32] = {0};
  if (strcmp(what, "version") == 0) ovni_version_check_str("2.0.0");
  if (strcmp(what, "minor") == 0) ovni_version_check_str("1.999.0");
  if (strcmp(what, "no-version") == 0) ovni_version_check_str("one");
  if (strcmp(what, "thread-first") == 0) ovni_thread_init(1);
  if (strcmp(what, "emit-first") == 0) emit("OHe");
  if (strcmp(what, "fini-first") == 0) ovni_proc_fini();
  ovni_proc_init(1, "node.1", process_id);
  if (strcmp(what, "twice") == 0) ovni_proc_init(1, "node.1", process_id);
  if (strcmp(what, "tid-0") == 0) ovni_thread_init(0);
  ovni_thread_init(process_id);
  if (strcmp(what, "payload-1") == 0) ovni_payload_add(&ev, bytes, 1);
  if (strcmp(what, "payload-17") == 0) ovni_payload_add(&ev, bytes, 17);
  if (strcmp(what, "model") == 0) ovni_thread_require("a.b", "1.0.0");
  if (strcmp(what, "model-version") == 0) ovni_thread_require("abc", "1.0");
  if (strcmp(what, "mark-0") == 0) ovni_mark_set(1, 0);
  if (strcmp(what, "mark-type") == 0) ovni_mark_type(100, 0, "too high");
  if (strcmp(what, "label") == 0) ovni_mark_label(5, 1, "of nothing");
  if (strcmp(what, "attribute") == 0) ovni_attr_get_str("nothing.here");
  if (strcmp(what, "json") == 0) ovni_attr_set_json("x", "{");
  if (strcmp(what, "cpu") == 0) ovni_add_cpu(-1, 0);
  if (strcmp(what, "jumbo") == 0) ovni_ev_jumbo_emit(&ev, calloc(1, OVNI_MAX_EV_BUF), OVNI_MAX_EV_BUF);
  ovni_thread_free();
  if (strcmp(what, "free-twice") == 0) ovni_thread_free();
  if (strcmp(what, "again") == 0) ovni_thread_init(process_id);
  ovni_proc_fini();
  if (strcmp(what, "after") == 0) ovni_proc_init(1, "node.1", process_id);
  exit(0); /* what should have ended it did not */
}

int main(int argc, char **argv) {
  process_id = (int)getpid();
  if (argc > 2) misuse(argv[2]);
  if (argc > 1) rounds = atoi(argv[1]);
  ovni_version_check();
  const char *version, *commit;
  ovni_version_get(&version, &commit);
  ovni_proc_init(1, "node.1", process_id);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, work, (void *)(size_t)i);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  ovni_proc_fini();
  return 0;
}
