// Functions that Swift can't express, or not as fast: checksum instructions, file locks that belong to an open file,
// and calls for flushes and page tables whose names differ between systems.
#ifndef CREALMPLATFORM_H
#define CREALMPLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Returns the CRC-32C of the even 8-byte words (low half) and of the odd words (high half). Each starts from all ones
/// and is inverted at the end. `length` is a multiple of 8. FORMAT.md, "Checksums".
uint64_t cp_checksum(const void *bytes, size_t length);

/// Computes the same checksum with tables only, for processors without the instruction and for the test that compares
/// both.
uint64_t cp_checksum_portable(const void *bytes, size_t length);

enum cp_sync_kind {
  /// Makes the content durable, and the metadata that is needed to read it: fdatasync; F_FULLFSYNC on Apple systems.
  CP_SYNC_DATA = 0,
  /// Makes all metadata durable, too: fsync; F_FULLFSYNC on Apple systems.
  CP_SYNC_ALL = 1,
};

/// Makes what was written to a file durable. Returns 0, or the errno of the flush.
int cp_sync(int descriptor, int kind);

/// Lets the system begin to write bytes that a later flush makes durable. It is a hint, and promises nothing.
void cp_start_writing(int descriptor, uint64_t offset, uint64_t length);

/// Takes a lock on one byte. The lock belongs to the open file, and not to the process. Returns 0; EWOULDBLOCK if
/// another open file holds the lock and `wait` is 0; otherwise an errno.
int cp_lock(int descriptor, uint64_t offset, int exclusive, int wait);
int cp_unlock(int descriptor, uint64_t offset);
/// Releases all locks that the open file of the descriptor holds, even if there are copies of the descriptor in other
/// processes.
void cp_unlock_all(int descriptor);
/// Returns 1 if another open file holds a lock on the byte or the system can't tell, otherwise 0.
int cp_is_locked(int descriptor, uint64_t offset);

/// Returns the number of forks by which this process comes from a process that was started as a program. Only forks
/// after the first call of `cp_forget_in_child` are counted.
uint64_t cp_fork_generation(void);
/// Makes each forked child close the descriptor first, because the child's copy shares the locks of the parent's open
/// file.
void cp_forget_in_child(int descriptor);
/// Closes a descriptor, and removes it from those that forked children close. If it was one of those, its locks are
/// released first.
int cp_close(int descriptor);

/// Moves a descriptor with the number of standard input, output or error to a greater number. Otherwise a program that
/// was started without these streams would print into the file. Returns the descriptor; returns -1 for -1 and leaves
/// errno as it is.
int cp_above_standard(int descriptor);

/// Opens the pipe at a path, and makes it first if it does not exist; `made` is then 1, otherwise 0. Returns the
/// descriptor, or a negated errno.
int cp_note_open(const char *path, int *made);
/// Wakes all threads that wait for the pipe, in any process. Returns 0 or an errno. The bytes in the pipe are read only
/// if it is full.
int cp_note_wake(int descriptor);
/// Returns a descriptor by which a thread can wait for later writes to the pipe, or a negated errno.
int cp_note_watch(int descriptor);
/// Returns after a write to the pipe, after a time in milliseconds, or without a reason. Returns 0, or a negated errno.
int cp_note_wait(int watch, int milliseconds);

/// Sleeps while a word of this process has a value, until the thread is woken. It may return without a reason.
/// Comparing the value and going to sleep are one atomic step for a thread that changes the word and then wakes.
void cp_wait_while(const uint32_t *word, uint32_t value);
/// Wakes one of the threads that sleep on a word, or all of them.
void cp_wake(const uint32_t *word, int all);

/// Returns a number for the namespace of process ids of this process; 0 if the system has only one, or does not tell.
uint64_t cp_pid_namespace(void);

/// Maps pages for reading, so that an I/O error is a return value and not a signal. Returns 0 if that is done or the
/// system has no such call, EIO if a page can't be read, otherwise an errno.
int cp_populate(const void *address, size_t length);

/// Allocates zeros from the allocator of the process, which keeps freed memory for later requests. Returns null if
/// there is no memory. Large memory that is new to the process gets large pages, which takes fewer page faults.
void *cp_allocate_zeros(size_t length);
void cp_deallocate(void *memory);

