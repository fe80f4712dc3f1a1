/* GGUF and safetensors headers: what is there is found, and what lies is refused with a sentence about it. */
#include "check.h"
#include "lab/model_inside.h"
#include "lab/safetensors.h"
#include "tiny_gguf.h"

static void check_reading(void)
{
    struct err e = {0};
    struct view file = tiny_model(WEIGHT_F16);
    own(gguf) struct gguf *g = NULL;
    uint64_t n = 0;
    struct view text = VIEW("");
    CHECK(gguf_over(file, &g, &e));
    CHECK(gguf_uint(g, VIEW("llama.embedding_length"), &n));
    CHECK_EQ(n, TINY_WIDTH);
    CHECK(gguf_text(g, VIEW("general.name"), &text) && view_same(text, VIEW("tiny <script>")));
    CHECK(!gguf_uint(g, VIEW("general.name"), &n) && !gguf_text(g, VIEW("llama.block_count"), &text) && !gguf_uint(g, VIEW("no"), &n));
    CHECK_EQ(gguf_tensor_count(g), 3 + 9 * TINY_LAYERS);
    const struct gguf_tensor *t = gguf_tensor(g, VIEW("blk.1.ffn_down.weight"));
    CHECK(t && t->dims[0] == TINY_HIDDEN && t->dims[1] == TINY_WIDTH);
    CHECK_EQ(t->elements, TINY_HIDDEN * TINY_WIDTH);
    CHECK_EQ(t->bytes, 2 * TINY_HIDDEN * TINY_WIDTH);
    CHECK(!gguf_tensor(g, VIEW("blk.2.ffn_down.weight")));
    CHECK((const char *)t->data + t->bytes <= file.at + file.n && (const char *)t->data > file.at);
    free((void *)(uintptr_t)file.at);
}

/* What a wrong file is refused with; the model itself must not be made either. */
static void check_refused(const char *what, struct view file, const char *want)
{
    struct err e = {0};
    struct gguf *g = NULL;
    struct model *m = NULL;
    bool ok = gguf_over(file, &g, &e) && model_of_gguf(g, &(struct model_plan){0}, &m, &e);
    printf("%s: %s\n", what, e.text);
    CHECK(!ok);
    CHECK(e.kind != ERR_NONE && strstr(e.text, want));
    model_free(m);
    free((void *)(uintptr_t)file.at);
}

/* The right file with some bytes changed: those `after` bytes behind the name of a tensor or setting. */
static struct view changed(const char *name, size_t after, uint64_t value, size_t bytes)
{
    struct view v = tiny_model(WEIGHT_Q8_0);
    char *at = memmem(v.at, v.n, name, strlen(name));
    CHECK(at != NULL);
    for (size_t i = 0; i < bytes; i++, value >>= 8)
        at[strlen(name) + after + i] = (char)value;
    return v;
}

static struct view cut(size_t n)
{
    struct view v = tiny_model(WEIGHT_F32);
    char *shorter = malloc(n ? n : 1);
    memcpy(shorter, v.at, n);
    free((void *)(uintptr_t)v.at);
    return (struct view){shorter, n};
}

static struct view twice(void (*again)(struct tiny *))
{
    struct tiny t;
    tiny_init(&t, WEIGHT_F32);
    tiny_settings(&t);
    again(&t);
    if (!t.tensors)
        tiny_tensors(&t);
    return tiny_file(&t, 3);
}

static void same_setting(struct tiny *t) { tiny_uint(t, "llama.block_count", 2); }
static void same_tensor(struct tiny *t)
{
    tiny_tensors(t);
    tiny_tensor(t, "output_norm.weight", 0, TINY_WIDTH, 1);
}
static void odd_alignment(struct tiny *t) { tiny_uint(t, "general.alignment", 24); }

