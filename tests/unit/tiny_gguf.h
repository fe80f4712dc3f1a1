/* tiny_gguf.h - GGUF files made in memory, right or wrong in one place, for tests. */
#pragma once
#include "base/buf.h"
#include "lab/gguf.h"
#include "lab/weights.h"

#include <stdint.h>

enum { TINY_WIDTH = 64, TINY_LAYERS = 2, TINY_HEADS = 4, TINY_KV_HEADS = 2, TINY_HIDDEN = 96, TINY_CONTEXT = 80, TINY_WORDS = 260 };
enum { TINY_KV = TINY_WIDTH / TINY_HEADS * TINY_KV_HEADS };

struct tiny {
    struct buf head, data;
    uint64_t values, tensors;
    enum weight_type type; /* of matrices */
    uint64_t dice;
};

static inline void put_uint(struct buf *b, uint64_t n, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++, n >>= 8)
        buf_add(b, &(char){(char)n}, 1);
}

static inline void put_text(struct buf *b, struct view v)
{
    put_uint(b, v.n, 8);
    buf_add(b, v.at, v.n);
}

static inline void tiny_key(struct tiny *t, const char *key, enum gguf_kind kind)
{
    put_text(&t->head, view_of(key));
    put_uint(&t->head, kind, 4);
    t->values++;
}

static inline void tiny_uint(struct tiny *t, const char *key, uint32_t n)
{
    tiny_key(t, key, GGUF_U32);
    put_uint(&t->head, n, 4);
}

static inline void tiny_text(struct tiny *t, const char *key, const char *text)
{
    tiny_key(t, key, GGUF_TEXT);
    put_text(&t->head, view_of(text));
}

static inline void tiny_array(struct tiny *t, const char *key, enum gguf_kind of, uint64_t n)
{
    tiny_key(t, key, GGUF_ARRAY);
    put_uint(&t->head, of, 4);
    put_uint(&t->head, n, 8);
}

static inline float tiny_number(struct tiny *t)
{
    t->dice = t->dice * 6364136223846793005u + 1442695040888963407u;
    return (float)((double)(t->dice >> 11) * 0x1p-53 - 0.5);
}

/* Described in the head, its numbers random about `middle`. */
static inline void tiny_tensor(struct tiny *t, const char *name, size_t rows, size_t columns, float middle)
{
    static const uint32_t numbers[] = {[WEIGHT_F32] = TENSOR_F32, [WEIGHT_F16] = TENSOR_F16, [WEIGHT_BF16] = TENSOR_BF16,
                                       [WEIGHT_Q8_0] = TENSOR_Q8_0, [WEIGHT_Q4_0] = TENSOR_Q4_0};
    enum weight_type type = rows ? t->type : WEIGHT_F32;
    put_text(&t->head, view_of(name));
    put_uint(&t->head, rows ? 2 : 1, 4);
    put_uint(&t->head, columns, 8);
    if (rows)
        put_uint(&t->head, rows, 8);
    put_uint(&t->head, numbers[type], 4);
    put_uint(&t->head, t->data.len, 8);
    t->tensors++;
    float row[256];
    for (size_t r = 0; r < (rows ? rows : 1); r++) {
        for (size_t i = 0; i < columns; i++)
            row[i] = middle + tiny_number(t) * (rows ? 0.4f : 0.5f);
        weight_pack(type, buf_room(&t->data, weight_bytes(type, columns)), row, columns);
    }
    while (t->data.len % 32)
        put_uint(&t->data, 0, 1);
}

