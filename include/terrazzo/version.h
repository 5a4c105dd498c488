/* Which version of Terrazzo a program is compiled for; tz_version() says which one it runs with.
 *
 *   #if TZ_VERSION >= TZ_VERSION_OF(0, 2, 0)
 *
 * The number of libterrazzo.so.0 counts what breaks programs that were compiled before.
 * Structs that may grow begin with `struct_size`, so that a program and a library of different
 * versions understand each other. Whoever makes one sets it, also where it is to be filled:
 *
 *   tz_compile_options o = {TZ_SIZED(tz_compile_options), .devices = 8};
 *   tz_stats s = {TZ_SIZED(tz_stats)};
 *
 * To a library that is newer than the program, what is missing is zero; one that is older refuses a
 * struct only if what it does not know is not zero. Zero in struct_size is an error. Structs
 * without it stay as they are. A field that is added lies behind the struct as it was, not in its
 * padding, which earlier programs leave as it is (tools/abi checks). */
#ifndef TERRAZZO_VERSION_H
#define TERRAZZO_VERSION_H

#define TZ_VERSION_MAJOR 0
#define TZ_VERSION_MINOR 1
#define TZ_VERSION_PATCH 0
#define TZ_VERSION_STRING "0.1.0"
#define TZ_VERSION_OF(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define TZ_VERSION TZ_VERSION_OF(TZ_VERSION_MAJOR, TZ_VERSION_MINOR, TZ_VERSION_PATCH)

#define TZ_SIZED(type) .struct_size = sizeof(type)

#endif