/// Requests the cache lines of bytes that will be read soon, without waiting. The address may be any.
static inline void cp_prefetch(const void *address, size_t length) {
  const char *line = (const char *)((uintptr_t)address & ~(uintptr_t)63);
  for (; line < (const char *)address + length; line += 64) __builtin_prefetch(line, 0, 3);
}

/// Returns how many of the little-endian values, at any address, are in the range from `low` to `low + span`. The range
/// wraps around from the greatest value to zero.
size_t cp_count_in_range_8(const void *values, size_t count, uint8_t low, uint8_t span);
size_t cp_count_in_range_16(const void *values, size_t count, uint16_t low, uint16_t span);
size_t cp_count_in_range_32(const void *values, size_t count, uint32_t low, uint32_t span);
size_t cp_count_in_range_64(const void *values, size_t count, uint64_t low, uint64_t span);

/// Sets the bit of each value that is in the range from `low` to `low + span`, which wraps around, the lowest bit
/// first. Clears the other bits up to a multiple of 64. Values of 2 and 4 bits are packed, the lowest bits first; they
/// are widened to bytes before the range is tested.
void cp_mask_in_range_2(const void *values, size_t count, uint8_t low, uint8_t span, uint64_t *mask);
void cp_mask_in_range_4(const void *values, size_t count, uint8_t low, uint8_t span, uint64_t *mask);
void cp_mask_in_range_8(const void *values, size_t count, uint8_t low, uint8_t span, uint64_t *mask);
void cp_mask_in_range_16(const void *values, size_t count, uint16_t low, uint16_t span, uint64_t *mask);
void cp_mask_in_range_32(const void *values, size_t count, uint32_t low, uint32_t span, uint64_t *mask);
void cp_mask_in_range_64(const void *values, size_t count, uint64_t low, uint64_t span, uint64_t *mask);

/// Sets the bit of each number that is neither less than `low` nor greater than `high`, likewise. NaN is never in the
/// range.
void cp_mask_doubles(const void *values, size_t count, double low, double high, uint64_t *mask);
void cp_mask_floats(const void *values, size_t count, float low, float high, uint64_t *mask);

/// Return the sum of little-endian values. There are fewer than 2^32 values.
uint64_t cp_sum_8(const void *values, size_t count);
uint64_t cp_sum_16(const void *values, size_t count);
uint64_t cp_sum_32(const void *values, size_t count);
/// Computes the sum of the lower halves and the sum of the upper halves of the values.
void cp_sum_64(const void *values, size_t count, uint64_t halves[2]);
/// Returns the sum of the numbers that are not NaN, and sets `numbers` to how many these are.
double cp_sum_doubles(const void *values, size_t count, size_t *numbers);
double cp_sum_floats(const void *values, size_t count, size_t *numbers);

enum cp_text_match {
  CP_TEXT_EQUAL = 0,
  CP_TEXT_BEGINS = 1,
  CP_TEXT_ENDS = 2,
  CP_TEXT_CONTAINS = 3,
  CP_TEXT_LIKE = 4,
};

/// Capital letters become small ones: A to Z, and U+00C0 to U+00DE except U+00D7, in UTF-8. Each letter keeps its
/// length. On its own, this flag accepts any bytes. The two flags below it need UTF-8, and leave other bytes as they
/// are.
#define CP_FOLD_LATIN 1
/// Simple case folding of Unicode.
#define CP_FOLD_CASE 2
/// Canonical decompositions without nonspacing marks. The other marks are put into canonical order. Case is folded
/// afterwards.
#define CP_FOLD_MARKS 4
/// Whether the flags fold scalar by scalar, so that lengths may change.
#define CP_FOLDS_SCALARS(folds) (((folds) & (CP_FOLD_CASE | CP_FOLD_MARKS)) != 0)

/// The room in bytes for folding `length` bytes scalar by scalar. Whole words are written, so the last one needs 8 more
/// bytes.
#define CP_FOLDED_ROOM(length) (3 * (length) + 8)
/// Texts that are not ASCII and are longer than this must be folded before they are tested.
#define CP_LONGEST_FOLDED 4096
/// The most texts that a piece has.
#define CP_MOST_ROWS 512

/// A test of texts against a needle.
struct cp_text_test {
  const uint8_t *needle;
  size_t length;
  int match;
  /// The flags by which texts are folded before they are compared: `CP_FOLD_LATIN` and those below it. The needle is
  /// folded already.
  int folds;
  /// Whether texts are UTF-8 and `?` stands for a character. Otherwise `?` stands for a byte.
  int characters;
};

