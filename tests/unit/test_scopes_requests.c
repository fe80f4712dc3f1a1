/* Which request a thread worked for at a moment: borders, threads, order of arrival, and what is forgotten. */
#include "base/mem.h"
#include "capture/scopes/scopes_requests.h"
#include "check.h"

static void moments(void)
{
    static const struct seen_work work[] = {{7, 3, 300, 400}, {7, 1, 100, 200}, {9, 2, 150, 350}, {7, 2, 200, 250}, {7, 1, 250, 260}, {7, 5, 500, 499}, {7, 0, 600, 700}};
    static const struct {
        uint32_t tid;
        uint64_t tick;
        uint32_t is;
    } cases[] = {
        {7, 99, 0}, {7, 100, 1}, {7, 199, 1}, {7, 200, 2}, {7, 249, 2}, {7, 250, 1}, {7, 259, 1}, {7, 260, 0}, {7, 299, 0}, {7, 399, 3}, {7, 400, 0},
        {7, 500, 0}, /* it ended before it began */
        {7, 650, 0}, /* nobody's */
        {9, 149, 0}, {9, 150, 2}, {9, 349, 2}, {9, 350, 0}, {8, 160, 0}, {10, 160, 0}, {7, UINT64_MAX, 0}, {0, 0, 0},
    };
    struct seen_process p = {0};
    CHECK_EQ(scopes_requests_at(&p, 7, 100), 0);
    for (size_t i = 0; i < sizeof work / sizeof *work; i++)
        scopes_requests_add(&p, work[i]);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_EQ(scopes_requests_at(&p, cases[i].tid, cases[i].tick), cases[i].is);
    free(p.work);
}

/* However many there are, the newest are known and memory is bounded. */
static void the_newest_stay(void)
{
    struct seen_process p = {0};
    enum { MANY = 3 * SCOPES_WORK_MOST };
    for (uint32_t i = 0; i < MANY; i++)
        scopes_requests_add(&p, (struct seen_work){.tid = 1 + i % 3, .request = 1 + i, .began = 10 * (uint64_t)i, .ended = 10 * (uint64_t)i + 10});
    CHECK(p.n_work <= SCOPES_WORK_MOST);
    for (uint32_t i = MANY - SCOPES_WORK_MOST / 2; i < MANY; i++)
        if (scopes_requests_at(&p, 1 + i % 3, 10 * (uint64_t)i + 5) != 1 + i) {
            CHECK_EQ(scopes_requests_at(&p, 1 + i % 3, 10 * (uint64_t)i + 5), 1 + i);
            break;
        }
    CHECK_EQ(scopes_requests_at(&p, 1, 5), 0);
    free(p.work);
}

static void names(void)
{
    struct seen_request rows[] = {{.number = 9, .id = "nine"}, {.number = 2, .id = "two"}, {.number = 5, .id = "five"}};
    struct seen_process p = {.requests = rows, .n_requests = 3};
    CHECK_STR(scopes_requests_named(&p, 2)->id, "two");
    CHECK_STR(scopes_requests_named(&p, 9)->id, "nine");
    CHECK(!scopes_requests_named(&p, 0) && !scopes_requests_named(&p, 3));
}

int main(void)
{
    moments();
    the_newest_stay();
    names();
    return CHECK_DONE();
}