static void check_lies(void)
{
    /* Behind the name of a tensor: dimensions (4), sizes (8 each), type (4), offset (8). */
    enum { DIMS = 0, FIRST = 4, SECOND = 12, TYPE = 20, OFFSET = 24 };
    const char *q = "blk.0.attn_q.weight";
    check_refused("magic", cut(3), "no GGUF file");
    check_refused("version", changed("GGUF", 0, 9, 4), "version 9");
    check_refused("big-endian", changed("GGUF", 0, 0x03000000, 4), "little-endian");
    check_refused("tensor count", changed("GGUF", 4, UINT64_MAX / 2, 8), "more than there are bytes for");
    check_refused("setting count", changed("GGUF", 12, UINT64_C(1) << 40, 8), "more than there are bytes for");
    check_refused("kind of a value", changed("llama.block_count", 0, 77, 4), "kind 77");
    check_refused("array length", changed("tokenizer.ggml.token_type", 8, UINT64_MAX / 4, 8), "ends inside setting");
    check_refused("array of arrays", changed("tokenizer.ggml.token_type", 4, GGUF_ARRAY, 4), "array of kind 9");
    check_refused("dimensions", changed(q, DIMS, 5, 4), "5 dimensions");
    check_refused("no dimensions", changed(q, DIMS, 0, 4), "0 dimensions");
    check_refused("size that overflows", changed(q, FIRST, UINT64_C(1) << 62, 8), "a shape that cannot be");
    check_refused("bytes that nearly overflow", changed(q, SECOND, UINT64_C(1) << 57, 8), "not inside the file");
    check_refused("half a block", changed(q, FIRST, 33, 8), "whole blocks of 32");
    check_refused("empty", changed(q, SECOND, 0, 8), "a shape that cannot be");
    check_refused("larger than the file", changed(q, SECOND, 1 << 24, 8), "not inside the file");
    check_refused("type", changed(q, TYPE, 99, 4), "type 99");
    check_refused("type we cannot compute with", changed(q, TYPE, 24, 4), "type i8");
    check_refused("offset past the end", changed(q, OFFSET, UINT64_C(1) << 40, 8), "not inside the file");
    check_refused("offset that overflows", changed(q, OFFSET, UINT64_MAX - 31, 8), "not inside the file");
    check_refused("odd offset", changed(q, OFFSET, 7, 8), "not a multiple of 32");
    check_refused("over another", changed(q, OFFSET, 0, 8), "lie over each other");
    check_refused("setting twice", twice(same_setting), "there twice");
    check_refused("tensor twice", twice(same_tensor), "there twice");
    check_refused("alignment", twice(odd_alignment), "alignment of 24");
    check_refused("another shape", changed(q, SECOND, TINY_WIDTH / 2, 8), "is 32 x 64; 64 x 64 is expected");
    check_refused("layers", changed("llama.block_count", 4, 1 << 30, 4), "llama.block_count");
    check_refused("layers that are not there", changed("llama.block_count", 4, 3, 4), "blk.2");
    check_refused("no heads", changed("llama.attention.head_count", 4, 0, 4), "head_count' is 0");
    check_refused("heads and keys", changed("llama.attention.head_count_kv", 4, 3, 4), "we cannot run such a model");
    check_refused("tokenizer", changed("tokenizer.ggml.pre", 12, 'x', 1), "rules");
    check_refused("architecture", changed("general.architecture", 12, 'x', 1), "architecture is 'xlama'");
}

/* However short, it is refused and nothing behind its end is read. */
static void check_cuts(void)
{
    struct view whole = tiny_model(WEIGHT_F32);
    for (size_t n = 0; n < whole.n; n += n < 6000 ? 61 : 4099) {
        struct err e = {0};
        struct view v = cut(n);
        struct gguf *g = NULL;
        CHECK(!gguf_over(v, &g, &e) && e.kind != ERR_NONE);
        free((void *)(uintptr_t)v.at);
    }
    free((void *)(uintptr_t)whole.at);
}

static void check_safetensors(void)
{
    static const struct {
        const char *what, *header;
        uint64_t data_bytes;
        const char *error;
    } cases[] = {
        {"two tensors", "{\"__metadata__\":{\"format\":\"pt\"},\"a\":{\"dtype\":\"F16\",\"shape\":[2,3],\"data_offsets\":[0,12]},"
                        "\"b\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[12,16]}}", 16, NULL},
        {"padded", "{}   ", 0, NULL},
        {"past the end", "{\"a\":{\"dtype\":\"F16\",\"shape\":[2,3],\"data_offsets\":[8,20]}}", 16, "not inside the data"},
        {"backwards", "{\"a\":{\"dtype\":\"F16\",\"shape\":[2,3],\"data_offsets\":[12,0]}}", 16, "not inside the data"},
        {"bytes and shape", "{\"a\":{\"dtype\":\"F16\",\"shape\":[2,4],\"data_offsets\":[0,12]}}", 16, "do not take"},
        {"overflow", "{\"a\":{\"dtype\":\"F64\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 16, "shape that cannot be"},
        {"overflow in bytes", "{\"a\":{\"dtype\":\"F64\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}", 16, "do not take"},
        {"shared bytes", "{\"a\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]},\"b\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[4,12]}}",
         16, "share bytes"},
        {"type", "{\"a\":{\"dtype\":\"Q9\",\"shape\":[8],\"data_offsets\":[0,8]}}", 16, "'Q9' is not known"},
        {"negative", "{\"a\":{\"dtype\":\"U8\",\"shape\":[-8],\"data_offsets\":[0,8]}}", 16, "whole number"},
        {"no offsets", "{\"a\":{\"dtype\":\"U8\",\"shape\":[8]}}", 16, "data_offsets are expected"},
        {"three offsets", "{\"a\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8,9]}}", 16, "two offsets"},
        {"not JSON", "nothing", 16, "line 1"},
        {"more behind", "{} x", 0, "line 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        own(buf) struct buf file;
        own(safetensors) struct safetensors s = {0};
        struct err e = {0};
        buf_init(&file, 1 << 16);
        put_uint(&file, strlen(cases[i].header), 8);
        buf_puts(&file, cases[i].header);
        bool ok = safetensors_over(buf_view(&file), file.len + cases[i].data_bytes, &s, &e);
        printf("%s: %s\n", cases[i].what, e.text);
        CHECK_EQ(ok, cases[i].error == NULL);
        CHECK(ok || strstr(e.text, cases[i].error));
        if (i == 0) {
            CHECK_EQ(s.n, 2);
            CHECK_EQ(s.parameters, 7);
            CHECK_STR(safetensors_usual_type(&s), "F16");
        }
    }
}

int main(void)
{
    check_reading();
    check_lies();
    check_cuts();
    check_safetensors();
    return CHECK_DONE();
}
