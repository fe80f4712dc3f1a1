/* The OpenAI API's JSON, in and out, and text on its way from tokens to events. */
#include "check.h"
#include "lab/openai_answer.h"
#include "lab/stop_text.h"

#define ASK "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]"

/* What is refused: the parameter and a piece of the sentence. */
static const struct {
    enum openai_kind kind;
    const char *body, *param, *says;
} refused[] = {
    {OPENAI_CHAT, "", NULL, "not the JSON"},
    {OPENAI_CHAT, "{", NULL, "not the JSON"},
    {OPENAI_CHAT, "[]", NULL, "must be a JSON object, and is an array"},
    {OPENAI_CHAT, "null", NULL, "must be a JSON object, and is null"},
    {OPENAI_CHAT, ASK "} x", NULL, "not the JSON"},
    {OPENAI_CHAT, ASK "}{}", NULL, "not the JSON"},
    {OPENAI_CHAT, "{\"messages\":[{\"role\":\"user\"", NULL, "not the JSON"},
    {OPENAI_CHAT, "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"te", NULL, "not the JSON"},
    {OPENAI_CHAT, "{\"stop\":[\"a\",", NULL, "not the JSON"},
    {OPENAI_CHAT, "{\"stream_options\":{\"include_usage\"", NULL, "not the JSON"},
    {OPENAI_CHAT, "{}", "messages", "one message or more"},
    {OPENAI_CHAT, "{\"messages\":null}", "messages", "one message or more"},
    {OPENAI_CHAT, "{\"messages\":[]}", "messages", "one message or more"},
    {OPENAI_CHAT, "{\"messages\":\"Hi\"}", "messages", "must be a list of messages, and is a text"},
    {OPENAI_CHAT, "{\"messages\":[\"Hi\"]}", "messages", "a message must be an object"},
    {OPENAI_CHAT, "{\"messages\":[{}]}", "messages", "a message has no 'role'"},
    {OPENAI_CHAT, "{\"messages\":[{\"role\":\"boss\"}]}", "messages", "a 'role' must be"},
    {OPENAI_CHAT, "{\"messages\":[{\"role\":7}]}", "messages", "a 'role' must be"},
    {OPENAI_CHAT, "{\"messages\":[{\"role\":\"user\",\"content\":7}]}", "messages", "'content' must be"},
    {OPENAI_CHAT, "{\"messages\":[{\"role\":\"user\",\"content\":{}}]}", "messages", "'content' must be"},
    {OPENAI_CHAT, "{\"messages\":[{\"role\":\"user\",\"content\":[7]}]}", "messages", "must be an object"},
    {OPENAI_CHAT, "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]}", "messages", "only be text"},
    {OPENAI_CHAT, ASK ",\"max_tokens\":0}", "max_tokens", "above 0"},
    {OPENAI_CHAT, ASK ",\"max_tokens\":-1}", "max_tokens", "above 0"},
    {OPENAI_CHAT, ASK ",\"max_tokens\":1.5}", "max_tokens", "above 0"},
    {OPENAI_CHAT, ASK ",\"max_tokens\":99999999999999999999}", "max_tokens", "above 0"},
    {OPENAI_CHAT, ASK ",\"max_tokens\":\"5\"}", "max_tokens", "must be a whole number above 0, and is a text"},
    {OPENAI_CHAT, ASK ",\"max_completion_tokens\":0}", "max_completion_tokens", "above 0"},
    {OPENAI_CHAT, ASK ",\"temperature\":2.1}", "temperature", "between 0 and 2"},
    {OPENAI_CHAT, ASK ",\"temperature\":-0.1}", "temperature", "between 0 and 2"},
    {OPENAI_CHAT, ASK ",\"temperature\":1e999}", "temperature", "a number that fits"},
    {OPENAI_CHAT, ASK ",\"temperature\":\"hot\"}", "temperature", "must be a number, and is a text"},
    {OPENAI_CHAT, ASK ",\"seed\":1.5}", "seed", "whole number"},
    {OPENAI_CHAT, ASK ",\"seed\":true}", "seed", "whole number"},
    {OPENAI_CHAT, ASK ",\"stream\":1}", "stream", "must be true or false, and is a number"},
    {OPENAI_CHAT, ASK ",\"stream_options\":true}", "stream_options", "must be an object"},
    {OPENAI_CHAT, ASK ",\"stream_options\":{\"include_usage\":1}}", "stream_options", "must be true or false"},
    {OPENAI_CHAT, ASK ",\"model\":7}", "model", "must be a text"},
    {OPENAI_CHAT, ASK ",\"stop\":\"\"}", "stop", "1 to 256 bytes"},
    {OPENAI_CHAT, ASK ",\"stop\":[\"a\",\"b\",\"c\",\"d\",\"e\"]}", "stop", "4 texts at most"},
    {OPENAI_CHAT, ASK ",\"stop\":[[\"a\"]]}", "stop", "a text or a list"},
    {OPENAI_CHAT, ASK ",\"n\":2}", "n", "can only be 1"},
    {OPENAI_CHAT, ASK ",\"n\":1000000}", "n", "can only be 1"},
    {OPENAI_CHAT, ASK ",\"top_p\":0.5}", "top_p", "can only be 1"},
    {OPENAI_CHAT, ASK ",\"frequency_penalty\":1}", "frequency_penalty", "can only be 0"},
    {OPENAI_CHAT, ASK ",\"tools\":[{}]}", "tools", "not supported"},
    {OPENAI_CHAT, ASK ",\"logprobs\":true}", "logprobs", "not supported"},
    {OPENAI_CHAT, ASK ",\"logit_bias\":{\"1\":2}}", "logit_bias", "not supported"},
    {OPENAI_CHAT, ASK ",\"response_format\":{\"type\":\"json_object\"}}", "response_format", "only be text"},
    {OPENAI_TEXT, "{}", "prompt", "'prompt' is missing"},
    {OPENAI_TEXT, "{\"prompt\":7}", "prompt", "must be a text"},
    {OPENAI_TEXT, "{\"prompt\":[]}", "prompt", "must be a text"},
    {OPENAI_TEXT, "{\"prompt\":[1,2]}", "prompt", "must be a text"},
    {OPENAI_TEXT, "{\"prompt\":[\"a\",\"b\"]}", "prompt", "only have one text"},
    {OPENAI_TEXT, "{\"prompt\":\"a\",\"echo\":true}", "echo", "not supported"},
};

static void check_refused(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        own(openai_request) struct openai_request q = {0};
        struct openai_error why = {0};
        bool ok = openai_request_read(&q, refused[i].kind, view_of(refused[i].body), &why);
        bool good = !ok && why.status == 400 && strstr(why.message, refused[i].says) &&
                    !strcmp(why.param ? why.param : "-", refused[i].param ? refused[i].param : "-");
        if (!good)
            printf("%s: %s, '%s', %s\n", refused[i].body, ok ? "taken" : "refused", why.message, why.param ? why.param : "-");
        CHECK(good);
    }
}