/* Byte-level words: every byte, two merges ("ab", then "abc"), two marks. */
static inline void tiny_words(struct tiny *t)
{
    tiny_text(t, "tokenizer.ggml.model", "gpt2");
    tiny_text(t, "tokenizer.ggml.pre", "gpt-2");
    tiny_array(t, "tokenizer.ggml.tokens", GGUF_TEXT, TINY_WORDS);
    for (uint32_t b = 0, other = 256; b < 256; b++) {
        uint32_t c = (b > 32 && b < 127) || (b > 160 && b != 173) ? b : other++;
        char text[2] = {(char)(c < 128 ? c : 0xc0 | c >> 6), (char)(0x80 | (c & 0x3f))};
        put_text(&t->head, (struct view){text, c < 128 ? 1 : 2});
    }
    put_text(&t->head, VIEW("ab"));
    put_text(&t->head, VIEW("abc"));
    put_text(&t->head, VIEW("<|im_start|>"));
    put_text(&t->head, VIEW("<|im_end|>"));
    tiny_array(t, "tokenizer.ggml.token_type", GGUF_I32, TINY_WORDS);
    for (uint32_t i = 0; i < TINY_WORDS; i++)
        put_uint(&t->head, i < 258 ? 1 : 3, 4);
    tiny_array(t, "tokenizer.ggml.merges", GGUF_TEXT, 2);
    put_text(&t->head, VIEW("a b"));
    put_text(&t->head, VIEW("ab c"));
}

static inline void tiny_settings(struct tiny *t)
{
    tiny_text(t, "general.architecture", "llama");
    tiny_text(t, "general.name", "tiny <script>");
    tiny_uint(t, "llama.embedding_length", TINY_WIDTH);
    tiny_uint(t, "llama.block_count", TINY_LAYERS);
    tiny_uint(t, "llama.feed_forward_length", TINY_HIDDEN);
    tiny_uint(t, "llama.context_length", TINY_CONTEXT);
    tiny_uint(t, "llama.attention.head_count", TINY_HEADS);
    tiny_uint(t, "llama.attention.head_count_kv", TINY_KV_HEADS);
    tiny_words(t);
}

static inline void tiny_tensors(struct tiny *t)
{
    const struct {
        const char *name;
        size_t rows, columns;
    } rows[] = {
        {"attn_norm", 0, TINY_WIDTH}, {"attn_q", TINY_WIDTH, TINY_WIDTH}, {"attn_k", TINY_KV, TINY_WIDTH}, {"attn_v", TINY_KV, TINY_WIDTH},
        {"attn_output", TINY_WIDTH, TINY_WIDTH}, {"ffn_norm", 0, TINY_WIDTH}, {"ffn_gate", TINY_HIDDEN, TINY_WIDTH},
        {"ffn_up", TINY_HIDDEN, TINY_WIDTH}, {"ffn_down", TINY_WIDTH, TINY_HIDDEN},
    };
    tiny_tensor(t, "token_embd.weight", TINY_WORDS, TINY_WIDTH, 0);
    tiny_tensor(t, "output_norm.weight", 0, TINY_WIDTH, 1);
    tiny_tensor(t, "output.weight", TINY_WORDS, TINY_WIDTH, 0);
    for (int layer = 0; layer < TINY_LAYERS; layer++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            char name[64];
            snprintf(name, sizeof name, "blk.%d.%s.weight", layer, rows[i].name);
            tiny_tensor(t, name, rows[i].rows, rows[i].columns, rows[i].rows ? 0 : 1);
        }
}

static inline void tiny_init(struct tiny *t, enum weight_type type)
{
    *t = (struct tiny){.type = type, .dice = 1};
    buf_init(&t->head, 1 << 20);
    buf_init(&t->data, 1 << 24);
}

/* The whole file, in memory of its own that is aligned; free it. */
static inline struct view tiny_file(struct tiny *t, uint32_t version)
{
    struct buf b;
    buf_init(&b, 1 << 25);
    buf_puts(&b, "GGUF");
    put_uint(&b, version, 4);
    put_uint(&b, t->tensors, 8);
    put_uint(&b, t->values, 8);
    buf_add(&b, t->head.data, t->head.len);
    while (b.len % 32)
        put_uint(&b, 0, 1);
    buf_add(&b, t->data.data, t->data.len);
    buf_done(&t->head);
    buf_done(&t->data);
    char *exact = malloc(b.len); /* as long as the file: a sanitizer sees a step too far */
    memcpy(exact, b.data, b.len);
    struct view v = {exact, b.len};
    buf_done(&b);
    return v;
}

static inline struct view tiny_model(enum weight_type type)
{
    struct tiny t;
    tiny_init(&t, type);
    tiny_settings(&t);
    tiny_tensors(&t);
    return tiny_file(&t, 3);
}
