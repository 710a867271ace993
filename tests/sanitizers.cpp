// Linked into everything the sanitizers watch: what they are asked to look for, and where they must look away.

extern "C" {

const char* __asan_default_options();
const char* __ubsan_default_options();
int dlclose(void* library);

const char* __asan_default_options() {
  // Short traces of allocations and 32 MB of freed memory that is not given out again: with AddressSanitizer's own 30
  // calls and 256 MB the tests take a tenth longer. intercept_tls_get_addr=0: up to GCC 13 the sanitizer takes a block
  // of thread-local variables whose address happens to be 16 bytes past a page for one with a header that glibc 2.25
  // gave up, and the search for leaks dies of the address that it reads there.
  return "strict_string_checks=1:detect_stack_use_after_return=1:check_initialization_order=1:malloc_context_size=8:"
         "quarantine_size_mb=32:intercept_tls_get_addr=0";
}

const char* __ubsan_default_options() { return "print_stacktrace=1"; }

// A library, once loaded, stays. Mesa's drivers are unloaded when a window closes, and memory that only their variables
// pointed to would then count as leaked, at places without a name.
int dlclose(void*) { return 0; }
}
