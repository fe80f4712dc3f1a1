#include "net/http_head.h"
#include "base/text.h"

#include <strings.h>

#define MOST_FIELDS 100

/* What is known while the lines are read. */
struct judging {
    const struct http_head_rules *rules;
    bool is_1_0;
    unsigned fields, hosts, lengths, encodings, origins;
    struct view host, origin;
    int status;
    const char *sentence;
};

static bool wrong(struct judging *j, int status, const char *sentence)
{
    j->status = status;
    j->sentence = sentence;
    return false;
}

static bool is_token_byte(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct view v)
{
    for (size_t i = 0; i < v.n; i++)
        if (!is_token_byte((unsigned char)v.at[i]))
            return false;
    return v.n > 0;
}

static bool is_value(struct view v)
{
    for (size_t i = 0; i < v.n; i++) {
        unsigned char c = (unsigned char)v.at[i];
        if (c == 127 || (c < ' ' && c != '\t'))
            return false;
    }
    return true;
}

static bool is_word(struct view v, const char *word) { return v.n == strlen(word) && !strncasecmp(v.at, word, v.n); }

static struct view trimmed(struct view v)
{
    while (v.n && (*v.at == ' ' || *v.at == '\t'))
        v.at++, v.n--;
    while (v.n && (v.at[v.n - 1] == ' ' || v.at[v.n - 1] == '\t'))
        v.n--;
    return v;
}

/* Cuts what stands in front of the separator off *rest; false when there is no separator. */
static bool cut(struct view *rest, char separator, struct view *out)
{
    const char *at = rest->n ? memchr(rest->at, separator, rest->n) : NULL;
    if (!at)
        return false;
    *out = view_between(rest->at, at);
    *rest = view_between(at + 1, rest->at + rest->n);
    return true;
}

/* "GET /v1/models HTTP/1.1" */

static bool is_path(struct view target)
{
    for (size_t i = 0; i < target.n; i++)
        if (target.at[i] <= ' ' || target.at[i] > '~')
            return false;
    return target.n && *target.at == '/' && !memmem(target.at, target.n, "%00", 3);
}

