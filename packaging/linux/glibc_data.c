// Data of glibc that Debian 12's static libraries read in a way that only programs may, for the library: the clock's zone
// of ICU, which the library asks for no time, and the standard error of libpng and libjpeg, of which this is a copy.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

long __timezone = 0;
int __daylight = 0;
char* __tzname[2] = {0, 0};
extern long timezone __attribute__((alias("__timezone")));
extern int daylight __attribute__((alias("__daylight")));
extern char* tzname[2] __attribute__((alias("__tzname")));

FILE* stderr;

static __attribute__((constructor)) void take_standard_error(void) {
  FILE** const real = dlsym(RTLD_NEXT, "stderr");
  if (real) stderr = *real;
}
