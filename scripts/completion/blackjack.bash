# bash completion for blackjack. Commands, options and values are those that the program itself prints.

# Names in front of a list: of commands or formats.
_blackjack_names() {
    "$program" "$@" 2>/dev/null | sed -n 's/^ \{0,2\}\([a-z][a-z-]*\)  .*/\1/p'
}

# The profile that the line names; nothing: the default one.
_blackjack_profile() {
    case ${COMP_WORDS[2]} in
    *.json | */*) [ "$COMP_CWORD" -gt 2 ] && printf '%s\n' "${COMP_WORDS[2]/#\~/$HOME}" ;;
    *) [ "$COMP_CWORD" -gt 2 ] && [ -f "${COMP_WORDS[2]}" ] && printf '%s\n' "${COMP_WORDS[2]}" ;;
    esac
}

# Keys of the profile; without one those that there may be, with the first levels for <n>.
_blackjack_keys() {
    local file=$(_blackjack_profile)
    "$program" get ${file:+"$file"} '*' --field status 2>/dev/null | sed 's/ .*//' | grep . || _blackjack_all_keys
}
_blackjack_all_keys() {
    "$program" list --words keys 2>/dev/null | sed -n '/<n>/{s/<n>/1/p;s/L1/L2/p;s/L2/L3/p;d};/</d;p'
}

# Ids of its curves, below the head of their list.
_blackjack_curves() {
    local file=$(_blackjack_profile)
    "$program" curve ${file:+"$file"} 2>/dev/null | sed '1d;s/ .*//'
}

# Methods of the probes on the line; without any, of all.
_blackjack_methods() {
    local probes= word known=" $("$program" list --words probes 2>/dev/null | tr '\n' ' ')"
    for word in "${COMP_WORDS[@]:2}"; do
        case $known in *" $word "*) probes+=" $word" ;; esac
    done
    "$program" list --words methods $probes 2>/dev/null
    "$program" list --words papers $probes 2>/dev/null
}

_blackjack() {
    local program=${1/#\~/$HOME} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    local command=${COMP_WORDS[1]} usage= options=--help argument= words= files= line
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
    case $before:$argument in
    --method:?*) words=$(_blackjack_methods) ;;
    *:PROBE) words=$("$program" list --words probes 2>/dev/null) ;;
    *:FIELD) words=$("$program" list --words fields 2>/dev/null) ;;
    *:KEY=VALUE) words=$(_blackjack_all_keys | sed 's/$/=/') ;;
    *:*'|'*) words=${argument//|/ } words=${words//[A-Z]/} ;;
    *:FILE) files=yes ;;
    *:?*) return ;;
    *) case $word:$COMP_CWORD:$usage in
        -*) words=$options ;;
        *'[PROBE...]'* | *:2:*' PROBE '*) words=$("$program" list --words probes 2>/dev/null) ;;
        *'[FILE] [SECTION]'*) words=$("$program" list --words probes 2>/dev/null) files=yes ;;
        *:2:*' FORMAT '*) words=$(_blackjack_names help "$command") ;;
        *:2:*'[COMMAND]'*) words=$(_blackjack_names help) ;;
        *:2:*'[FILE] KEY '*) words=$(_blackjack_keys) files=yes ;;
        *'[FILE] KEY '*) words="$(_blackjack_keys) $("$program" list --words fields 2>/dev/null)" ;;
        *:2:*'[FILE] [ID]'*) words=$(_blackjack_curves) files=yes ;;
        *'[FILE] [ID]'*) words=$(_blackjack_curves) ;;
        *) files=yes ;;
        esac ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word") ${files:+$(compgen -f -- "$word")})
}
complete -o filenames -F _blackjack blackjack
