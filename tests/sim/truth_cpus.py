"""What follows from a machine file about its cpus: who is near whom, who shares, who collides, what one gets when all work.

A part of truth.py, and like it without any of the program's own code. A cpu is its place in tree order; answers have OS
numbers. Groups are lists of those, ascending, by their first; single cpus are left out.
"""
import math

# Levels nearer than a tenth are one (docs/probes/topology.md).
ALIKE = 1.1
# The largest block that pairs hand over, in last caches.
LARGEST_BLOCK = 4
# Rates closer than that are one rate (docs/probes/contention.md).
SAME_RATE = 0.025


def os_numbers(machine):
    cpus, numbering = machine.get("cpus", 1), machine.get("numbering", "compact")
    if isinstance(numbering, list):
        return numbering
    if numbering == "compact":
        return list(range(cpus))
    smt, sockets = machine.get("smt", 1), machine.get("sockets", 1)
    cores, in_socket = cpus // smt, cpus // smt // sockets
    found = []
    for place in range(cpus):
        thread, core = place % smt, place // smt
        found.append(thread * cores + core % in_socket * sockets + core // in_socket)
    return found


def caches_of(machine, place):
    """As the cpu sees them: a kind may have near levels of its own."""
    first = 0
    for kind in machine.get("kinds", []):
        if first <= place < first + kind["cpus"]:
            own = kind.get("caches", [])
            return [dict(cache, **{key: value for key, value in one.items()}) for cache, one in
                    zip(machine["caches"], own)] + machine["caches"][len(own):]
        first += kind["cpus"]
    return machine["caches"]


def clock_of(machine, place):
    first = 0
    for kind in machine.get("kinds", []):
        if first <= place < first + kind["cpus"]:
            return kind.get("clock_ghz", machine["clock_ghz"])
        first += kind["cpus"]
    return machine["clock_ghz"]


def list_groups(groups, numbers):
    return sorted(sorted(numbers[place] for place in group) for group in groups if len(group) > 1)


def runs_of(cpus, size):
    return [list(range(first, first + size)) for first in range(0, cpus, size)]


# ---- the tree

def exchange_ns(machine, a, b, block_bytes):
    """One way for one line, by the innermost thing that both share and whose cache holds the block; what is not given takes
    what is given further out."""
    cpus = machine.get("cpus", 1)
    given = machine.get("exchange", {})
    caches, ghz = caches_of(machine, a), clock_of(machine, a)
    whole = machine["clock_ghz"]
    latency, remote = machine["memory"]["latency"], machine["memory"].get("remote_latency", machine["memory"]["latency"])
    node, socket = cpus // machine.get("numa_nodes", 1), cpus // machine.get("sockets", 1)
    threads = machine.get("smt", 1)
    if machine.get("kinds") and caches[0].get("shared_by", 1) < threads:
        threads = caches[0].get("shared_by", 1)
    things = [("smt", threads, caches[0]["size"], caches[0]["latency"] / ghz)]
    things += [("L%d" % (i + 1), cache.get("shared_by", 1), cache["size"], cache["latency"] / ghz)
               for i, cache in enumerate(caches)]
    beyond = sorted([("node", node), ("socket", socket)], key=lambda thing: thing[1])
    things += [(name, size, math.inf, latency / whole) for name, size in beyond]
    things += [("remote", cpus, math.inf, remote / whole)]
    first = next(i for i, (name, size, room, _) in enumerate(things)
                 if name == "remote" or (a // size == b // size and room >= block_bytes))
    for i in range(first, len(things)):
        if i > len(caches) and machine.get("links"):
            return machine["links"][a // node][b // node]
        if things[i][0] in given:
            return given[things[i][0]]
    return things[first][3]


def cliques_below(items, distance):
    """Levels of groups, from the innermost: what is nearer than a jump, where all within are as near as each other; and
    whether that is so at every jump."""
    values = sorted({distance(a, b) for a in items for b in items if a < b})
    levels, is_tree = [], True
    for near, far in zip(values, values[1:]):
        if far < ALIKE * near:
            continue
        groups = {}
        for a in items:
            key = next((first for first in groups if distance(first, a) <= near), a)
            groups.setdefault(key, []).append(a)
        whole = all(distance(a, b) <= near for group in groups.values() for a in group for b in group if a < b)
        apart = all(distance(a, b) >= far for i in groups for j in groups if i != j for a in groups[i] for b in groups[j])
        if whole and apart:
            levels.append([group for group in groups.values() if len(group) > 1])
        else:
            is_tree = False
    return levels, is_tree


def find_tree(machine):
    """The groups below the root, as a set of sets; whether it is a tree."""
    cpus = machine.get("cpus", 1)
    known = {}

    def line(a, b):
        if (a, b) not in known:
            known[(a, b)] = known[(b, a)] = exchange_ns(machine, a, b, 64)
        return known[(a, b)]

    levels, is_tree = cliques_below(range(cpus), line)
    nodes = {tuple(range(cpus))} | {tuple(group) for level in levels for group in level}
    # Where a line costs the same everywhere and memory does not, the largest block splits a node.
    block = LARGEST_BLOCK * machine["caches"][-1]["size"]
    for node in list(nodes) if is_tree else []:
        inner = [other for other in nodes if set(other) < set(node)]
        children = [other for other in inner if not any(set(other) < set(more) for more in inner)]
        alone = [place for place in node if not any(place in child for child in children)]
        first_of = {part[0]: part for part in [list(child) for child in children] + [[place] for place in alone]}
        split, _ = cliques_below(sorted(first_of), lambda a, b: exchange_ns(machine, a, b, block))
        for level in split:
            nodes |= {tuple(sorted(place for first in group for place in first_of[first])) for group in level}
    nodes.discard(tuple(range(cpus)))
    return nodes, is_tree


# ---- sharing

def find_sharing(machine, level):
    groups, place = [], 0
    while place < machine.get("cpus", 1):
        size = caches_of(machine, place)[level].get("shared_by", 1)
        groups.append(list(range(place, place + size)))
        place += size
    return groups


# ---- contention and rates

def list_domains(machine):
    cpus = machine.get("cpus", 1)
    return [(runs_of(cpus, domain["shared_by"]), domain["gbs"]) for domain in machine["memory"].get("domains", [])]


def total_of(machine, cpus):
    """What these cpus get together when all of them read: each domain at most what it gives, from the inside out."""
    parts = {place: machine["memory"].get("cpu_gbs", 10) for place in cpus}
    for groups, gbs in list_domains(machine):
        together = {}
        for first, part in parts.items():
            run = next(run[0] for run in groups if run[0] <= first <= run[-1])
            together[run] = together.get(run, 0) + part
        parts = {first: min(part, gbs) for first, part in together.items()}
    return sum(parts.values())


def find_contention(machine):
    """Levels: the domains whose cpus get less together than their parts would, and that nothing around them holds back as
    much."""
    domains = list_domains(machine)
    levels = []
    for i, (groups, gbs) in enumerate(domains):
        if len(groups[0]) < 2:
            continue
        inner = dict(machine, memory=dict(machine["memory"], domains=machine["memory"]["domains"][:i]))
        limited = gbs < (1 - SAME_RATE) * total_of(inner, groups[0])
        around = [total_of(machine, further[0]) for further, _ in domains[i + 1:] if len(further[0]) > len(groups[0])]
        if limited and all(total > (1 + SAME_RATE) * gbs for total in around):
            levels.append(groups)
    return levels


def share_of_one(machine, arrays=1):
    """What one cpu gets while all stream through so many arrays each: rows that have to be opened take time, too."""
    cpus, memory, dram = machine.get("cpus", 1), machine["memory"], machine.get("dram", {})
    share = total_of(machine, range(cpus)) / cpus
    nodes, sockets = machine.get("numa_nodes", 1), machine.get("sockets", 1)
    of_controller = cpus // (nodes if nodes > 1 else sockets)
    places, rows = of_controller * arrays, dram.get("open_rows", 0)
    if rows and places > rows:
        line = machine["caches"][-1]["line"]
        gives = total_of(machine, range(of_controller))
        ns = line / gives + (1 - rows / places) * dram.get("conflict_ns", 0) / dram.get("banks", 1)
        share = min(share, line / ns / of_controller)
    return min(share, memory.get("cpu_gbs", 10))


def find_rates(machine, walk_ns):
    """Of a cpu while all read, or all copy; a random access that takes so long alone, while the others stream."""
    line = machine["caches"][-1]["line"]
    return {"memory.full.read_gbs": round(share_of_one(machine), 6),
            "memory.full.copy_gbs": round(share_of_one(machine, 2), 6),
            "memory.full.latency_ns": round(max(walk_ns, line / share_of_one(machine)), 6)}


def find_kinds(machine):
    """Cpus that differ in clock or first level."""
    kinds = {}
    for place in range(machine.get("cpus", 1)):
        kinds.setdefault((clock_of(machine, place), caches_of(machine, place)[0]["size"]), []).append(place)
    numbers = os_numbers(machine)
    return [{"cpus": sorted(numbers[place] for place in places), "clock_ghz": ghz, "l1_bytes": size}
            for (ghz, size), places in kinds.items()]


def find_cpus(machine, walk_ns):
    """The keys of a machine with several cpus, and whether its tree is one."""
    numbers, cpus = os_numbers(machine), machine.get("cpus", 1)
    if cpus < 2:
        return {}, {}
    nodes, is_tree = find_tree(machine)
    keys = {"topology.tree": list_groups(nodes, numbers), "cpu.kinds": find_kinds(machine)}
    for level in range(len(machine["caches"])):
        keys["cache.L%d.sharing" % (level + 1)] = list_groups(find_sharing(machine, level), numbers)
    keys["memory.contention"] = [list_groups(groups, numbers) for groups in find_contention(machine)]
    keys.update(find_rates(machine, walk_ns))
    return keys, {"tree_like": is_tree}
