#include "CRealmSQLite.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

typedef void (*destructor)(void *);

// Flags to read, write and create a file: https://sqlite.org/c3ref/c_open_autoproxy.html.
enum { flags = 0x2 | 0x4 };
static const destructor copying = (destructor)-1;

static struct {
  int (*open_v2)(const char *, void **, int, const char *);
  int (*close_v2)(void *);
  const char *(*errmsg)(void *);
  int (*prepare_v2)(void *, const char *, int, void **, const char **);
  int (*step)(void *);
  int (*reset)(void *);
  int (*finalize)(void *);
  int (*bind_null)(void *, int);
  int (*bind_int64)(void *, int, int64_t);
  int (*bind_double)(void *, int, double);
  int (*bind_text)(void *, int, const char *, int, destructor);
  int (*bind_blob)(void *, int, const void *, int, destructor);
} sqlite;

static int loaded;

static void load(void) {
  const char *names[] = {"libsqlite3.so.0", "libsqlite3.so", "libsqlite3.dylib"};
  void *library = NULL;
  for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++) library = dlopen(names[i], RTLD_NOW);
  loaded = library == NULL ? 1 : 0;
  if (library == NULL) return;
#define FIND(name) \
  if ((*(void **)&sqlite.name = dlsym(library, "sqlite3_" #name)) == NULL) loaded = 2
  FIND(open_v2);
  FIND(close_v2);
  FIND(errmsg);
  FIND(prepare_v2);
  FIND(step);
  FIND(reset);
  FIND(finalize);
  FIND(bind_null);
  FIND(bind_int64);
  FIND(bind_double);
  FIND(bind_text);
  FIND(bind_blob);
#undef FIND
}

int cs_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return loaded;
}

int cs_open(const char *path, cs_file **file) { return sqlite.open_v2(path, (void **)file, flags, NULL); }
void cs_close(cs_file *file) { sqlite.close_v2(file); }
const char *cs_message(cs_file *file) { return sqlite.errmsg(file); }

int cs_prepare(cs_file *file, const char *sql, cs_statement **statement) {
  return sqlite.prepare_v2(file, sql, -1, (void **)statement, NULL);
}

int cs_step(cs_statement *statement) { return sqlite.step(statement); }
int cs_reset(cs_statement *statement) { return sqlite.reset(statement); }
void cs_finalize(cs_statement *statement) { sqlite.finalize(statement); }

int cs_bind_null(cs_statement *statement, int place) { return sqlite.bind_null(statement, place); }

int cs_bind_integer(cs_statement *statement, int place, int64_t number) {
  return sqlite.bind_int64(statement, place, number);
}

int cs_bind_real(cs_statement *statement, int place, double number) {
  return sqlite.bind_double(statement, place, number);
}

int cs_bind_text(cs_statement *statement, int place, const char *text, int count) {
  return sqlite.bind_text(statement, place, text, count, copying);
}

int cs_bind_blob(cs_statement *statement, int place, const void *bytes, int count) {
  // An empty array may have a null address, which SQLite would store as NULL.
  return sqlite.bind_blob(statement, place, count == 0 ? "" : bytes, count, copying);
}
