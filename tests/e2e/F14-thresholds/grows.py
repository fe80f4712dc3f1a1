import os
import sys

sys.path.insert(0, os.environ["E2E"])
import read_dot  # noqa: E402

graphs = [read_dot.read(path) for path in sys.argv[1:]]
for (nodes, edges), (more_nodes, more_edges) in zip(graphs, graphs[1:]):
    assert set(nodes) <= set(more_nodes) and set(edges) <= set(more_edges)
    lightest = min(float(total) for total, _, _ in nodes.values())
    assert all(float(more_nodes[n][0]) <= lightest for n in set(more_nodes) - set(nodes))
print("nodes", *[len(nodes) for nodes, _ in graphs], "edges", *[len(edges) for _, edges in graphs])
