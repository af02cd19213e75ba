# Sourced by tests that need several hosts: namespaces (network, UTS, IPC, mounts) on this machine, joined by veth to a
# bridge in the first. They need root and go away with the test, which sets `folder`.
# shellcheck shell=sh disable=SC2154

host_keepers=
skip() {
    echo "skipped: $1"
    exit 77
}
inside() { # inside NUMBER COMMAND...
    which=$1
    shift
    nsenter -t "$(cat "$folder/bjhost$which")" -n -u -i -m "$@"
}
end_hosts() { # and all that still runs on them: on a host without a network a launcher's daemon may wait for ever
    for keeper in $host_keepers; do
        space=$(readlink "/proc/$keeper/ns/uts") || continue
        if [ "$space" = "$(readlink /proc/self/ns/uts)" ]; then # not apart from us yet
            kill -KILL "$keeper" 2>/dev/null || true
            continue
        fi
        for process in /proc/[0-9]*; do
            if [ "$(readlink "$process/ns/uts" 2>/dev/null)" = "$space" ]; then
                kill -KILL "${process#/proc/}" 2>/dev/null || true
            fi
        done
    done
}
make_hosts() { # make_hosts COUNT: bjhost1, bjhost2, ... and the program that mpirun starts others by, $folder/agent
    [ "$(id -u)" = 0 ] || skip "namespaces need root"
    command -v tc >/dev/null && command -v ip >/dev/null || skip "no ip or tc"
    unshare -n -u -i -m true 2>/dev/null || skip "namespaces are not permitted"
    echo '127.0.0.1 localhost' >"$folder/hosts"
    for number in $(seq "$1"); do
        echo "10.77.0.$number bjhost$number" >>"$folder/hosts"
        unshare -n -u -i -m sleep 1200 &
        host_keepers="$host_keepers $!"
        echo $! >"$folder/bjhost$number"
    done
    mkdir "$folder/cgroup"
    sleep 0.5
    for number in $(seq "$1"); do
        inside "$number" hostname "bjhost$number"
        inside "$number" mount --bind "$folder/hosts" /etc/hosts
        inside "$number" ip link set lo up
        # MPICH looks for networks in /sys, Slurm for control groups.
        inside "$number" mount --rbind /sys/fs/cgroup "$folder/cgroup"
        inside "$number" mount -t sysfs none /sys
        inside "$number" mount --rbind "$folder/cgroup" /sys/fs/cgroup
    done
    inside 1 ip link add bridge0 type bridge
    inside 1 ip addr add 10.77.0.1/24 dev bridge0
    inside 1 ip link set bridge0 up
    for number in $(seq 2 "$1"); do
        inside 1 ip link add "to$number" type veth peer name up0 netns "$(cat "$folder/bjhost$number")"
        inside 1 ip link set "to$number" master bridge0
        inside 1 ip link set "to$number" up
        inside "$number" ip addr add "10.77.0.$number/24" dev up0
        inside "$number" ip link set up0 up
    done
    cat >"$folder/agent" <<END
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do shift; done
host=\$1
shift
exec nsenter -t "\$(cat $folder/\$host)" -n -u -i -m sh -c "\$*"
END
    chmod +x "$folder/agent"
}
# The launcher on the first host, over TCP between hosts. A machine that is suspended for a while should not fail a test.
launch() { # launch HOST:RANKS,... COMMAND...
    places=$1
    shift
    case $mpirun in
    *openmpi) set -- --allow-run-as-root --oversubscribe --bind-to none --mca plm_rsh_agent "$folder/agent" \
        --mca btl self,vader,tcp --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 \
        --mca plm_rsh_no_tree_spawn 1 --mca mpi_yield_when_idle 1 -host "$places" "$@" ;;
    *) set -- -launcher ssh -launcher-exec "$folder/agent" -iface bridge0 -hosts "$places" "$@" ;;
    esac
    inside 1 timeout 200 "$mpirun" "$@"
}
