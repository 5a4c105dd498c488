/* For shared libraries: functions that the C library has under several versions, asked for under
 * the oldest, so that what is built on a new system loads on older ones. Of hypot the versions
 * compute the same; the later one leaves errno alone. The linker brings calls here
 * (--wrap=hypot). */
#ifdef __x86_64__
#define OLDEST "GLIBC_2.2.5"
#else
#define OLDEST "GLIBC_2.17"
#endif

double oldest_hypot(double x, double y);
__asm__(".symver oldest_hypot,hypot@" OLDEST);

double __wrap_hypot(double x, double y);
double __wrap_hypot(double x, double y) { return oldest_hypot(x, y); }
