/* ---- FMI 2.0 ---- */
#ifdef FMI2_FUNCTION_PREFIX
#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)
#define F(name) GLUE(FMI2_FUNCTION_PREFIX, fmi2##name)
#else
#define F(name) fmi2##name
#endif
typedef int Boolean;
typedef char Byte;
typedef const char *String;
typedef enum { OK, WARNING, DISCARD, ERROR, FATAL, PENDING } Status;
typedef void (*Logger)(void *, String, Status, String, String, ...);
typedef struct {
    Logger logger;
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, Status);
    void *environment;
} Callbacks;
typedef struct { Boolean update_again, terminate, nominals_changed, states_changed, time_defined; double time; } EventInfo;
#define LOG(logger, environment, name, status, text) logger(environment, name, status, "logStatusError", "%s", text)
#define GetFMUState GetFMUstate
#define SetFMUState SetFMUstate
#define FreeFMUState FreeFMUstate
#define SerializedFMUStateSize SerializedFMUstateSize
#define SerializeFMUState SerializeFMUstate
#define DeserializeFMUState DeSerializeFMUstate
#define GetContinuousStateDerivatives GetDerivatives
