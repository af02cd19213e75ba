#!/usr/bin/env python3
"""The truth that follows from a machine file, computed without any of the program's own code.

    truth.py MACHINE.json [--json]             what probes should find on that machine
    truth.py --all FOLDER -o FILE.json         the same for all machine files of a folder
    truth.py --check FILE.json MACHINE.json..  exit status 1 unless the file still holds the truth

For the first cpu alone, without noise, with huge pages if the machine grants them, else base pages in the machine's
frames (averaged over draws). The effective size of a level is the largest working set, each of its lines visited once a
lap in random order, whose mean access time, TLB misses and all, is at most L + 0.1 * (next - L). The notes hold the size
of the cache alone, without TLBs, where it differs, and `tlb_shadow` lists those levels. The capacity of a level is its nominal size; of an exclusive one, that plus the
nearer levels it takes lines from.

How: a lap visits the same lines again and again, so every set of a cache lives for itself, and what happens in it depends
only on how many of the lines it gets. The loads of all sets are counted exactly, page by page. Under LRU a set hits
always (no more lines than ways) or never; for the other rules one set with n lines is simulated, access by access, for
every n that occurs. Lines pass through nearer levels without a hit, which is checked: the working set is several times
larger there.
"""
import argparse
import concurrent.futures
import json
import math
import os
import random
import sys
import types

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import truth_cpus
import truth_full

DRAWS, DRAWS_SMALL = 40, 400  # of page frames
MARGIN = 0.1
MEMORY_BYTES = 1 << 36
STEP = 1.02


# ---- the machine, with the defaults of the format

def load_machine(path):
    with open(path, encoding="utf-8") as file:
        machine = json.load(file)
    machine.setdefault("clock_ghz", 1.0)
    machine.setdefault("prefetchers", [])
    machine.setdefault("tlbs", [])
    machine.setdefault("walk", 30)
    machine.setdefault("noise", {})
    page = machine.setdefault("page", {})
    page.setdefault("base", 4096)
    page.setdefault("huge", 0)
    page.setdefault("frames", "random")
    for cache in machine["caches"]:
        cache.setdefault("line", 64)
        cache.setdefault("ways", 8)
        cache.setdefault("index", "plain")
        cache.setdefault("mapped", "virtual")
        cache.setdefault("replacement", "lru")
        cache.setdefault("policy", "neither")
        cache["sets"] = cache["size"] // cache["line"] // cache["ways"]
    memory = machine.setdefault("memory", {})
    memory.setdefault("latency", max(200, 4 * machine["caches"][-1]["latency"]))
    return machine


def latency_after(machine, level):
    caches = machine["caches"]
    return caches[level + 1]["latency"] if level + 1 < len(caches) else machine["memory"]["latency"]


def first_of_chain(caches, level):
    """The level whose evictions an exclusive one holds, through others like it."""
    while caches[level]["policy"] == "exclusive":
        level -= 1
    return level


def capacity(caches, level):
    return sum(cache["size"] for cache in caches[first_of_chain(caches, level):level + 1])


# ---- page frames and loads of the sets

