#!/bin/sh
# Variables of the environment that name code: none of it is run, least of all with somebody else's rights.
. "$(dirname "$0")/lib.sh"
skip_cross_built "the compilers here build plugins for this one"
has cc || skip "no compiler to make a plugin with"

mkdir plugins
cat >plugin.c <<'END'
#include <fcntl.h>
__attribute__((constructor)) static void run(void) {
    open("@here@/ran", O_CREAT | O_WRONLY, 0644);
}
END
sed -i "s|@here@|$scratch|" plugin.c
cc -shared -fPIC -o plugins/hwloc_evil.so plugin.c 2>/dev/null || skip "no shared object can be made"

# That it would run is seen by loading it.
if has python3; then
    python3 -c "import ctypes; ctypes.CDLL('$scratch/plugins/hwloc_evil.so')"
    [ -e ran ] || complain "the plugin does nothing, so this shows nothing"
    rm -f ran
fi
HWLOC_PLUGINS_PATH=$scratch/plugins
export HWLOC_PLUGINS_PATH
expect 0 run clock -q --effort quick -o p.json
[ ! -e ran ] || complain "code that HWLOC_PLUGINS_PATH names was run"

# A setuid program: no plugin, no claims, no file where a variable says.
[ "$(id -u)" -eq 0 ] && has setpriv || finish "setuid programs are root's to make"
[ -z "${BJ_SANITIZERS:-}" ] || finish "a sanitizer refuses setuid programs"
chmod 755 "$scratch"
cp "$blackjack" setuid && chmod 4755 setuid
mkdir open && chmod 777 open
setpriv --reuid 65534 --regid 65534 --clear-groups ./setuid run cache -q --budget 3 --effort quick -o - >q.json 2>err
status=$?
[ $status -le 1 ] || complain "as a setuid program: exit status $status"
[ ! -e ran ] || complain "a setuid program ran code that HWLOC_PLUGINS_PATH names"
grep -q '"claimed": [0-9]' q.json && grep '"claimed": [0-9]' q.json | grep -qv page && complain "a setuid program asked hwloc"
finish