static bool judge_request_line(struct judging *j, struct view line)
{
    struct view method, target, version = line;
    if (!cut(&version, ' ', &method) || !cut(&version, ' ', &target) || !is_token(method))
        return wrong(j, 400, "the request line is not METHOD /path HTTP/1.1");
    if (!is_path(target))
        return wrong(j, 400, "the request target is not a path");
    if (!view_starts(version, VIEW("HTTP/")))
        return wrong(j, 400, "the request line is not METHOD /path HTTP/1.1");
    j->is_1_0 = view_same(version, VIEW("HTTP/1.0"));
    return j->is_1_0 || view_same(version, VIEW("HTTP/1.1")) || wrong(j, 505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
}

/* Fields that say where a request ends and for whom it is. */

static bool take_length(struct judging *j, struct view value)
{
    uint64_t n = 0;
    if (++j->lengths > 1)
        return wrong(j, 400, "Content-Length is there twice");
    for (size_t i = 0; i < value.n; i++)
        if (value.at[i] < '0' || value.at[i] > '9')
            return wrong(j, 400, "Content-Length is not a number");
    if (!value.n)
        return wrong(j, 400, "Content-Length is not a number");
    if (!text_to_uint(value, &n) || n > j->rules->most_body_bytes)
        return wrong(j, 413, "the body is larger than we agreed to take");
    return true;
}

static bool take_encoding(struct judging *j, struct view value)
{
    if (++j->encodings > 1)
        return wrong(j, 400, "Transfer-Encoding is there twice");
    return is_word(value, "chunked") || wrong(j, 501, "only the transfer encoding chunked is understood");
}

static bool take_host(struct judging *j, struct view value)
{
    j->host = value;
    return ++j->hosts == 1 || wrong(j, 400, "Host is there twice");
}

static bool take_origin(struct judging *j, struct view value)
{
    j->origin = value;
    return ++j->origins == 1 || wrong(j, 400, "Origin is there twice");
}

static const struct {
    const char *name;
    bool (*accept)(struct judging *j, struct view value);
} fields_that_matter[] = {
    {"content-length", take_length},
    {"transfer-encoding", take_encoding},
    {"host", take_host},
    {"origin", take_origin},
};

static bool judge_field(struct judging *j, struct view line)
{
    struct view name, value = line;
    if (++j->fields > MOST_FIELDS)
        return wrong(j, 431, "too many header fields");
    if (*line.at == ' ' || *line.at == '\t')
        return wrong(j, 400, "a header field is folded");
    if (!cut(&value, ':', &name) || !is_token(name))
        return wrong(j, 400, "a header field has no proper name");
    value = trimmed(value);
    if (!is_value(value))
        return wrong(j, 400, "a header field has control bytes");
    for (size_t i = 0; i < sizeof fields_that_matter / sizeof *fields_that_matter; i++)
        if (is_word(name, fields_that_matter[i].name))
            return fields_that_matter[i].accept(j, value);
    return true;
}

/* All fields together. */

/* A name of this machine, with or without a port: localhost, 127.1.2.3, [::1]. */
static bool is_local_name(struct view host)
{
    if (!host.at)
        return false;
    const char *colon = memrchr(host.at, ':', host.n), *bracket = memrchr(host.at, ']', host.n);
    struct view name = host;
    if (colon && (!bracket || colon > bracket))
        name = view_between(host.at, colon);
    if (is_word(name, "localhost") || is_word(name, "[::1]"))
        return true;
    if (!view_starts(name, VIEW("127.")))
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (name.at[i] != '.' && (name.at[i] < '0' || name.at[i] > '9'))
            return false;
    return true;
}

static bool is_same_site(struct view origin, struct view host)
{
    struct view scheme = VIEW("http://");
    return view_starts(origin, scheme) && view_same(view_between(origin.at + scheme.n, origin.at + origin.n), host);
}

static bool judge_whole(struct judging *j)
{
    if (!j->hosts && !j->is_1_0)
        return wrong(j, 400, "Host is missing");
    if (j->lengths && j->encodings)
        return wrong(j, 400, "Content-Length and Transfer-Encoding are both there");
    if (j->encodings && j->is_1_0)
        return wrong(j, 400, "Transfer-Encoding is not for HTTP/1.0");
    if (j->rules->only_local_names && j->hosts && !is_local_name(j->host))
        return wrong(j, 403, "this server answers to names of its own machine only");
    if (j->origins && !is_same_site(j->origin, j->host))
        return wrong(j, 403, "pages of other sites may not ask here");
    return true;
}

/* The lines. */

/* One line without its CR LF; false when it is not there yet, or ends in another way. */
static bool next_line(struct judging *j, struct view *rest, struct view *out)
{
    if (!cut(rest, '\n', out))
        return false;
    if (!out->n || out->at[out->n - 1] != '\r')
        return wrong(j, 400, "a line of the head does not end with CR LF");
    out->n--;
    return !memchr(out->at, '\r', out->n) || wrong(j, 400, "a line of the head has a CR in it");
}

static bool judge_lines(struct judging *j, struct view *rest)
{
    struct view line;
    if (!next_line(j, rest, &line) || !judge_request_line(j, line))
        return false;
    while (next_line(j, rest, &line)) {
        if (!line.n)
            return judge_whole(j);
        if (!judge_field(j, line))
            return false;
    }
    return false;
}

static struct http_head bad(int status, const char *sentence)
{
    return (struct http_head){.is = HTTP_HEAD_BAD, .status = status, .sentence = sentence};
}

struct http_head http_head_judge(struct view so_far, const struct http_head_rules *r)
{
    struct judging j = {.rules = r};
    struct view rest = {so_far.at, so_far.n < r->most_bytes ? so_far.n : r->most_bytes};
    if (judge_lines(&j, &rest))
        return (struct http_head){.is = HTTP_HEAD_GOOD, .bytes = (size_t)(rest.at - so_far.at)};
    if (j.status)
        return bad(j.status, j.sentence);
    if (so_far.n >= r->most_bytes)
        return bad(431, "the head of the request is larger than we agreed to take");
    return (struct http_head){.is = HTTP_HEAD_MORE};
}