/// Returns whether a text passes the test. If scalars are folded, the text must be ASCII or have at most
/// `CP_LONGEST_FOLDED` bytes.
int cp_text_passes(const uint8_t *text, size_t length, const struct cp_text_test *test);

/// Sets the bits of the texts of a piece that pass the test. `ends` has 2 little-endian bytes for each text: 14 bits
/// for its end in the heap, and two flags. A text with a flag does not pass. No end is less than the one before it.
/// There are at most `CP_MOST_ROWS` texts, and their bits must be 0 before.
void cp_mask_texts(const void *ends, const void *heap, size_t rows, const struct cp_text_test *test,
                   uint64_t *mask);
/// Sets the bits of the texts that have a flag.
void cp_mask_flagged(const void *ends, size_t rows, uint16_t flag, uint64_t *mask);

/// Returns the place of a needle, which is not empty, in a text; the length of the text if it is not there.
size_t cp_find(const uint8_t *text, size_t length, const uint8_t *needle, size_t count);
/// Makes capital letters small, as described for `CP_FOLD_LATIN`.
void cp_fold(const uint8_t *text, size_t length, uint8_t *out);
/// Folds scalars, as described for `CP_FOLD_CASE` and `CP_FOLD_MARKS`. `out` has the room of `CP_FOLDED_ROOM`. Returns
/// the new length, which is at most three times the old one. Folding the result again does not change it.
size_t cp_fold_scalars(const uint8_t *text, size_t length, int folds, uint8_t *out);
/// Returns whether all bytes are ASCII.
int cp_is_ascii(const uint8_t *text, size_t length);
/// Makes A to Z small letters, and returns whether all bytes are ASCII.
int cp_lower_ascii(const uint8_t *text, size_t length, uint8_t *out);
/// Returns the place of the first byte that is not ASCII; the length if there is none.
size_t cp_find_not_ascii(const uint8_t *text, size_t length);
/// Returns whether the bytes are well-formed UTF-8.
int cp_is_utf8(const uint8_t *text, size_t length);

/// Computes the least and the greatest of the numbers that are not NaN. If there are none, the results are infinity and
/// minus infinity.
void cp_extremes_doubles(const void *values, size_t count, double out[2]);
void cp_extremes_floats(const void *values, size_t count, double out[2]);

/// Copies the values at some places of a packed column as they are stored. They have `width` bits: 1, 2, 4, 8, 16, 32
/// or 64. `bounds` become the least and the greatest value.
void cp_gather_packed(const void *values, unsigned width, const uint16_t *places, size_t count, uint64_t *out,
                      uint64_t bounds[2]);
/// Subtracts `base` from numbers, and packs the results with `width` bits each.
void cp_pack(const uint64_t *numbers, size_t count, uint64_t base, unsigned width, void *out);
/// Copies the values at some places. Each has `size` bytes.
void cp_gather_fixed(const void *values, size_t size, const uint16_t *places, size_t count, void *out);
/// Returns the number of bytes that the values at some places have in a heap. The places are counted from `first`. The
/// lowest `end_bits` of each word are the end of a value in the heap.
size_t cp_gathered_length(const void *words, unsigned end_bits, const uint16_t *places, size_t count, size_t first);
/// Copies such values one after another into a heap of `room` bytes, from `start` on. Bytes behind them may be written,
/// too. `out_words` become the ends of the copies, with the other bits of their words. Returns the end of the last
/// copy; SIZE_MAX if there is no room for a value, or if a value is not inside the heap.
size_t cp_gather_values(const void *words, unsigned end_bits, const void *heap, size_t heap_length,
                        const uint16_t *places, size_t count, size_t first, void *out, size_t room, size_t start,
                        void *out_words);
/// Copies the keys at some places one after another. Each key is a prefix and a suffix. `words` are the ends of the
/// suffixes; it is null if each suffix has `width` bytes. `ends` become the ends of the keys if the first key starts at
/// `end`.
void cp_gather_keys(const uint8_t *prefix, size_t prefix_length, const void *words, size_t width,
                    const uint8_t *suffixes, const uint16_t *places, size_t count, uint8_t *out, size_t end,
                    size_t *ends);
