/* One line a probe, in the order in which they are listed. */
BJ_PROBE(clock)
BJ_PROBE(cache)
BJ_PROBE(line)
BJ_PROBE(associativity)
BJ_PROBE(bandwidth)
BJ_PROBE(parallelism)
BJ_PROBE(page)
BJ_PROBE(tlb)
