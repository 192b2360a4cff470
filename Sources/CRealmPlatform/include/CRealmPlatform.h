// What Swift can't say, or can't say fast: checksum instructions, file locks owned by an open file, and
// the flush and page-table calls whose names differ from system to system.
#ifndef CREALMPLATFORM_H
#define CREALMPLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// CRC-32C of the even 8-byte words (low half) and of the odd ones (high half), each started from all
/// ones and inverted at the end. `length` is a multiple of 8. FORMAT.md, "Checksums".
uint64_t cp_checksum(const void *bytes, size_t length);

/// The same by tables alone, for processors without the instruction and for the test that compares both.
uint64_t cp_checksum_portable(const void *bytes, size_t length);

enum cp_sync_kind {
  /// The content and what is needed to read it back is durable: fdatasync; F_FULLFSYNC on Apple systems.
  CP_SYNC_DATA = 0,
  /// All metadata too: fsync; F_FULLFSYNC on Apple systems.
  CP_SYNC_ALL = 1,
};

/// 0, or the errno of the flush.
int cp_sync(int descriptor, int kind);

/// Lets the system begin to write bytes out that a later flush makes durable; a hint, which promises nothing.
void cp_start_writing(int descriptor, uint64_t offset, uint64_t length);

/// Takes a lock on one byte that belongs to the open file, not to the process.
/// 0, or EWOULDBLOCK when another open file holds it and `wait` is 0, or another errno.
int cp_lock(int descriptor, uint64_t offset, int exclusive, int wait);
int cp_unlock(int descriptor, uint64_t offset);
/// Gives up all that its open file holds, also where others have copies of the descriptor.
void cp_unlock_all(int descriptor);
/// 1 when another open file holds a lock on the byte, else 0.
int cp_is_locked(int descriptor, uint64_t offset);

/// How many times this process was made by forking another that uses this library, since that was started.
uint64_t cp_fork_generation(void);
/// Has a forked child close the descriptor first of all: it shares the locks of its parent's.
void cp_forget_in_child(int descriptor);
/// Closes a descriptor, and no longer minds it in children. One that was minded gives up its locks first.
int cp_close(int descriptor);

/// Moves a descriptor that has the number of standard input, output or error to a number above them: else a program that was
/// started without these would print into the file. Returns the descriptor; returns -1, with errno as it stands, for -1.
int cp_above_standard(int descriptor);

/// Opens the pipe at a path, making it first where there is none, which `made` tells; the descriptor, or a negated errno.
int cp_note_open(const char *path, int *made);
/// Wakes all who watch the pipe, in any process; 0 or an errno. Nobody takes what is written there, but when it is full.
int cp_note_wake(int descriptor);
/// A descriptor that waits for what is written to the pipe from now on, or a negated errno.
int cp_note_watch(int descriptor);
/// Returns once something was written, or after so long, or for no reason: 0, or a negated errno.
int cp_note_wait(int watch, int milliseconds);

/// Sleeps while a word of this process has this value, until it is woken; may return for no reason. That the value is looked
/// at and the thread put to sleep is one step for who changes the word and wakes then.
void cp_wait_while(const uint32_t *word, uint32_t value);
/// Wakes one of those that sleep there, or all.
void cp_wake(const uint32_t *word, int all);

/// A number that tells the namespace of process ids that this process lives in; 0 where there is but one.
uint64_t cp_pid_namespace(void);

/// Maps the pages in for reading, so that an I/O error is a return value and not a signal.
/// 0 when done or when the system has no such call, EIO when a page can't be read, else an errno.
int cp_populate(const void *address, size_t length);

/// Zeros from the allocator of the process, which keeps what is given back for the next who asks; null where there is no
/// memory. Of many bytes those that are new to the process come in large pages, which are there in fewer steps.
void *cp_allocate_zeros(size_t length);
void cp_deallocate(void *memory);

/// Asks for the cache lines of bytes that will be read soon; of any address, and without waiting.
static inline void cp_prefetch(const void *address, size_t length) {
  const char *line = (const char *)((uintptr_t)address & ~(uintptr_t)63);
  for (; line < (const char *)address + length; line += 64) __builtin_prefetch(line, 0, 3);
}

