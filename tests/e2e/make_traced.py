"""Write traced.stats: a program that knows how often it calls what, traced by Python itself."""
import cProfile


def leaf():
    return 1


def middle():
    total = 0
    for _ in range(10):
        total += leaf()
    return total


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
