// What Debian 12's static libraries, GCC's among them, ask of glibc 2.36, and glibc 2.31 does not have.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

// 2.32: whether the process has one thread. It is never taken for sure, so that reference counts are atomic.
char __libc_single_threaded = 0;

// 2.36: std::random_device, and the seeds of expat and libzip.
void arc4random_buf(void* to, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t got = getrandom((char*)to + done, bytes - done, 0);
    if (got > 0) done += (size_t)got;
  }
}
uint32_t arc4random(void) {
  uint32_t number;
  arc4random_buf(&number, sizeof number);
  return number;
}

// 2.35: where the unwinder finds the frames of the code at an address.
struct search {
  uintptr_t address;
  struct dl_find_object* found;
};
static int holds(struct dl_phdr_info* object, size_t size, void* data) {
  struct search* search = data;
  uintptr_t frames = 0;
  int inside = 0;
  (void)size;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) frames = begin;
    if (part->p_type != PT_LOAD || search->address < begin || search->address - begin >= part->p_memsz) continue;
    inside = 1;
    search->found->dlfo_map_start = (void*)begin;
    search->found->dlfo_map_end = (void*)(begin + part->p_memsz);
  }
  search->found->dlfo_eh_frame = (void*)frames;
  return inside && frames != 0;
}
int _dl_find_object(void* address, struct dl_find_object* found) {
  struct search search = {(uintptr_t)address, found};
  found->dlfo_flags = 0;
  found->dlfo_link_map = 0;
  return dl_iterate_phdr(holds, &search) ? 0 : -1;
}