/// How many of the little-endian values, at any address, are `low` to `low + span`, counted around from the greatest
/// value to zero.
size_t cp_count_in_range_8(const void *values, size_t count, uint8_t low, uint8_t span);
size_t cp_count_in_range_16(const void *values, size_t count, uint16_t low, uint16_t span);
size_t cp_count_in_range_32(const void *values, size_t count, uint32_t low, uint32_t span);
size_t cp_count_in_range_64(const void *values, size_t count, uint64_t low, uint64_t span);

/// Sets a bit for each of the values that is `low` to `low + span`, counted around, lowest first, and clears the others up
/// to a multiple of 64. Of 2 and 4 bits: packed, lowest first, and the values are at most 15.
void cp_mask_in_range_2(const void *values, size_t count, uint8_t low, uint8_t span, uint64_t *mask);
void cp_mask_in_range_4(const void *values, size_t count, uint8_t low, uint8_t span, uint64_t *mask);
void cp_mask_in_range_8(const void *values, size_t count, uint8_t low, uint8_t span, uint64_t *mask);
void cp_mask_in_range_16(const void *values, size_t count, uint16_t low, uint16_t span, uint64_t *mask);
void cp_mask_in_range_32(const void *values, size_t count, uint32_t low, uint32_t span, uint64_t *mask);
void cp_mask_in_range_64(const void *values, size_t count, uint64_t low, uint64_t span, uint64_t *mask);

/// The same for numbers not less than `low` and not greater than `high`; NaN is neither.
void cp_mask_doubles(const void *values, size_t count, double low, double high, uint64_t *mask);
void cp_mask_floats(const void *values, size_t count, float low, float high, uint64_t *mask);

/// Sums of little-endian values, of fewer than 2^32.
uint64_t cp_sum_8(const void *values, size_t count);
uint64_t cp_sum_16(const void *values, size_t count);
uint64_t cp_sum_32(const void *values, size_t count);
/// The sums of the lower and of the upper halves.
void cp_sum_64(const void *values, size_t count, uint64_t halves[2]);
/// The sum of those that are not NaN, and how many these are.
double cp_sum_doubles(const void *values, size_t count, size_t *numbers);
double cp_sum_floats(const void *values, size_t count, size_t *numbers);

enum cp_text_match {
  CP_TEXT_EQUAL = 0,
  CP_TEXT_BEGINS = 1,
  CP_TEXT_ENDS = 2,
  CP_TEXT_CONTAINS = 3,
  CP_TEXT_LIKE = 4,
};

/// Capital letters become small ones: A to Z, and U+00C0 to U+00DE but U+00D7, in UTF-8; each keeps its length. Alone it takes
/// any bytes, the two below it take UTF-8, and leave alone what is none.
#define CP_FOLD_LATIN 1
/// Simple case folding of Unicode.
#define CP_FOLD_CASE 2
/// Canonical decompositions without nonspacing marks; other marks are in canonical order then. Case is folded after it.
#define CP_FOLD_MARKS 4
/// Whether it folds scalar by scalar, so that lengths change.
#define CP_FOLDS_SCALARS(folds) (((folds) & (CP_FOLD_CASE | CP_FOLD_MARKS)) != 0)

/// The room to fold so many bytes scalar by scalar: words are written, so that a part of it is for the last of them.
#define CP_FOLDED_ROOM(length) (3 * (length) + 8)
/// Texts that are not ASCII and longer than this are folded before they are tested.
#define CP_LONGEST_FOLDED 4096
/// More texts than these a piece does not have.
#define CP_MOST_ROWS 512

/// What a text is compared with.
struct cp_text_test {
  const uint8_t *needle;
  size_t length;
  int match;
  /// How texts are folded before they are compared: see `CP_FOLD_LATIN` and those below it. The needle is folded.
  int folds;
  /// Texts are UTF-8, and `?` stands for a character; else for a byte.
  int characters;
};