static bool read_one(struct openai_request *q, enum openai_kind kind, const char *body)
{
    struct openai_error why = {0};
    bool ok = openai_request_read(q, kind, view_of(body), &why);
    if (!ok)
        printf("%s: %s\n", body, why.message);
    return ok;
}

static void check_taken(void)
{
    own(openai_request) struct openai_request q = {0};
    CHECK(read_one(&q, OPENAI_CHAT,
                   "{\"model\":\"small\",\"messages\":[{\"role\":\"system\",\"content\":\"be \\u00e4\"},"
                   "{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"text\":\"b\",\"type\":\"text\"}],\"role\":\"user\",\"name\":\"x\"},"
                   "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[[{}]]}],"
                   "\"max_tokens\":5,\"temperature\":0.25,\"seed\":-3,\"stop\":[\"x\",\"yy\"],\"stream\":true,\"top_k\":3,\"ignore_eos\":true,"
                   "\"stream_options\":{\"include_usage\":true,\"other\":{}},\"n\":1,\"top_p\":1.0,\"user\":\"u\",\"metadata\":{\"a\":[1]},"
                   "\"tools\":[],\"logprobs\":false,\"response_format\":{\"type\":\"text\"}}"));
    CHECK_STR(q.model, "small");
    CHECK_EQ(q.n_messages, 3);
    CHECK_STR(q.messages[0].role, "system");
    CHECK(view_same(q.messages[0].text, VIEW("be \xc3\xa4")));
    CHECK_STR(q.messages[1].role, "user");
    CHECK(view_same(q.messages[1].text, VIEW("ab")));
    CHECK_EQ(q.messages[2].text.n, 0);
    CHECK_EQ(q.most_tokens, 5);
    CHECK(q.has_temperature && q.temperature == 0.25 && q.has_seed && q.seed == (uint64_t)-3 && q.has_top_k && q.top_k == 3);
    CHECK(q.n_stops == 2 && view_same(q.stops[1], VIEW("yy")));
    CHECK(q.is_stream && q.want_usage && q.goes_on);
}

