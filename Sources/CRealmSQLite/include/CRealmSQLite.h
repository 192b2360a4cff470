// The functions of SQLite that an export needs. SQLite's library is loaded at run time, so that nothing else needs it: the
// casts that this takes are what C says in a line, and Swift only without its checks.
//
// What the functions do stands at https://sqlite.org/c3ref/funclist.html. Where nothing else is said they answer the codes of
// https://sqlite.org/rescode.html.
#pragma once

#include <stdint.h>

typedef struct cs_file cs_file;
typedef struct cs_statement cs_statement;

/// Loads the library, if that was not done. Answers 0; 1 where there is none; 2 where it lacks a function.
int cs_load(void);

/// Makes and opens a file. `file` is to be closed also where this fails.
int cs_open(const char *path, cs_file **file);
void cs_close(cs_file *file);
/// What went wrong last, in words.
const char *cs_message(cs_file *file);

int cs_prepare(cs_file *file, const char *sql, cs_statement **statement);
int cs_step(cs_statement *statement);
int cs_reset(cs_statement *statement);
void cs_finalize(cs_statement *statement);

// The library copies what it is given.
int cs_bind_null(cs_statement *statement, int place);
int cs_bind_integer(cs_statement *statement, int place, int64_t number);
int cs_bind_real(cs_statement *statement, int place, double number);
int cs_bind_text(cs_statement *statement, int place, const char *text, int count);
int cs_bind_blob(cs_statement *statement, int place, const void *bytes, int count);