/// Copies suffixes that are stored one after another into `room` bytes, each behind a prefix and without its first
/// `dropped` bytes. `words` are the ends of the suffixes, where the first suffix begins at `start`; it is null if each
/// suffix has `width` bytes. Returns the length of all copies; SIZE_MAX if there is no room for a suffix, if a suffix
/// is not where its word says, or if it is shorter than `dropped`.
size_t cp_copy_suffixes(const void *prefix, size_t prefix_length, size_t dropped, const void *words, size_t start,
                        size_t width, const void *suffixes, size_t suffixes_length, size_t count, void *out,
                        size_t room);

/// A number of 128 bits, and the place of the item that it stands for.
struct cp_sort_item {
  uint64_t low, high, place;
};
/// Sorts fewer than 2^32 items by their numbers. Equal items keep their order. `scratch` has room for as many items.
void cp_sort(struct cp_sort_item *items, struct cp_sort_item *scratch, size_t count);

/// Writes 16 bytes that are the same for all processes of one boot, and differ from boot to boot. Returns 0 or an
/// errno.
int cp_boot_id(uint8_t out[16]);

/// Returns 1 if the file system of the descriptor is in the network or in user space, so that its mappings and locks
/// are not coherent between processes; 0 if it is local or unknown.
int cp_is_remote(int descriptor);
/// Returns 1 if the process ignores a signal, as a process that `nohup` has started ignores SIGHUP; otherwise 0.
int cp_is_ignored(int signal);

/// Calls `visit` with the context descriptor of each type that an image of the process has registered with the Swift
/// runtime (Swift ABI, TypeMetadata.rst, "Type context descriptors").
void cp_for_each_type(void (*visit)(const void *descriptor, void *context), void *context);

/// Returns the complete metadata of a type that is not generic, by the access function of the type.
const void *cp_type_metadata(const void *accessor);

/// Calls an allocating initializer without parameters. Returns the object, which the caller owns.
void *cp_call_allocating_init(const void *initializer, const void *metadata);

/// Allocates memory for an object of a class, which the caller owns. Only its header is set. Returns null without a
/// Swift runtime.
void *cp_allocate_object(const void *metadata, size_t size, size_t alignment_mask);

/// Returns 1 if the calling thread has so little stack left that recursive functions must stop, otherwise 0.
int cp_stack_is_short(void);

/// Makes the objects of a class be freed one after another if one object frees the next, as in a chain of links. So a
/// chain of any length takes little stack. The deinitializers of the class run as always, but those of deep objects run
/// after the outermost one has returned.
void cp_free_in_turn(const void *metadata);

// Puts a thread's variable at a fixed distance from the thread's pointer, so that no call is needed to find it.
#if defined(__ELF__)
#define CP_FOUND_AT_ONCE __attribute__((tls_model("initial-exec")))
#else
#define CP_FOUND_AT_ONCE
#endif

/// The number of this thread; 0 before it has one.
extern _Thread_local uint64_t cp_this_thread CP_FOUND_AT_ONCE;
uint64_t cp_new_thread_number(void);

/// Returns `cp_this_thread`. Swift calls this function, because it can't read such variables itself.
static inline uint64_t cp_known_thread_number(void) { return cp_this_thread; }

/// Returns a number that no other thread of the process has or had. The system's handles do not have this property,
/// because a new thread may get the handle of one that has ended.
static inline uint64_t cp_thread_number(void) {
  uint64_t number = cp_this_thread;
  return __builtin_expect(number != 0, 1) ? number : cp_new_thread_number();
}

/// Returns whether the current code runs on an executor, which is given by its two words. Returns false without a Swift
/// runtime.
bool cp_is_current_executor(uintptr_t identity, uintptr_t implementation);

/// The reader with which this thread reads a frozen version. All threads know the version by the number.
struct cp_reader {
  uint64_t number;
  const void *reader;
};
#define CP_KNOWN_READERS 32
extern _Thread_local struct cp_reader cp_readers[CP_KNOWN_READERS] CP_FOUND_AT_ONCE;

/// Returns the reader of this thread for a number that is not 0; null if the thread has no reader for it or has
/// replaced it.
static inline const void *cp_known_reader(uint64_t number) {
  const struct cp_reader *known = &cp_readers[number % CP_KNOWN_READERS];
  return __builtin_expect(known->number == number, 1) ? known->reader : 0;
}

/// Keeps the reader of this thread for a number. Numbers are never used again for another version.
static inline void cp_know_reader(uint64_t number, const void *reader) {
  cp_readers[number % CP_KNOWN_READERS] = (struct cp_reader){number, reader};
}

#endif
