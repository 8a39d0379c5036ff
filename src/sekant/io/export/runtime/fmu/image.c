/* ---- The memory of Sekant's own procedures: a relocatable image, with the list of words that are addresses. ---- */

typedef union { long long whole; double number; } Word;
typedef long long Procedure(void *memory, double a, double b);
typedef struct { unsigned int word; void (*function)(const double *const *, double *const *, double *); } FunctionWord;
typedef struct { unsigned int word; const double *array; } ArrayWord;
typedef struct {
    size_t words;
    const unsigned long long *content; size_t contents;
    const unsigned int *data; size_t datas;
    const FunctionWord *function; size_t functions;
    const ArrayWord *outside; size_t outsides;
} Image;

/* Set the addresses for memory at w; memory that is `away`, such as in a file, has none. */
static void set_addresses(const Image *image, Word *w, int away) {
    for (size_t i = 0; i < image->datas; i++) {
        const size_t k = image->data[i];
        w[k].whole = away ? 0 : (long long)(k < image->contents ? image->content[k] : 0) + (long long)(intptr_t)w;
    }
    for (size_t i = 0; i < image->functions; i++)
        w[image->function[i].word].whole = away ? 0 : (long long)(intptr_t)image->function[i].function;
    for (size_t i = 0; i < image->outsides; i++)
        w[image->outside[i].word].whole = away ? 0 : (long long)(intptr_t)image->outside[i].array;
}

/* Fill memory from the image. */
static void lay_out(const Image *image, Word *w) {
    memset(w, 0, image->words * sizeof *w);
    memcpy(w, image->content, image->contents * sizeof *w);
    set_addresses(image, w, 0);
}
