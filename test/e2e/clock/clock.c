// A wall clock that a scenario can set: preloaded into berth, it adds the seconds that the file BERTH_CLOCK_FILE holds
// (eight bytes, as the machine writes them) to what the system says. Clocks that only measure are left alone, as on a
// machine whose time is corrected.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static const volatile int64_t* offset_file;

__attribute__((constructor)) static void OpenOffset(void) {
  const char* path = getenv("BERTH_CLOCK_FILE");
  if (path == NULL) return;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void* mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) offset_file = mapped;
}

static int64_t Offset(void) { return offset_file == NULL ? 0 : *offset_file; }

int clock_gettime(clockid_t clock, struct timespec* now) {
  static int (*real)(clockid_t, struct timespec*);
  if (real == NULL) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  const int result = real(clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += Offset();
  return result;
}

int gettimeofday(struct timeval* now, void* zone) {
  static int (*real)(struct timeval*, void*);
  if (real == NULL) real = (int (*)(struct timeval*, void*))dlsym(RTLD_NEXT, "gettimeofday");
  const int result = real(now, zone);
  if (result == 0) now->tv_sec += Offset();
  return result;
}

time_t time(time_t* into) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (into != NULL) *into = now.tv_sec;
  return now.tv_sec;
}