static void check_unsaid(void)
{
    own(openai_request) struct openai_request q = {0};
    CHECK(read_one(&q, OPENAI_TEXT, "{\"prompt\":[\"a\\u0000b\"],\"seed\":null,\"stop\":null,\"stream\":null,\"max_tokens\":null,\"n\":null}"));
    CHECK(view_same(q.prompt, VIEW("a\0b")));
    CHECK_STR(q.model, "");
    CHECK(!q.has_temperature && !q.has_top_k && !q.has_seed && !q.most_tokens && !q.n_stops && !q.is_stream && !q.want_usage && !q.goes_on);
}

/* The same key again: the last one counts, as everywhere. */
static void check_twice(void)
{
    own(openai_request) struct openai_request q = {0};
    CHECK(read_one(&q, OPENAI_CHAT, "{\"stop\":[\"a\",\"b\"],\"stop\":\"c\",\"messages\":[{\"role\":\"user\",\"content\":\"1\"}],"
                                    "\"messages\":[{\"role\":\"user\",\"content\":\"2\"}]}"));
    CHECK(q.n_stops == 1 && view_same(q.stops[0], VIEW("c")));
    CHECK(q.n_messages == 1 && view_same(q.messages[0].text, VIEW("2")));
}

/* Answers, to the byte. */

static const struct openai_usage usage = {
    .prompt_tokens = 4, .answer_tokens = 3, .arrived_ns = 1000000, .began_ns = 2000000, .first_ns = 10000000, .last_ns = 30000000};

#define TIMINGS                                                                                                              \
    "\"timings\":{\"queued_ms\":1,\"cache_n\":0,\"prompt_n\":4,\"prompt_ms\":8,\"prompt_per_token_ms\":2,\"prompt_per_second\":500," \
    "\"predicted_n\":3,\"predicted_ms\":20,\"predicted_per_token_ms\":10,\"predicted_per_second\":100}"
#define USAGE                                                                                                     \
    "\"usage\":{\"prompt_tokens\":4,\"completion_tokens\":3,\"total_tokens\":7,\"prompt_tokens_details\":{\"cached_tokens\":0}}"

static void check_answers(void)
{
    struct openai_answer chat = {.kind = OPENAI_CHAT, .id = "7", .model = "<m\"", .created_s = 9};
    struct openai_answer text = {.kind = OPENAI_TEXT, .id = "7", .model = "m", .created_s = 9, .want_usage = true};
    own(buf) struct buf out;
    buf_init(&out, 1 << 16);

    openai_whole(&chat, VIEW("a\x1b\xff\n"), "stop", &usage, &out);
    CHECK_STR(out.data, "{\"id\":\"chatcmpl-7\",\"object\":\"chat.completion\",\"created\":9,\"model\":\"<m\\\"\",\"choices\":[{\"index\":0,"
                        "\"message\":{\"role\":\"assistant\",\"content\":\"a\\u001b\xef\xbf\xbd\\n\"},\"logprobs\":null,"
                        "\"finish_reason\":\"stop\"}]," USAGE "," TIMINGS "}");
    buf_clear(&out);
    openai_piece(&chat, VIEW("a"), true, &out);
    openai_piece(&chat, VIEW("b"), false, &out);
    openai_last(&chat, "length", false, &usage, &out);
#define CHUNK "data: {\"id\":\"chatcmpl-7\",\"object\":\"chat.completion.chunk\",\"created\":9,\"model\":\"<m\\\"\",\"choices\":[{\"index\":0,\"delta\":"
    CHECK_STR(out.data, CHUNK "{\"role\":\"assistant\",\"content\":\"a\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n"
              CHUNK "{\"content\":\"b\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n"
              CHUNK "{},\"logprobs\":null,\"finish_reason\":\"length\"}]," TIMINGS "}\n\ndata: [DONE]\n\n");
    buf_clear(&out);
    openai_last(&text, "stop", true, &usage, &out);
#define PART "data: {\"id\":\"cmpl-7\",\"object\":\"text_completion\",\"created\":9,\"model\":\"m\",\"choices\":["
    CHECK_STR(out.data, PART "{\"index\":0,\"text\":\"\",\"logprobs\":null,\"finish_reason\":\"stop\"}],\"usage\":null," TIMINGS "}\n\n"
              PART "]," USAGE "}\n\ndata: [DONE]\n\n");
}

