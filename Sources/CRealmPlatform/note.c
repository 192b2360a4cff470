#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CRealmPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/epoll.h>
#else
#include <sys/event.h>
#include <sys/time.h>
#endif

static int open_pipe(const char *path) { return cp_above_standard(open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)); }

int cp_note_open(const char *path, int *made) {
  *made = 0;
  int descriptor = open_pipe(path);
  if (descriptor == -1 && errno == ENOENT) {
    *made = mkfifo(path, 0666) == 0;
    if (!*made && errno != EEXIST) return -errno;
    descriptor = open_pipe(path);
  }
  if (descriptor == -1) return -errno;
  struct stat info;
  if (fstat(descriptor, &info) == 0 && S_ISFIFO(info.st_mode)) return descriptor;
  close(descriptor);
  return -EEXIST;
}

int cp_note_wake(int descriptor) {
  for (;;) {
    if (write(descriptor, "", 1) == 1) return 0;
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return errno;
    // The pipe is full of wake-ups that are not needed any more. A waiting thread is woken by the next byte, and not by
    // bytes that are in the pipe already, so they can be removed.
    char bytes[4096];
    ssize_t count;
    do count = read(descriptor, bytes, sizeof bytes);
    while (count > 0 || (count == -1 && errno == EINTR));
  }
}

int cp_note_watch(int descriptor) {
#if defined(__linux__)
  int queue = cp_above_standard(epoll_create1(EPOLL_CLOEXEC));
  if (queue == -1) return -errno;
  struct epoll_event event = {.events = EPOLLIN | EPOLLET};
  int result = epoll_ctl(queue, EPOLL_CTL_ADD, descriptor, &event);
#else
  int queue = cp_above_standard(kqueue());
  if (queue == -1) return -errno;
  struct kevent event;
  EV_SET(&event, descriptor, EVFILT_READ, EV_ADD | EV_CLEAR, 0, 0, NULL);
  int result = kevent(queue, &event, 1, NULL, 0, NULL);
#endif
  if (result == 0) return queue;
  result = -errno;
  close(queue);
  return result;
}

int cp_note_wait(int queue, int milliseconds) {
#if defined(__linux__)
  struct epoll_event event;
  int count = epoll_wait(queue, &event, 1, milliseconds);
#else
  struct kevent event;
  struct timespec limit = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
  int count = kevent(queue, NULL, 0, &event, 1, &limit);
#endif
  return count == -1 && errno != EINTR ? -errno : 0;
}
