/* Which version of Terrazzo a program is compiled for; tz_version() says which one it runs with.
 *
 *   #if TZ_VERSION >= TZ_VERSION_OF(0, 2, 0)
 *
 * The number of libterrazzo.so.0 counts what breaks programs that were compiled before. */
#ifndef TERRAZZO_VERSION_H
#define TERRAZZO_VERSION_H

#define TZ_VERSION_MAJOR 0
#define TZ_VERSION_MINOR 1
#define TZ_VERSION_PATCH 0
#define TZ_VERSION_STRING "0.1.0"
#define TZ_VERSION_OF(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define TZ_VERSION TZ_VERSION_OF(TZ_VERSION_MAJOR, TZ_VERSION_MINOR, TZ_VERSION_PATCH)

#endif
