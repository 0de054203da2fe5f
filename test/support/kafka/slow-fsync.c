/* Preloaded into a broker: writing to its disk takes longer, by the milliseconds in the file that SLOW_FSYNC names. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void wait_as_told(void) {
  const char *name = getenv("SLOW_FSYNC");
  FILE *file = name ? fopen(name, "r") : NULL;
  unsigned int ms = 0;
  if (!file) return;
  if (fscanf(file, "%u", &ms) == 1) usleep(ms * 1000);
  fclose(file);
}

int fsync(int fd) {
  wait_as_told();
  return syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
  wait_as_told();
  return syscall(SYS_fdatasync, fd);
}

int msync(void *address, size_t length, int flags) {
  wait_as_told();
  return syscall(SYS_msync, address, length, flags);
}
