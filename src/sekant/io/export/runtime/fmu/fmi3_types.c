/* ---- FMI 3.0 ---- */
#include <stdbool.h>
#include <stdint.h>
#ifdef FMI3_FUNCTION_PREFIX
#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)
#define F(name) GLUE(FMI3_FUNCTION_PREFIX, fmi3##name)
#else
#define F(name) fmi3##name
#endif
typedef bool Boolean;
typedef uint8_t Byte;
typedef const char *String;
typedef enum { OK, WARNING, DISCARD, ERROR, FATAL } Status;
typedef void (*Logger)(void *, Status, String, String);
#define LOG(logger, environment, name, status, text) logger(environment, status, "logStatusError", text)
