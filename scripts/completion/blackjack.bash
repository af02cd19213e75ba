# bash completion for blackjack. Commands, options and values are those that the program itself prints.

# Names in front of a list: of commands, probes or formats.
_blackjack_names() {
    "$program" "$@" 2>/dev/null | sed -n 's/^ \{0,2\}\([a-z][a-z-]*\)  .*/\1/p'
}

_blackjack() {
    local program=${1/#\~/$HOME} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    local command=${COMP_WORDS[1]} usage= options=--help argument= words= line
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "--help --version $(_blackjack_names help)" -- "$word"))
        return
    fi
    # "usage: ...", then lines such as "  -o, --output FILE  what it is for"
    while read -r line; do
        [ -n "$usage" ] || usage=$line
        [[ $line =~ ^(-(.), )?--([a-z-]+)( ([^ ]+))?'  ' ]] || continue
        options+=" --${BASH_REMATCH[3]}"
        case $before in "--${BASH_REMATCH[3]}" | "-${BASH_REMATCH[2]}") argument=${BASH_REMATCH[5]} ;; esac
    done < <("$program" help "$command" 2>/dev/null)
    case $argument in
    *'|'*) words=${argument//|/ } words=${words//[A-Z]/} ;;
    FILE) ;;
    ?*) return ;;
    *) case $word:$COMP_CWORD:$usage in
        -*) words=$options ;;
        *'[PROBE...]'* | *:2:*' PROBE '*) words=$(_blackjack_names list) ;;
        *:2:*' FORMAT '*) words=$(_blackjack_names help "$command") ;;
        *:2:*'[COMMAND]'*) words=$(_blackjack_names help) ;;
        esac ;;
    esac
    if [ -n "$words" ]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}
complete -o filenames -F _blackjack blackjack
