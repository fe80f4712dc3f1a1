"""What interpreters are usually timed with, small: numbers, strings, dictionaries, sorting, recursion, regular expressions."""
import json
import re


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def sieve(n):
    whole = bytearray([1]) * n
    for i in range(2, int(n ** 0.5) + 1):
        if whole[i]:
            whole[i * i::i] = bytes(len(range(i * i, n, i)))
    return sum(whole) - 2


def words(n):
    text = " ".join(f"word{i % 97} {i}" for i in range(n))
    counts = {}
    for word in re.findall(r"[a-z]+\d+", text):
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:3]


def tree(depth):
    return {"left": tree(depth - 1), "right": tree(depth - 1)} if depth else {"leaf": [1, 2.5, "three"]}


print(fibonacci(26), sieve(3000000), words(300000), len(json.dumps(json.loads(json.dumps(tree(15))))))
