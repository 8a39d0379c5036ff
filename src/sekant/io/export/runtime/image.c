/* ---- The memory of Sekant's own procedures: an image that can stand anywhere, with the words that are addresses. ---- */

typedef union { long long whole; double number; } Word;
typedef struct { unsigned int word; void (*function)(const double *const *, double *const *, double *); } FunctionWord;
typedef struct { unsigned int word; const double *array; } ArrayWord;
typedef struct {
    size_t words;
    const unsigned long long *content; size_t contents;
    const unsigned int *data; size_t datas;
    const FunctionWord *function; size_t functions;
    const ArrayWord *outside; size_t outsides;
} Image;

/* Memory as the image says; whoever asks for it frees it. */
static Word *laid_out(const Image *image) {
    Word *const w = calloc(image->words, sizeof *w);
    if (!w) return w;
    memcpy(w, image->content, image->contents * sizeof *w);
    for (size_t i = 0; i < image->datas; i++) w[image->data[i]].whole += (long long)(intptr_t)w;
    for (size_t i = 0; i < image->functions; i++)
        w[image->function[i].word].whole = (long long)(intptr_t)image->function[i].function;
    for (size_t i = 0; i < image->outsides; i++)
        w[image->outside[i].word].whole = (long long)(intptr_t)image->outside[i].array;
    return w;
}