class Frames:
    """Physical addresses of the pages of one mapping, drawn as they are asked for: a larger working set has the smaller
    one's frames and more."""

    def __init__(self, machine, seed):
        page = machine["page"]
        self.bytes = page["huge"] or page["base"]
        self.kind = page["frames"]
        self.random = random.Random("frames %d" % seed)
        self.pages = []
        self.used = set()
        self.colours = 1
        physical = [cache for cache in machine["caches"] if cache["mapped"] == "physical"]
        if self.kind == "coloured" and physical:
            largest = max(physical, key=lambda cache: cache["size"])
            self.colours = max(1, largest["sets"] * largest["line"] // self.bytes)

    def address(self, page):
        while len(self.pages) <= page:
            frames = MEMORY_BYTES // self.bytes
            if self.kind == "contiguous" and self.pages:
                frame = self.pages[-1] + 1
            else:
                frame = None
                while frame is None or frame in self.used:
                    frame = int(self.random.random() * (frames // self.colours)) * self.colours
                    frame += len(self.pages) % self.colours
            self.used.add(frame)
            self.pages.append(frame)
        return self.pages[page] * self.bytes


def count_loads(cache, frames, size):
    """How many sets get how many lines from a buffer of `size` bytes: load -> sets."""
    sets, line = cache["sets"], cache["line"]
    change = {0: 0}  # by how much the load of a set differs from that of the one before, where it does
    whole = 0

    def add_run(first, count):
        nonlocal whole
        whole += count // sets
        first, count = first % sets, count % sets
        change[first] = change.get(first, 0) + 1
        end = first + count
        if end > sets:
            change[0] += 1
            end -= sets
        change[end] = change.get(end, 0) - 1

    def add_lines(first, count):
        if cache["index"] == "plain":
            add_run(first, count)
            return
        while count > 0:  # block by block of `sets` lines, each rotated
            block = first // sets
            now = min(count, (block + 1) * sets - first)
            rotation = ((block * 2654435769) % 2 ** 32 * sets) >> 32
            add_run(first % sets + rotation, now)
            first, count = first + now, count - now

    if cache["mapped"] == "virtual":
        add_lines(0, -(-size // line))
    else:
        for page in range(-(-size // frames.bytes)):
            used = min(frames.bytes, size - page * frames.bytes)
            add_lines(frames.address(page) // line, -(-used // line))
    histogram, running = {}, whole
    edges = sorted(change)
    for edge, following in zip(edges, edges[1:] + [sets]):
        if edge < sets:
            running += change[edge]
            histogram[running] = histogram.get(running, 0) + following - edge
    return histogram


# ---- one set, access by access: the share of visits that hit

class LruSet:
    def __init__(self, ways):
        self.ways, self.lines = ways, []

    def use(self, line):
        hit = line in self.lines
        if hit:
            self.lines.remove(line)
        elif len(self.lines) == self.ways:
            self.lines.pop(0)
        self.lines.append(line)
        return hit


class RandomSet:
    def __init__(self, ways, chance):
        self.ways, self.lines, self.chance = ways, [], chance

    def use(self, line):
        if line in self.lines:
            return True
        if len(self.lines) < self.ways:
            self.lines.append(line)
        else:
            self.lines[int(self.chance.random() * self.ways)] = line
        return False


class TreeSet:
    """Pseudo-LRU by a tree: a node remembers which half was used last, and the victim is looked for in the other."""

    def __init__(self, ways):
        self.lines = [None] * ways
        self.last_right = {}

    def use(self, line):
        hit = line in self.lines
        if hit:
            way = self.lines.index(line)
        elif None in self.lines:
            way = self.lines.index(None)
        else:
            low, high = 0, len(self.lines)
            while high - low > 1:
                middle = (low + high) // 2
                if self.last_right.get((low, high), True):
                    high = middle
                else:
                    low = middle
            way = low
        self.lines[way] = line
        low, high = 0, len(self.lines)
        while high - low > 1:
            middle = (low + high) // 2
            self.last_right[(low, high)] = way >= middle
            low, high = (middle, high) if way >= middle else (low, middle)
        return hit


class BitSet:
    """Pseudo-LRU by bits: set on use; when all are set, only the last stays."""

    def __init__(self, ways):
        self.lines = [None] * ways
        self.used = [False] * ways

    def use(self, line):
        hit = line in self.lines
        if hit:
            way = self.lines.index(line)
        elif None in self.lines:
            way = self.lines.index(None)
        else:
            way = self.used.index(False) if False in self.used else 0
        self.lines[way] = line
        self.used[way] = True
        if all(self.used):
            self.used = [other == way for other in range(len(self.used))]
        return hit


def make_set(cache, chance):
    ways = cache["ways"]
    if cache["replacement"] == "lru":
        return LruSet(ways)
    if cache["replacement"] == "random":
        return RandomSet(ways, chance)
    return TreeSet(ways) if ways & (ways - 1) == 0 else BitSet(ways)


def share_of_hits(cache, lines, visits, prefetched, seed):
    """`lines` lines in one set, each visited `visits` times a lap at random moments and, if `prefetched`, also brought by
    a neighbour's visit at another one."""
    chance = random.Random("set %d %d" % (seed, lines))
    hits = asked = 0
    rounds = 1 if visits == 1 and not prefetched and cache["replacement"] != "random" else 24
    for _ in range(rounds):
        moments = [(chance.random(), line, True) for line in range(lines) for _ in range(visits)]
        if prefetched:
            moments += [(chance.random(), line, False) for line in range(lines)]
        moments.sort()
        tested = make_set(cache, chance)
        for lap in range(24):
            for _, line, demanded in moments:
                hit = tested.use(line)
                if lap >= 8 and demanded:
                    hits += hit
                    asked += 1
    return hits / asked


# ---- an exclusive level: lines arrive when the nearer ones have evicted them

def stays(chance, nearer, visits_of_all):
    """For how long (in laps) a line stays in a nearer level: until `ways` more visits have fallen into its set."""
    others = visits_of_all / nearer["sets"]
    draw, count = chance.random, max(nearer["ways"] + 1, poisson(chance, others))
    return sorted([draw() for _ in range(count)])[nearer["ways"] - 1]


def poisson(chance, mean):
    """By counting exponential gaps; large means by the normal law."""
    if mean > 400:
        return int(chance.gauss(mean, mean ** 0.5))
    count, time, gap = 0, 0.0, chance.expovariate
    while True:
        time += gap(1.0)
        if time > mean:
            return count
        count += 1


def share_of_hits_exclusive(cache, chain, lines, visits, visits_of_all, fetched, seed):
    """`fetched`: into which level the visit of a neighbour brings a line, too, at another moment: into this one ("here"), or
    the one before, from where it arrives later ("nearer"); None: it does not."""
    chance = random.Random("exclusive %d %d" % (seed, lines))
    hits = asked = 0
    for _ in range(16):
        moments = [(chance.random(), line, True) for line in range(lines) for _ in range(visits)]
        if fetched is not None:
            moments += [(chance.random(), line, False) for line in range(lines)]
        moments.sort()
        delay = {}
        for moment, line, demanded in moments:
            passed = chain if demanded else chain[-1:] if fetched == "nearer" else []
            delay[(moment, line)] = sum(stays(chance, nearer, visits_of_all) for nearer in passed)
        here, arriving = [], {}
        for lap in range(20):
            for moment, line, demanded in moments:
                now = lap + moment
                # What left the nearer levels in the meantime arrives in that order.
                due = sorted((when, other) for other, when in arriving.items() if when <= now)
                for _, other in due:
                    del arriving[other]
                    if other in here:
                        here.remove(other)
                    elif len(here) == cache["ways"]:
                        here.pop(0)
                    here.append(other)
                hit = line in here or line in arriving
                if line in here:
                    here.remove(line)
                if demanded or fetched == "nearer":
                    arriving[line] = max(arriving.get(line, 0), now + delay[(moment, line)])
                else:
                    if len(here) == cache["ways"]:
                        here.pop(0)
                    here.append(line)
                if lap >= 8 and demanded:
                    hits += hit
                    asked += 1
    return hits / asked


def is_aligned(machine, level):
    """Whether the sets of the nearer level are unions of this one's: then lines that meet here have met there."""
    cache, nearer = machine["caches"][level], machine["caches"][level - 1]
    return (first_of_chain(machine["caches"], level) == level - 1 and cache["sets"] % nearer["sets"] == 0
            and all(one["index"] == "plain" and one["mapped"] == "physical" for one in (cache, nearer)))


def share_of_hits_aligned(cache, nearer, lines, others, visits, seed):
    """One set of the nearer level and all of this one that lie in it: the one asked about with so many lines, the rest with
    as many as the mean."""
    chance = random.Random("aligned %d %d" % (seed, lines))
    groups = cache["sets"] // nearer["sets"]
    loads = [lines] + [round(others * (i + 1)) - round(others * i) for i in range(groups - 1)]
    names = [(group, line) for group, load in enumerate(loads) for line in range(load)]
    hits = asked = 0
    for _ in range(6 if groups < 4 else 3 * groups):
        moments = sorted((chance.random(), name) for name in names for _ in range(visits))
        near, far = [], [[] for _ in range(groups)]
        for lap in range(12):
            for _, name in moments:
                home = far[name[0]]
                hit = name in near or name in home
                if name in near:
                    near.remove(name)
                elif name in home:
                    home.remove(name)
                near.append(name)
                if len(near) > nearer["ways"]:
                    evicted = near.pop(0)
                    far[evicted[0]].append(evicted)
                    if len(far[evicted[0]]) > cache["ways"]:
                        far[evicted[0]].pop(0)
                if lap >= 5 and name[0] == 0:
                    hits += hit
                    asked += 1
    return hits / asked


# ---- the first level under the region prefetcher: simulated whole, since it is small

class RegionWatcher:
    """The fourth line of one of the eight 2 KiB regions last used brings the others."""

    def __init__(self):
        self.regions = []

    def see(self, line, lines_per_region):
        """What a visit brings along, lines beyond the buffer included."""
        region = line // lines_per_region
        known = next((entry for entry in self.regions if entry[0] == region), None)
        if known is None:
            known = (region, set())
        else:
            self.regions.remove(known)
        self.regions.insert(0, known)
        del self.regions[8:]
        if line in known[1]:
            return []
        known[1].add(line)
        if len(known[1]) != 4:
            return []
        first = region * lines_per_region
        return [other for other in range(first, first + lines_per_region) if other not in known[1]]


def region_misses(cache, lines, seed):
    chance = random.Random("region %d" % seed)
    order = list(range(lines))
    chance.shuffle(order)
    sets = [make_set(cache, chance) for _ in range(cache["sets"])]
    watcher = RegionWatcher()
    hits = asked = 0
    for lap in range(10):
        for line in order:
            hit = sets[line % cache["sets"]].use(line)
            for other in watcher.see(line, 2048 // cache["line"]):
                sets[other % cache["sets"]].use(other)
            if lap >= 2:
                hits += hit
                asked += 1
    return 1 - hits / asked


# ---- sizes

class Level:
    """The share of misses of one level as its working set grows."""

    def __init__(self, machine, level, frames, visits, taken=0.0):
        self.machine, self.level, self.frames, self.visits, self.taken = machine, level, frames, visits, taken
        self.cache = machine["caches"][level]
        self.tables = {}
        fetchers = set(machine["prefetchers"])
        self.prefetched = level > 0 and bool(fetchers & {"next_line", "adjacent"})
        self.region = level == 0 and "region" in fetchers
        first = first_of_chain(machine["caches"], level)
        self.chain = machine["caches"][first:level]
        self.aligned = level > 0 and is_aligned(machine, level)

    def hits_of(self, lines, size):
        """Of one set with so many lines."""
        cache = self.cache
        easy = cache["replacement"] == "lru" and self.visits == 1 and not self.prefetched and not self.chain
        if easy:
            own = cache["ways"] * (1 - self.taken)
            part = own - int(own)
            return part * (lines <= int(own) + 1) + (1 - part) * (lines <= int(own))
        if lines <= cache["ways"]:
            return 1.0
        if lines > 12 * cache["ways"]:
            return 0.0
        # What nearer levels hold changes slowly with the size: in steps of two hundredths.
        key = (lines, round(math.log(size, STEP)) if self.chain else 0)
        if key not in self.tables:
            # Prefetched lines come to both levels' sets, so that what is aligned matters less.
            if self.aligned and not self.prefetched:
                others = STEP ** key[1] / cache["line"] / cache["sets"]
                self.tables[key] = share_of_hits_aligned(cache, self.chain[0], lines, others, self.visits, 1)
            elif self.chain:
                visits_of_all = STEP ** key[1] / cache["line"] * self.visits
                fetched = None if not self.prefetched else "here" if self.level == 1 else "nearer"
                self.tables[key] = share_of_hits_exclusive(cache, self.chain, lines, self.visits, visits_of_all, fetched, 1)
            else:
                self.tables[key] = share_of_hits(cache, lines, self.visits, self.prefetched, 1)
        return self.tables[key]

    def misses(self, size):
        if self.region:
            return sum(region_misses(self.cache, size // self.cache["line"], seed) for seed in range(3)) / 3
        missed = visited = 0
        for frames in self.frames:
            for load, count in count_loads(self.cache, frames, size).items():
                if load > 0:
                    missed += load * count * (1 - self.hits_of(load, size))
                    visited += load * count
        return missed / visited

    def effective_size(self, extra=lambda size: 0.0):
        """By bisection, to one line or a thousandth: more lines never miss less. `extra` is a further cost in cycles."""
        rise = latency_after(self.machine, self.level) - self.cache["latency"]
        line = self.cache["line"]

        def fits(lines):
            return self.misses(lines * line) + extra(lines * line) / rise <= MARGIN

        low = self.cache["size"] // 16 // line
        high = 3 * capacity(self.machine["caches"], self.level) // line
        # A small TLB can end even less than that.
        while low > 1 and not fits(low):
            low, high = low // 2, low
        while high - low > max(1, low // 2000):
            middle = (low + high) // 2
            if fits(middle):
                low = middle
            else:
                high = middle
        return low * line


def check_nearer_levels(machine, level, size, frames):
    """Lines must not hit on the way: no more than one in a hundred finds room in the level before."""
    caches = machine["caches"]
    first = first_of_chain(caches, level)
    if first == 0:
        return
    nearer = caches[first - 1]
    loads = count_loads(nearer, frames, size)
    easy = sum(load * sets for load, sets in loads.items() if load <= nearer["ways"])
    if easy > 0.01 * sum(load * sets for load, sets in loads.items()):
        raise SystemExit("%s: levels %d and %d are too close for this script" % (machine["name"], first, level + 1))


def saved_by_nearer(machine, level, frames, size):
    """What hits in nearer levels take off the mean, in cycles: the TLBs may end the effective size of a level where the
    one before it still holds a part of the working set."""
    saved = 0.0
    for nearer in range(level):
        # Further out nothing is left of the nearer one, whatever its replacement.
        if size < 6 * capacity(machine["caches"], nearer):
            hits = 1 - Level(machine, nearer, frames, 1).misses(size)
            saved += hits * (latency_after(machine, nearer) - machine["caches"][nearer]["latency"])
    return saved


# ---- TLBs: simulated, since a page is visited many times a lap

class TlbLevel:
    def __init__(self, spec):
        ways = spec.get("ways", 0) or spec["entries"]
        self.ways, self.sets = ways, [dict() for _ in range(spec["entries"] // ways)]

    def use(self, page):
        entries = self.sets[page % len(self.sets)]
        hit = page in entries
        if hit:
            del entries[page]
        elif len(entries) == self.ways:
            del entries[next(iter(entries))]
        entries[page] = True
        return hit


def tlb_cycles(machine, size):
    """The mean cost of looking up pages on a random walk over `size` bytes."""
    if not machine["tlbs"]:
        return 0.0
    chance = random.Random("tlb")
    page = machine["page"]["huge"] or machine["page"]["base"]
    pages = -(-size // page)
    levels = [TlbLevel(spec) for spec in machine["tlbs"]]
    reach = sum(spec["entries"] for spec in machine["tlbs"])
    total, asked = 0.0, 20000
    for step in range(4 * reach + asked):
        wanted = min(int(chance.random() * size / page), pages - 1)
        cost = machine["walk"]
        for place, level in enumerate(levels):
            if level.use(wanted):
                cost = machine["tlbs"][place].get("latency", 0) if place > 0 else 0
                break
        if step >= 4 * reach:
            total += cost
    return total / asked


# ---- memory: beyond all caches

# A buffer of at least that, and of four times the last level, as far as the probe goes at effort normal.
MEMORY_LEAST, MEMORY_MOST, MEMORY_OVER_LAST = 256 << 20, 448 << 20, 4


def find_memory(machine, ghz):
    """A random access with what looking up its page costs there, and the same where the first TLB has the page."""
    caches, latency = machine["caches"], machine["memory"]["latency"]
    size = min(max(MEMORY_LEAST, MEMORY_OVER_LAST * capacity(caches, len(caches) - 1)), MEMORY_MOST)
    return {"memory.latency_cycles": latency, "memory.latency_in_tlb_ns": round(latency / ghz, 6),
            "memory.latency_ns": round((latency + tlb_cycles(machine, size)) / ghz, 6)}


# ---- rates: what the file says, and the defaults of the format

def level_gbs(machine, level):
    """What one cpu gets from a level: as given, else 32 bytes a cycle at first and half of the nearer one's after that,
    but no less than from memory."""
    given = machine["caches"][level].get("gbs", 0)
    if given:
        return given
    usual = 32 * machine["clock_ghz"] if level == 0 else level_gbs(machine, level - 1) / 2
    return max(usual, machine["memory"].get("cpu_gbs", 10))


def find_rates(machine):
    """Bandwidths of the first cpu alone, and its misses in flight. All kinds move memory's bytes at one rate. Nothing
    disturbs here, so that the best is the same as what is sustained."""
    memory = machine["memory"]
    bus = min([memory.get("cpu_gbs", 10)] + [domain["gbs"] for domain in memory.get("domains", [])])
    rates = {"memory." + kind: bus for kind in ("read", "write", "copy", "write_past", "copy_past")}
    for level in range(len(machine["caches"])):
        for kind in ("read", "write", "copy"):
            rates["cache.L%d.%s" % (level + 1, kind)] = level_gbs(machine, level)
    keys = {name + best + "_gbs": round(gbs, 6) for name, gbs in rates.items() for best in ("", "_best")}
    keys["memory.parallelism"] = machine.get("misses_in_flight", 10)
    return keys


# ---- the scheduler

def find_scheduling(machine):
    """Threads that work at once without delay: a unit that SMT siblings share counts once a core."""
    cpus, shared = machine.get("cpus", 1), machine.get("shared_units", [])
    cores = {position // machine.get("smt", 1) for position in range(cpus)}
    keys = {"contexts." + kind: len(cores) if kind in shared else cpus for kind in ("int", "fp", "memory")}
    keys["scheduler.slot_ms"] = machine.get("scheduler", {}).get("slot_ms", 4.0)
    return keys


# ---- the whole

def find_truth(path, full=True):
    """`full`: also the sizes of caches when all cpus walk, which take a minute."""
    machine = load_machine(path)
    caches = machine["caches"]
    huge = machine["page"]["huge"]
    ghz = machine["clock_ghz"]
    keys = {"cache.levels": len(caches)}
    notes = {"pages": "huge" if huge else "base", "tlb_shadow": []}
    all_frames = [Frames(machine, seed) for seed in range(DRAWS_SMALL)]
    for level, cache in enumerate(caches):
        prefix = "cache.L%d." % (level + 1)
        # Few pages more or less of one colour move the edge of a small cache.
        frames = all_frames if cache["size"] < 2 ** 20 and not huge else all_frames[:DRAWS]
        # One walk for all levels, in steps of the first one's lines: it meets the longer lines of others several times a lap.
        visits = max(1, cache["line"] // caches[0]["line"])
        size = Level(machine, level, frames, visits).effective_size()
        if level > 0:
            check_nearer_levels(machine, level, size, frames[0])
        with_tlb = size
        if tlb_cycles(machine, size) > 0.01 * (latency_after(machine, level) - cache["latency"]):
            with_tlb = Level(machine, level, frames, visits).effective_size(
                lambda bytes: tlb_cycles(machine, bytes) - saved_by_nearer(machine, level, frames, bytes))
            notes[prefix + "size_bytes_without_tlb"] = size
        keys[prefix + "size_bytes"] = with_tlb
        keys[prefix + "capacity_bytes"] = capacity(caches, level)
        keys[prefix + "latency_cycles"] = cache["latency"]
        keys[prefix + "latency_ns"] = round(cache["latency"] / ghz, 6)
        keys[prefix + "line_bytes"] = cache["line"]
        keys[prefix + "associativity"] = cache["ways"]
        if level == len(caches) - 1 and machine["noise"].get("neighbour", 0) > 0:
            notes[prefix + "size_bytes_beside_neighbour"] = Level(
                machine, level, frames, 1, machine["noise"]["neighbour"]).effective_size()
        if with_tlb < 0.9 * size:
            notes["tlb_shadow"].append(level + 1)
    keys["cache.line_bytes"] = caches[0]["line"]
    keys.update(find_memory(machine, ghz))
    keys["cpu.clock_ghz"] = ghz
    keys["page.size_bytes"] = machine["page"]["base"]
    keys["tlb.levels"] = len(machine["tlbs"])
    keys.update(find_tlb_costs(machine, ghz))
    keys.update(find_rates(machine))
    keys.update(find_operations(machine))
    keys.update(find_vectors(machine))
    keys.update(find_registers(machine))
    keys.update(find_scheduling(machine))
    of_cpus, of_tree = truth_cpus.find_cpus(machine, keys["memory.latency_ns"])
    keys.update(of_cpus)
    notes.update(of_tree)
    if full and machine.get("cpus", 1) > 1:
        keys.update(truth_full.find_full(types.SimpleNamespace(**globals()), machine, truth_cpus.caches_of(machine, 0),
                                         lambda size: tlb_cycles(machine, size)))
    return {"characteristics": keys, "notes": notes}


# What a chain of the operation needs besides it, since it could not go on otherwise.
COMPANIONS = {"mod": "add", "sqrt": "mul"}
STREAMS = 20


def find_operations(machine):
    """Relative to the addition. In flight: latency times rate, a fraction."""
    operations = {"int32.add": {"latency": 1, "per_cycle": 4}, **machine.get("ops", {})}
    unit = operations["int32.add"]["latency"]
    keys = {}
    for name, operation in operations.items():
        kind, what = name.split(".")
        if what in ("load", "store"):
            continue
        companion = COMPANIONS.get(what, "add" if what == "div" and kind.startswith("int") else None)
        if companion and f"{kind}.{companion}" not in operations:
            continue
        rate = operation.get("per_cycle", 1)
        rate = min(rate, operation.get("in_flight", operation["latency"] * rate) / operation["latency"])
        keys[f"op.{name}.latency"] = round(operation["latency"] / unit, 6)
        if operation["latency"] * rate < STREAMS:
            keys[f"op.{name}.throughput"] = round(rate * unit, 6)
            keys[f"op.{name}.in_flight"] = max(1, round(operation["latency"] * rate, 6))
    return keys


def find_vectors(machine):
    """The narrowest vectors whose elements multiplied and added in a cycle are within a twentieth of the most."""
    operations = machine.get("ops", {})
    unit = operations.get("int32.add", {"latency": 1})["latency"]
    rates = {}
    for lanes in (2, 4, 8):
        ops = {what: operations.get(f"doublex{lanes}.{what}") for what in ("fma", "mul", "add")}
        if ops["fma"] or (ops["mul"] and ops["add"]):
            scarcer = [ops["fma"]] if ops["fma"] else [ops["mul"], ops["add"]]
            rates[lanes] = lanes * min(operation.get("per_cycle", 1) for operation in scarcer)
    if not rates:
        return {}
    lanes = min(lanes for lanes, rate in rates.items() if rate >= 0.95 * max(rates.values()))
    keys = {"vector.width_bytes": 8 * lanes}
    for what in ("load", "store"):
        keys[f"op.{what}.throughput"] = round(operations[f"doublex{lanes}.{what}"].get("per_cycle", 1) * unit, 6)
    return keys


def find_registers(machine):
    usual = {"int32": 13, "int64": 13, "float": 15, "double": 15}
    return {f"live.{kind}": count for kind, count in machine.get("registers", usual).items()}


def find_tlb_costs(machine, ghz):
    """Entries of the levels, and what missing one costs beyond a hit in it: the first level's look-up takes no time."""
    keys, hit = {}, 0
    for level, tlb in enumerate(machine["tlbs"]):
        last = level + 1 == len(machine["tlbs"])
        following = machine["walk"] if last else machine["tlbs"][level + 1].get("latency", 0)
        keys["tlb.L%d.entries" % (level + 1)] = tlb["entries"]
        keys["tlb.L%d.miss_ns" % (level + 1)] = round((following - hit) / ghz, 6)
        hit = following
    return keys


def write_json(value, file):
    json.dump(value, file, indent=1, sort_keys=True)
    file.write("\n")


def is_kept(kept, path):
    """All but what takes a minute."""
    truth = json.loads(json.dumps(find_truth(path, full=False)))
    if kept is None:
        return False
    keys = {key: value for key, value in kept["characteristics"].items()
            if not (key.startswith("cache.") and ".full." in key)}
    return keys == truth["characteristics"] and kept["notes"] == truth["notes"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("machines", nargs="*", help="machine files")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--all", metavar="FOLDER")
    parser.add_argument("-o", metavar="FILE", dest="output")
    parser.add_argument("--check", metavar="FILE")
    options = parser.parse_args()
    if options.all:
        names = sorted(name for name in os.listdir(options.all) if name.endswith(".json"))
        with concurrent.futures.ProcessPoolExecutor() as pool:
            found = pool.map(find_truth, [os.path.join(options.all, name) for name in names])
            truths = {name[:-5]: truth for name, truth in zip(names, found)}
        if not options.output:
            parser.error("--all wants -o FILE")
        with open(options.output, "w", encoding="utf-8") as file:
            write_json(truths, file)
        return 0
    if not options.machines:
        parser.error("which machine?")
    if options.check:
        with open(options.check, encoding="utf-8") as file:
            kept = json.load(file)
        wrong = [path for path in options.machines if not is_kept(kept.get(os.path.basename(path)[:-5]), path)]
        for path in wrong:
            print("%s: the truth kept in %s is not this machine's any more" % (path, options.check), file=sys.stderr)
        return 1 if wrong else 0
    for path in options.machines:
        truth = find_truth(path)
        if options.json:
            write_json(truth, sys.stdout)
        else:
            for key, value in list(truth["characteristics"].items()) + list(truth["notes"].items()):
                print("%-45s %s" % (key, value))
    return 0


if __name__ == "__main__":
    sys.exit(main())
