"""Programs that take turns in steps of some ten milliseconds, all of them running from the beginning to the end: what the neighbours of a machine do changes
by the second, and is in all of them alike. A program waits for a line of input before each of its turns, and answers with a line of JSON behind it: what
it has used so far, by its own clock.
"""
import json
import os
import random
import statistics
import subprocess


class Player:
    def __init__(self, command, **variables):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        env={**os.environ, **variables})
        self.before = {}

    def turn(self):
        """What one turn added to every number of the answer."""
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(self.process.args)}: ended with {self.process.wait()} before its turns were over")
        now, before = json.loads(line), self.before
        self.before = now
        return {key: value - before.get(key, 0) for key, value in now.items()}

    def end(self):
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.wait()


def play(commands, turns):
    """{name: [what each turn added]}. The first turn of each has its start in it, and is not counted."""
    players = {name: Player(command) for name, command in commands.items()}
    took = {name: [] for name in commands}
    for i in range(turns + 1):
        for name in random.sample(list(players), len(players)):
            added = players[name].turn()
            if i:
                took[name].append(added)
    for player in players.values():
        player.end()
    return took


def middle(values):
    """The median, and its standard error."""
    return statistics.median(values), 1.25 * statistics.stdev(values) / len(values) ** 0.5
