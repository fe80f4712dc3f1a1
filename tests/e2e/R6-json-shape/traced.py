"""A program that knows how often it calls what, traced by Python itself."""
import cProfile


def leaf():
    return 1


def middle():
    return sum([leaf() for _ in range(10)])


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def main():
    for _ in range(100):
        middle()
    leaf()
    fib(10)


p = cProfile.Profile()
p.runcall(main)
p.dump_stats("traced.stats")
