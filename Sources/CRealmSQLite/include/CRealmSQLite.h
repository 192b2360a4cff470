// The functions of SQLite that an export needs. SQLite's library is loaded at run time, so that all else works without
// it. This is written in C, because the casts of loaded functions take one line each in C, and are unchecked casts in
// Swift.
//
// https://sqlite.org/c3ref/funclist.html describes the functions. If a comment says nothing else, they return the codes
// of https://sqlite.org/rescode.html.
#pragma once

#include <stdint.h>

typedef struct cs_file cs_file;
typedef struct cs_statement cs_statement;

/// Loads the library, unless that was done before. Returns 0; 1 if there is no library; 2 if it lacks a function.
int cs_load(void);

/// Makes and opens a file. `file` must be closed even if this fails.
int cs_open(const char *path, cs_file **file);
void cs_close(cs_file *file);
/// Returns the message of the last error.
const char *cs_message(cs_file *file);

int cs_prepare(cs_file *file, const char *sql, cs_statement **statement);
int cs_step(cs_statement *statement);
int cs_reset(cs_statement *statement);
void cs_finalize(cs_statement *statement);

// The library copies the texts and bytes that it gets.
int cs_bind_null(cs_statement *statement, int place);
int cs_bind_integer(cs_statement *statement, int place, int64_t number);
int cs_bind_real(cs_statement *statement, int place, double number);
int cs_bind_text(cs_statement *statement, int place, const char *text, int count);
int cs_bind_blob(cs_statement *statement, int place, const void *bytes, int count);
