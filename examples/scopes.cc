/*
 * The same in C++: an exception ends a scope.
 *
 *     c++ -O2 scopes.cc -o scopes $(pkg-config --cflags --libs inferom)
 *     INFEROM_SCOPES=on ./scopes
 */
#include <inferom.h>
#include <stdexcept>

static void sample(int token)
{
    INFEROM_SCOPE("sample");
    if (token % 50 == 49)
        throw std::runtime_error("no token is likely enough");
}

int main()
{
    for (int token = 0; token < 200; token++) {
        INFEROM_SCOPE("token");
        try {
            sample(token);
            INFEROM_COUNT("tokens", 1);
        } catch (const std::exception &) {
            INFEROM_SCOPE("again");
            INFEROM_COUNT("retries", 1);
        }
    }
}
