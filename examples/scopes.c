/*
 * A pretended model that names its parts.
 *
 *     cc -O2 scopes.c -o scopes $(pkg-config --cflags --libs inferom)
 *     INFEROM_SCOPES=on ./scopes
 */
#include <inferom.h>

static void work(int n)
{
    for (volatile int i = 0; i < n; i++)
        ;
}

static void layer(int number)
{
    INFEROM_SCOPE("layer");
    {
        INFEROM_SCOPE("attention");
        work(2000);
    }
    if (number % 2)
        return; /* the scope ends here, too */
    INFEROM_SCOPE("feed-forward");
    work(3000);
}

static void load(void)
{
    INFEROM_SCOPE("load");
    INFEROM_PHASE("load.tokenizer");
    work(10000);
    INFEROM_PHASE("load.weights");
    work(50000);
} /* and with it the phase */

int main(void)
{
    load();
    for (int token = 0; token < 200; token++) {
        INFEROM_SCOPE("token");
        for (int i = 0; i < 8; i++)
            layer(i);
        INFEROM_COUNT("tokens", 1);
    }
    return 0;
}
