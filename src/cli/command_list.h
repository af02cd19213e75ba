/* One line a command, in the order in which help lists them. */
BJ_COMMAND(run)
BJ_COMMAND(list)
BJ_COMMAND(show)
BJ_COMMAND(get)
BJ_COMMAND(analyze)
BJ_COMMAND(reanalyze)
BJ_COMMAND(help)
