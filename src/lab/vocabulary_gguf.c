/* The vocabulary of a GGUF file. Texts stay in the map of the file; pieces that differ from their text are copies. */
#include "base/mem.h"
#include "lab/gguf.h"
#include "lab/vocabulary.h"
#include "lab/words.h"

#include <ctype.h>

#define KEY(name) VIEW("tokenizer.ggml." name)

static const struct gguf_value *array_of(const struct gguf *g, struct view key, uint64_t n)
{
    const struct gguf_value *v = gguf_value(g, key);
    return v && v->kind == GGUF_ARRAY && v->n >= n ? v : NULL;
}

/* Pieces. */

static struct view piece_of_bpe(struct vocabulary *v, struct view text)
{
    char *bytes = arena_new(&v->arena, text.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n;) {
        uint32_t c = (uint8_t)text.at[i++];
        if (c >= 0xc0 && c < 0xe0 && i < text.n)
            c = (c & 0x1f) << 6 | ((uint8_t)text.at[i++] & 0x3f);
        int byte = byte_of_character(c);
        if (byte < 0)
            return text; /* written as it is */
        bytes[n++] = (char)byte;
    }
    return (struct view){bytes, n};
}

static struct view piece_of_spm(struct vocabulary *v, struct view text)
{
    static const struct view blank = {"\xe2\x96\x81", 3};
    char *bytes = arena_new(&v->arena, text.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n;) {
        bool is_blank = view_starts((struct view){text.at + i, text.n - i}, blank);
        bytes[n++] = is_blank ? ' ' : text.at[i];
        i += is_blank ? blank.n : 1;
    }
    return (struct view){bytes, n};
}

/* "<0x0A>" */
static int byte_named(struct view text)
{
    unsigned byte = 0;
    if (text.n != 6 || !view_starts(text, VIEW("<0x")) || text.at[5] != '>')
        return -1;
    for (size_t i = 3; i < 5; i++) {
        if (!isxdigit((unsigned char)text.at[i]))
            return -1;
        byte = byte * 16 + (unsigned)(isdigit((unsigned char)text.at[i]) ? text.at[i] - '0' : (text.at[i] | 0x20) - 'a' + 10);
    }
    return (int)byte;
}

static struct view piece_of(struct vocabulary *v, uint32_t i)
{
    switch (v->kind[i]) {
    case TOKEN_CONTROL: case TOKEN_UNUSED: case TOKEN_UNKNOWN: return VIEW("");
    case TOKEN_USER: return v->text[i];
    default: break;
    }
    int byte = v->kind[i] == TOKEN_BYTE ? byte_named(v->text[i]) : -1;
    if (byte >= 0) {
        char *one = arena_new(&v->arena, 1);
        *one = (char)byte;
        return (struct view){one, 1};
    }
    return v->way == VOCABULARY_BPE ? piece_of_bpe(v, v->text[i]) : piece_of_spm(v, v->text[i]);
}

static void find_bytes(struct vocabulary *v)
{
    memset(v->byte, 0xff, sizeof v->byte);
    for (uint32_t b = 0; v->way == VOCABULARY_BPE && b < 256; b++) {
        uint32_t c = character_of_byte((uint8_t)b);
        char text[2] = {(char)(0xc0 | c >> 6), (char)(0x80 | (c & 0x3f))};
        char plain = (char)c;
        v->byte[b] = vocabulary_find(v, c < 0x80 ? (struct view){&plain, 1} : (struct view){text, 2});
    }
    for (uint32_t i = 0; v->way == VOCABULARY_SPM && i < v->n; i++)
        if (v->kind[i] == TOKEN_BYTE && byte_named(v->text[i]) >= 0)
            v->byte[byte_named(v->text[i])] = i;
}

static bool read_tokens(struct vocabulary *v, const struct gguf *g, struct err *e)
{
    const struct gguf_value *tokens = array_of(g, KEY("tokens"), 1);
    if (!tokens || tokens->of != GGUF_TEXT || tokens->n >= IDMAP_NONE)
        return err_set(e, ERR_MALFORMED, "there is no vocabulary: setting 'tokenizer.ggml.tokens' is missing or not a list of texts");
    v->n = (uint32_t)tokens->n;
    v->text = mem_new(v->n * sizeof *v->text);
    v->piece = mem_new(v->n * sizeof *v->piece);
    v->kind = mem_new(v->n);
    v->is_end = mem_new(v->n * sizeof *v->is_end);
    const struct gguf_value *kinds = array_of(g, KEY("token_type"), v->n);
    const uint8_t *at = tokens->at;
    for (uint32_t i = 0; i < v->n; i++) {
        v->text[i] = gguf_next_text(&at);
        int64_t kind = kinds ? gguf_int_at(kinds, i) : TOKEN_NORMAL;
        v->kind[i] = kind >= TOKEN_NORMAL && kind <= TOKEN_BYTE ? (uint8_t)kind : TOKEN_NORMAL;
        v->piece[i] = piece_of(v, i);
    }
    vocabulary_index(v);
    find_bytes(v);
    return true;
}

/* Scores and merges. */

