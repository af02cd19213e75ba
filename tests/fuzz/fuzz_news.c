/* What the child processes of `time` and `tune` send, altered byte by byte, as by a kernel that writes anywhere: what
 * is accepted names things that are there, and its texts end. The first byte says whose, each further three are one
 * byte at a place. */
#include "cli/news.h"
#include "fuzz.h"

enum { JOBS = 3, KERNELS = 2, SIZES = 5 };

static void check_text(const char *text, size_t room) {
    require(strnlen(text, room) < room, "a text ends in its place");
}

static void check_answer(const bj_answer *answer) {
    require(bj_data_name_status(answer->status) != NULL, "a status has a name");
    require(answer->confidence == BJ_CONFIDENCE_NONE || bj_data_name_confidence(answer->confidence) != NULL,
            "so has a confidence");
    require(answer->structured == NULL, "no pointer of another process");
    check_text(answer->reason, sizeof answer->reason);
    check_text(answer->caveat, sizeof answer->caveat);
    check_text(answer->method, sizeof answer->method);
}

static void take_time(const void *bytes, size_t count) {
    bj_time_news news;
    if (!bj_cli_read_time_news(bytes, count, JOBS, KERNELS, &news))
        return;
    require(news.job < JOBS && news.kernel < KERNELS, "a job and a kernel that are there");
    check_answer(&news.timing.time_ns);
    check_answer(&news.ratio);
    check_text(news.timing.remark, sizeof news.timing.remark);
    check_text(news.error.text, sizeof news.error.text);
}

static void take_tune(const void *bytes, size_t count) {
    bj_tune_news news;
    if (!bj_cli_read_tune_news(bytes, count, SIZES, &news))
        return;
    require(news.kind != BJ_TUNE_NEWS_RESULT || news.index < SIZES, "a size that is there");
    require(news.peer_count <= BJ_TUNE_PEERS_MAX, "no more libraries than there is room for");
    for (size_t i = 0; i < BJ_TUNE_PEERS_MAX; i++)
        check_text(news.peers[i], sizeof news.peers[i]);
    check_text(news.error.text, sizeof news.error.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    unsigned char wire[BJ_CHILD_MESSAGE_MOST] = {0};
    if (size == 0)
        return 0;
    size_t count = data[0] % 2 == 0 ? sizeof(bj_time_news) : sizeof(bj_tune_news);
    for (size_t i = 1; i + 2 < size; i += 3)
        wire[(data[i] | data[i + 1] << 8) % count] = data[i + 2];
    if (data[0] % 2 == 0)
        take_time(wire, count);
    else
        take_tune(wire, count);
    return 0;
}
