"""What one cpu gets of a shared cache while all walk sets of their own, set by set, without any of the program's own code.

Each cpu visits its lines once a lap, in an order of its own, all at one pace; so every set of a cache lives for itself, and
under LRU it keeps all of its lines or none. A line that stays in a nearer cache is not asked of the next one. An exclusive
level gets a line when the nearer one evicts it: it stays if fewer lines than ways come to its set before it is asked for.
Where the victim is drawn, or nearly (random, plru), a set keeps the share of visits that truth.share_of_hits gives.
"""
import math

MARGIN = 0.1
# The size that shows a level's latency, as shares of what each of its sharers gets (docs/probes/contention.md).
LATENCY_SHARE, LATENCY_SHARE_MOST, OVER_NEARER = 0.4, 0.6, 2.0
STEPS = 6
# More lines would take minutes here.
MOST_LINES = 300000


def set_of(cache, address):
    line = address // cache["line"]
    if cache["index"] == "plain":
        return line % cache["sets"]
    block, sets = line // cache["sets"], cache["sets"]
    return (line + (((block * 2654435769) % 2 ** 32 * sets) >> 32)) % sets


class Crowd:
    """The cpus that share the level with the first cpu, each with frames of its own."""

    def __init__(self, truth, machine, caches, level, tlb_cycles):
        self.truth, self.machine, self.caches, self.level, self.tlb_cycles = truth, machine, caches, level, tlb_cycles
        self.cpus = caches[level].get("shared_by", 1)
        self.frames = [truth.Frames(machine, 1000 + cpu) for cpu in range(self.cpus)]
        self.tables = {}

    def keeps(self, cache, lines):
        """The share of visits to a set of so many lines that hit."""
        if lines <= cache["ways"]:
            return 1.0
        if cache["replacement"] == "lru" or lines > 12 * cache["ways"]:
            return 0.0
        key = (cache["level"], lines)
        if key not in self.tables:
            self.tables[key] = self.truth.share_of_hits(cache, lines, 1, False, 1)
        return self.tables[key]

    def mean_cycles(self, size):
        """Of the first cpu, TLB misses and all."""
        step = self.caches[0]["line"]
        page = self.frames[0].bytes
        # What is asked of a level, by cpu and line: how many of its visits come that far, and from what share of a lap on.
        asked = [[(cpu, offset, 1.0) for offset in range(0, size // step * step, step)] for cpu in range(self.cpus)]
        everybody = [item for of_cpu in asked for item in of_cpu]
        stayed = {}  # in the level before, as a share of the lap
        cycles, before = 0.0, 0.0
        for number, cache in enumerate(self.caches):
            sharers = cache.get("shared_by", 1)
            loads, places = {}, []
            for cpu, offset, share in everybody:
                physical = self.frames[cpu].address(offset // page) + offset % page
                virtual = (cpu << 40) + offset
                at = (cpu // sharers, set_of(cache, physical if cache["mapped"] == "physical" else virtual))
                loads[at] = loads.get(at, 0) + share
                places.append(at)
            latency = cache["latency"]
            following, new_stayed, visits = [], {}, 0.0
            for (cpu, offset, share), at in zip(everybody, places):
                load = loads[at]
                if cache["policy"] == "exclusive":
                    others = (load - share) * (1 - stayed.get((cpu, offset), 0.0))
                    hit = 1.0 if load <= cache["ways"] else poisson_below(others, cache["ways"])
                    new_stayed[(cpu, offset)] = min(1.0, stayed.get((cpu, offset), 0.0) + cache["ways"] / max(load, 1))
                else:
                    hit = self.keeps(cache, math.ceil(load - 1e-9))
                    new_stayed[(cpu, offset)] = min(1.0, cache["ways"] / max(load, 1))
                if cpu == 0:
                    visits += share
                    cycles += share * (latency - before)
                if hit < 1:
                    following.append((cpu, offset, share * (1 - hit)))
            everybody, stayed, before = following, new_stayed, latency
        cycles += sum(share for cpu, _, share in everybody if cpu == 0) * (self.machine["memory"]["latency"] - before)
        return cycles / (size // step) + self.tlb_cycles(size)


def poisson_below(mean, count):
    """The chance of fewer than so many."""
    if mean > 10 * count:
        return 0.0
    term = total = math.exp(-mean)
    for i in range(1, count):
        term *= mean / i
        total += term
    return min(total, 1.0)


def find_level(truth, machine, caches, level, tlb_cycles):
    """The effective size of a shared level for one cpu, and its latency meanwhile; None: it has none."""
    cache, crowd = caches[level], Crowd(truth, machine, caches, level, tlb_cycles)
    following = caches[level + 1]["latency"] if level + 1 < len(caches) else machine["memory"]["latency"]
    limit = cache["latency"] + MARGIN * (following - cache["latency"])
    share = truth.capacity(caches, level) / crowd.cpus
    line = caches[0]["line"]
    low, high = share / 2, share * 2
    if crowd.mean_cycles(int(low)) > limit or crowd.mean_cycles(int(high)) <= limit:
        return None, None
    for _ in range(STEPS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if crowd.mean_cycles(int(middle)) <= limit else (low, middle)
    nearer = max([0.0] + [truth.capacity(caches, i) / caches[i].get("shared_by", 1) for i in range(level)])
    at = max(LATENCY_SHARE * share, OVER_NEARER * nearer)
    latency = crowd.mean_cycles(int(at)) if at <= LATENCY_SHARE_MOST * share else None
    return int(low) // line * line, latency


def find_full(truth, machine, caches, tlb_cycles):
    """The keys of shared levels at full density, for the first cpu."""
    keys, ghz = {}, machine["clock_ghz"]
    fetchers = {"next_line", "adjacent", "region"} & set(machine["prefetchers"])
    if fetchers or machine["noise"].get("neighbour", 0) > 0:
        return keys  # lines come and go for other reasons than the cpus' walks
    for level, cache in enumerate(caches):
        if cache.get("shared_by", 1) < 2 or truth.capacity(caches, level) // cache["line"] > MOST_LINES:
            continue
        size, latency = find_level(truth, machine, caches, level, tlb_cycles)
        prefix = "cache.L%d.full." % (level + 1)
        keys[prefix + "size_bytes"] = size
        keys[prefix + "latency_ns"] = None if latency is None else round(latency / ghz, 6)
    return keys
