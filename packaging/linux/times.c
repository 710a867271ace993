// The clock's zone, which Debian 12's static ICU reads of glibc in a way that only programs may: for the library, which asks
// ICU for no time, of its own.
long __timezone = 0;
int __daylight = 0;
char* __tzname[2] = {0, 0};
extern long timezone __attribute__((alias("__timezone")));
extern int daylight __attribute__((alias("__daylight")));
extern char* tzname[2] __attribute__((alias("__tzname")));