static bool read_scores(struct vocabulary *v, const struct gguf *g, struct err *e)
{
    const struct gguf_value *scores = array_of(g, KEY("scores"), v->n);
    if (!scores || scores->of != GGUF_F32)
        return err_set(e, ERR_MALFORMED, "setting 'tokenizer.ggml.scores' is missing, or shorter than the vocabulary");
    v->score = mem_new(v->n * sizeof *v->score);
    for (uint32_t i = 0; i < v->n; i++)
        v->score[i] = (float)gguf_double_at(scores, i);
    v->adds_blank = true;
    gguf_bool(g, KEY("add_space_prefix"), &v->adds_blank);
    return true;
}

/* "left right"; the left one is at least a character, which may be a blank. */
static bool read_merge(const struct vocabulary *v, struct view text, struct merge *out)
{
    const char *gap = text.n > 1 ? memchr(text.at + 1, ' ', text.n - 1) : NULL;
    if (!gap)
        return false;
    struct view left = view_between(text.at, gap), right = view_between(gap + 1, text.at + text.n);
    char joined[512];
    if (left.n + right.n > sizeof joined)
        return false;
    memcpy(joined, left.at, left.n);
    memcpy(joined + left.n, right.at, right.n);
    *out = (struct merge){vocabulary_find(v, left), vocabulary_find(v, right), vocabulary_find(v, (struct view){joined, left.n + right.n})};
    return out->left != TOKEN_NONE && out->right != TOKEN_NONE && out->joined != TOKEN_NONE;
}

static bool read_merges(struct vocabulary *v, const struct gguf *g, struct err *e)
{
    const struct gguf_value *merges = array_of(g, KEY("merges"), 0);
    if (!merges || merges->of != GGUF_TEXT || merges->n >= IDMAP_NONE)
        return err_set(e, ERR_MALFORMED, "setting 'tokenizer.ggml.merges' is missing");
    v->merges = mem_new((size_t)merges->n * sizeof *v->merges);
    const uint8_t *at = merges->at;
    for (uint64_t i = 0; i < merges->n; i++) {
        struct merge *m = &v->merges[v->n_merges];
        if (!read_merge(v, gguf_next_text(&at), m) || vocabulary_merge(v, m->left, m->right) != IDMAP_NONE)
            continue; /* nothing the vocabulary could say, or said before */
        idmap_add(&v->by_pair, idmap_hash_pair(&v->by_pair, m->left, m->right), (uint32_t)v->n_merges++);
    }
    struct view pre = VIEW("default");
    gguf_text(g, KEY("pre"), &pre);
    v->rules = word_rules_named(pre);
    if (!v->rules)
        return err_set(e, ERR_UNSUPPORTED, "its words are cut by the rules '%.*s'; gpt-2, llama-bpe, qwen2 and smollm are known",
                       pre.n < 40 ? (int)pre.n : 40, pre.at);
    return true;
}

/* Marks. */

static uint32_t mark(const struct vocabulary *v, const struct gguf *g, struct view key)
{
    uint64_t token;
    return gguf_uint(g, key, &token) && token < v->n ? (uint32_t)token : TOKEN_NONE;
}

static void read_marks(struct vocabulary *v, const struct gguf *g)
{
    static const struct view names[] = {VIEW("<|im_end|>"), VIEW("<|eot_id|>"), VIEW("<|end|>"), VIEW("<|endoftext|>"), VIEW("<|end_of_text|>")};
    v->begin = mark(v, g, KEY("bos_token_id"));
    v->end = mark(v, g, KEY("eos_token_id"));
    uint32_t turn_end = mark(v, g, KEY("eot_token_id"));
    if (v->end != TOKEN_NONE)
        v->is_end[v->end] = true;
    if (turn_end != TOKEN_NONE)
        v->is_end[turn_end] = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t token = vocabulary_find(v, names[i]);
        if (token != TOKEN_NONE && v->kind[token] != TOKEN_NORMAL)
            v->is_end[token] = true;
    }
    v->adds_begin = v->way == VOCABULARY_SPM || v->rules->adds_begin;
    gguf_bool(g, KEY("add_bos_token"), &v->adds_begin);
}

bool vocabulary_read(const struct gguf *g, struct vocabulary **out, struct err *e)
{
    struct view way = VIEW("(none)");
    gguf_text(g, KEY("model"), &way);
    bool is_bpe = view_same(way, VIEW("gpt2"));
    if (!is_bpe && !view_same(way, VIEW("llama")))
        return err_set(e, ERR_UNSUPPORTED, "its tokenizer is '%.*s'; 'llama' (SentencePiece) and 'gpt2' (byte-level BPE) are known",
                       way.n < 40 ? (int)way.n : 40, way.at);
    own(vocabulary) struct vocabulary *v = mem_new(sizeof *v);
    v->way = is_bpe ? VOCABULARY_BPE : VOCABULARY_SPM;
    idmap_init(&v->by_pair);
    if (!read_tokens(v, g, e) || !(is_bpe ? read_merges(v, g, e) : read_scores(v, g, e)))
        return false;
    read_marks(v, g);
    *out = take(v);
    return true;
}
