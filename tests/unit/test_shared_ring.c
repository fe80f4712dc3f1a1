/* Records in a ring that somebody else fills: what is one, what is not, and where the end is. */
#include "capture/shared_ring.h"
#include "check.h"

enum { SIZE = 256, KIND = 5 };

static _Alignas(16) uint8_t bytes[SIZE];
static const struct shared_ring ring = {bytes, SIZE};

static void put(uint64_t at, uint32_t length, uint16_t kind)
{
    struct shared_head head = {.bytes = length, .kind = kind, .flags = 3, .when_ns = 77};
    memcpy(bytes + at % SIZE, &head, sizeof head);
    if (length > sizeof head && length <= SIZE - at % SIZE)
        memset(bytes + at % SIZE + sizeof head, 0xab, length - sizeof head);
}

static void records_come_in_order(void)
{
    uint64_t tail = 1000 * SIZE, head = tail;
    _Alignas(16) uint8_t record[128];
    struct shared_head got;
    for (int round = 0; round < 10; round++) { /* 48 bytes each: at the end of the ring 16 are left, 80 the next time, ... */
        uint64_t to_end = SIZE - head % SIZE;
        if (to_end < 48) {
            put(head, (uint32_t)to_end, SHARED_RING_PAD_KIND);
            head += to_end;
            CHECK_EQ(shared_ring_next(&ring, &tail, head - tail, record, sizeof record), SHARED_RING_PAD);
            CHECK_EQ(tail % SIZE, 0);
        }
        put(head, 48, KIND);
        head += 48;
        CHECK_EQ(shared_ring_next(&ring, &tail, head - tail, record, sizeof record), SHARED_RING_RECORD);
        memcpy(&got, record, sizeof got);
        CHECK(got.bytes == 48 && got.kind == KIND && got.flags == 3 && got.when_ns == 77);
        CHECK(record[16] == 0xab && record[47] == 0xab);
        CHECK_EQ(tail, head);
    }
}

/* What a hostile target may leave at byte `at`, when it says that so many bytes are ready. */
static void nonsense_is_found(void)
{
    static const struct {
        uint64_t at, ready;
        uint32_t length;
        uint16_t kind;
        enum shared_ring_got want;
    } cases[] = {
        {0, 64, 64, KIND, SHARED_RING_RECORD},
        {0, 8, 16, KIND, SHARED_RING_BAD},                  /* less than a head is ready */
        {0, 64, 0, KIND, SHARED_RING_BAD},
        {0, 64, 8, KIND, SHARED_RING_BAD},                  /* shorter than its head */
        {0, 64, 40, KIND, SHARED_RING_BAD},                 /* not a multiple */
        {0, 64, 80, KIND, SHARED_RING_BAD},                 /* longer than what is ready */
        {208, 64, 64, KIND, SHARED_RING_BAD},               /* across the end */
        {208, 64, 48, SHARED_RING_PAD_KIND, SHARED_RING_PAD},
        {208, 64, 32, SHARED_RING_PAD_KIND, SHARED_RING_BAD}, /* a pad that does not reach the end */
        {0, SIZE, 144, KIND, SHARED_RING_BAD},              /* longer than any record is */
        {0, SIZE, UINT32_MAX - 15, KIND, SHARED_RING_BAD},
        {248, 64, 16, KIND, SHARED_RING_BAD},               /* no room for a head */
    };
    _Alignas(16) uint8_t record[128];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t tail = cases[i].at;
        memset(bytes, 0, sizeof bytes);
        if (SIZE - cases[i].at >= sizeof(struct shared_head))
            put(cases[i].at, cases[i].length, cases[i].kind);
        enum shared_ring_got got = shared_ring_next(&ring, &tail, cases[i].ready, record, sizeof record);
        if (got != cases[i].want)
            printf("case %zu\n", i);
        CHECK_EQ(got, cases[i].want);
    }
}

int main(void)
{
    records_come_in_order();
    nonsense_is_found();
    return CHECK_DONE();
}