/// Where scalars are folded, a text is ASCII or has at most `CP_LONGEST_FOLDED` bytes.
int cp_text_passes(const uint8_t *text, size_t length, const struct cp_text_test *test);

/// Sets the bits of the texts of a piece that pass. `ends` has 2 bytes for each, little-endian: the end in the heap in 14
/// bits, and two flags; those with a flag do not pass. Ends never fall. There are at most `CP_MOST_ROWS` texts, and
/// their bits are 0 before.
void cp_mask_texts(const void *ends, const void *heap, size_t rows, const struct cp_text_test *test,
                   uint64_t *mask);
/// Sets the bits of the texts that have a flag.
void cp_mask_flagged(const void *ends, size_t rows, uint16_t flag, uint64_t *mask);

/// The place of a text that is not empty in another, or that one's length where there is none.
size_t cp_find(const uint8_t *text, size_t length, const uint8_t *needle, size_t count);
/// Makes capital letters small ones, as `CP_FOLD_LATIN` says.
void cp_fold(const uint8_t *text, size_t length, uint8_t *out);
/// Folds scalars, as `CP_FOLD_CASE` and `CP_FOLD_MARKS` say. `out` has the room of `CP_FOLDED_ROOM`; the new length, three
/// times the old one at most, is returned. What came out stays as it is when it is folded again.
size_t cp_fold_scalars(const uint8_t *text, size_t length, int folds, uint8_t *out);
/// Whether all bytes are ASCII.
int cp_is_ascii(const uint8_t *text, size_t length);
/// Makes A to Z small letters, and returns whether all bytes are ASCII.
int cp_lower_ascii(const uint8_t *text, size_t length, uint8_t *out);
/// The place of the first byte that is not ASCII, or the length.
size_t cp_find_not_ascii(const uint8_t *text, size_t length);
/// Whether bytes are well-formed UTF-8.
int cp_is_utf8(const uint8_t *text, size_t length);

/// The least and the greatest of the numbers that are not NaN; infinities the wrong way around without any.
void cp_extremes_doubles(const void *values, size_t count, double out[2]);
void cp_extremes_floats(const void *values, size_t count, double out[2]);

/// The values at some places of a packed column, as they stand there, of `width` bits: 1, 2, 4 or more. `bounds` become the
/// least and the greatest.
void cp_gather_packed(const void *values, unsigned width, const uint16_t *places, size_t count, uint64_t *out,
                      uint64_t bounds[2]);
/// Packs what is left of numbers that `base` is taken from, in `width` bits each.
void cp_pack(const uint64_t *numbers, size_t count, uint64_t base, unsigned width, void *out);
/// The values at some places, of `size` bytes each.
void cp_gather_fixed(const void *values, size_t size, const uint16_t *places, size_t count, void *out);
/// Bytes that values at some places take in a heap, counted from `first`. The lowest `end_bits` of each word tell where a
/// value ends there.
size_t cp_gathered_length(const void *words, unsigned end_bits, const uint16_t *places, size_t count, size_t first);
/// Puts these values one after another into a heap of `room` bytes, from `start` on; what is behind them may be written too.
/// `out_words` become where each ends there, with the other bits of its word. Where the last ends, or SIZE_MAX where there is
/// no room for one or none is where its word says.
size_t cp_gather_values(const void *words, unsigned end_bits, const void *heap, size_t heap_length,
                        const uint16_t *places, size_t count, size_t first, void *out, size_t room, size_t start,
                        void *out_words);
/// Puts keys at some places, of a prefix and a suffix each, one after another. `words` tells where each suffix ends, or is
/// null where all have `width` bytes. `ends` become where the keys end if the first stands at `end`.
void cp_gather_keys(const uint8_t *prefix, size_t prefix_length, const void *words, size_t width,
                    const uint8_t *suffixes, const uint16_t *places, size_t count, uint8_t *out, size_t end,
                    size_t *ends);