/* One token has no gap, and none has no time: that is not known, and not zero. */
static void check_unknown(void)
{
    struct openai_answer chat = {.kind = OPENAI_CHAT, .id = "7", .model = "m"};
    own(buf) struct buf out;
    buf_init(&out, 1 << 16);
    struct openai_usage one = usage;
    one.answer_tokens = 1;
    one.last_ns = one.first_ns;
    openai_whole(&chat, VIEW(""), "length", &one, &out);
    CHECK(strstr(out.data, "\"predicted_n\":1,\"predicted_ms\":0,\"predicted_per_token_ms\":null,\"predicted_per_second\":null}"));
    buf_clear(&out);
    openai_whole(&chat, VIEW(""), "stop", &(struct openai_usage){.prompt_tokens = 2, .began_ns = 5}, &out);
    CHECK(strstr(out.data, "\"prompt_ms\":null,\"prompt_per_token_ms\":null,\"prompt_per_second\":null,\"predicted_n\":0,\"predicted_ms\":null"));
}

static void check_errors(void)
{
    struct openai_error why;
    own(buf) struct buf out;
    buf_init(&out, 1 << 16);
    CHECK(!openai_refuse(&why, 404, "model", "model_not_found", "no '%s'", "<script>\x1b"));
    openai_error_json(&why, &out);
    CHECK_STR(out.data, "{\"error\":{\"message\":\"no '<script>\\u001b'\",\"type\":\"not_found_error\",\"param\":\"model\",\"code\":\"model_not_found\"}}");
    buf_clear(&out);
    openai_refuse(&why, 429, NULL, NULL, "later");
    openai_error_event(&why, &out);
    CHECK_STR(out.data, "data: {\"error\":{\"message\":\"later\",\"type\":\"rate_limit_error\",\"param\":null,\"code\":null}}\n\n");
}

/* Text on its way: what each token lets go, with a bar behind it. */
static const struct {
    const char *what, *stops[3], *tokens[6], *out;
} ways[] = {
    {"nothing to look for", {NULL}, {"Hel", "lo"}, "Hel|lo|"},
    {"in one token", {"."}, {"Hi. You"}, "Hi|met"},
    {"across tokens", {"\nUser:"}, {"Hel", "lo\nUs", "er: x"}, "Hel|lo||met"},
    {"begun and not meant", {"abc"}, {"xab", "d"}, "x|abd|"},
    {"begun and never said", {"abc"}, {"xab"}, "x|ab"},
    {"begins inside its own beginning", {"aab"}, {"aa", "ab"}, "|a|met"},
    {"the earlier of two", {"cd", "b"}, {"abcd"}, "a|met"},
    {"a character in pieces", {NULL}, {"\xc3", "\xa4", "\xe2\x82", "\xac"}, "|\xc3\xa4||\xe2\x82\xac|"},
    {"half a character and something else", {NULL}, {"\xe2\x82", "A"}, "|\xe2\x82" "A|"},
    {"half a character at the end", {NULL}, {"a\xf0\x9f\x98"}, "a|\xf0\x9f\x98"},
    {"never a character", {NULL}, {"\xff", "\x80", "\xc0"}, "\xff|\x80|\xc0|"},
    {"a stop text behind half a character", {"b"}, {"a\xc3", "b"}, "a|\xc3|met"},
};

static void check_ways(void)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        own(buf) struct buf got;
        struct stop_text s;
        struct view stops[3];
        size_t n = 0;
        buf_init(&got, 4096);
        for (; n < 3 && ways[i].stops[n]; n++)
            stops[n] = view_of(ways[i].stops[n]);
        stop_text_init(&s, stops, n);
        for (size_t k = 0; k < 6 && ways[i].tokens[k] && !s.is_met; k++) {
            struct view out = stop_text_add(&s, view_of(ways[i].tokens[k]));
            buf_add(&got, out.at, out.n);
            buf_puts(&got, "|");
        }
        struct view rest = stop_text_end(&s);
        buf_add(&got, rest.at, rest.n);
        buf_puts(&got, s.is_met ? "met" : "");
        if (strcmp(got.data, ways[i].out) != 0)
            printf("%s:\n", ways[i].what);
        CHECK_STR(got.data, ways[i].out);
        stop_text_done(&s);
    }
}

int main(void)
{
    check_refused();
    check_taken();
    check_unsaid();
    check_twice();
    check_answers();
    check_unknown();
    check_errors();
    check_ways();
    return CHECK_DONE();
}