/// Puts suffixes that stand one after another, each behind a prefix and without its first `dropped` bytes, into `room` bytes.
/// `words` tells where each ends, the first of them beginning at `start`, or is null where all have `width` bytes. The
/// length of all, or SIZE_MAX where there is no room for one, none where its word says, or one is shorter than what is
/// dropped.
size_t cp_copy_suffixes(const void *prefix, size_t prefix_length, size_t dropped, const void *words, size_t start,
                        size_t width, const void *suffixes, size_t suffixes_length, size_t count, void *out,
                        size_t room);

/// A number of 128 bits and the place of what it stands for.
struct cp_sort_item {
  uint64_t low, high, place;
};
/// Sorts fewer than 2^32 by number; equal ones keep their order. `scratch` has room for as many.
void cp_sort(struct cp_sort_item *items, struct cp_sort_item *scratch, size_t count);

/// 16 bytes that are the same for all processes of one boot and differ from boot to boot. 0 or an errno.
int cp_boot_id(uint8_t out[16]);

/// 1 when the file system that holds the descriptor is a network or user-space one whose mappings and
/// locks are not coherent between processes; 0 when local or unknown.
int cp_is_remote(int descriptor);

/// Calls `visit` with the context descriptor of each type whose record an image of the process registered with the
/// Swift runtime (Swift ABI, TypeMetadata.rst, "Type context descriptors").
void cp_for_each_type(void (*visit)(const void *descriptor, void *context), void *context);

/// The complete metadata that the access function of a type that is not generic answers.
const void *cp_type_metadata(const void *accessor);

/// Calls an allocating initializer without parameters; answers the object, which the caller owns.
void *cp_call_allocating_init(const void *initializer, const void *metadata);

/// Memory for an object of a class, owned by the caller, with nothing but its header set. Null without a Swift runtime.
void *cp_allocate_object(const void *metadata, size_t size, size_t alignment_mask);

/// 1 where the calling thread has so little stack left that what calls itself must stop, else 0.
int cp_stack_is_short(void);

/// Has the objects of a class freed one after another where one frees the next, as in a chain of links: however long it is, that takes
/// little stack. Their class's own deinitializers run, the deep ones when the outermost has returned.
void cp_free_in_turn(const void *metadata);

// A thread's own variable at a known distance from where its variables are: there is no call to find it.
#if defined(__ELF__)
#define CP_FOUND_AT_ONCE __attribute__((tls_model("initial-exec")))
#else
#define CP_FOUND_AT_ONCE
#endif

/// Of this thread; 0 before it has a number.
extern _Thread_local uint64_t cp_this_thread CP_FOUND_AT_ONCE;
uint64_t cp_new_thread_number(void);

/// The same, for the language that must not read such variables.
static inline uint64_t cp_known_thread_number(void) { return cp_this_thread; }

/// A number that no other thread of the process has or had: the system gives the same handle to one thread after another.
static inline uint64_t cp_thread_number(void) {
  uint64_t number = cp_this_thread;
  return __builtin_expect(number != 0, 1) ? number : cp_new_thread_number();
}

/// Whether code that is isolated to an executor, which is two words, is running now. Without a Swift runtime, never.
bool cp_is_current_executor(uintptr_t identity, uintptr_t implementation);

/// A thread keeps here what it reads a frozen version with, under the number that all threads know that version by.
struct cp_reader {
  uint64_t number;
  const void *reader;
};
#define CP_KNOWN_READERS 32
extern _Thread_local struct cp_reader cp_readers[CP_KNOWN_READERS] CP_FOUND_AT_ONCE;

/// Answers what this thread reads with under a number that is not 0; null where the thread has forgotten it, or never knew it.
static inline const void *cp_known_reader(uint64_t number) {
  const struct cp_reader *known = &cp_readers[number % CP_KNOWN_READERS];
  return __builtin_expect(known->number == number, 1) ? known->reader : 0;
}

/// Notes what this thread reads with under a number, which is never given again.
static inline void cp_know_reader(uint64_t number, const void *reader) {
  cp_readers[number % CP_KNOWN_READERS] = (struct cp_reader){number, reader};
}

#endif
