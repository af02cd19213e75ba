#include "cli/news.h"

#include <string.h>

static bool is_text(const char *text, size_t room) {
    return memchr(text, '\0', room) != NULL;
}

/* Another byte than these is no value that may be read as one. */
static bool is_flag(const bool *flag) {
    unsigned char byte;
    memcpy(&byte, flag, sizeof byte);
    return byte <= 1;
}

static bool is_status(bj_status status) {
    return (int)status >= (int)BJ_OK && (int)status <= (int)BJ_ERR_FAILED;
}

static bool is_sound_answer(const bj_answer *answer) {
    bool sound = is_text(answer->key, sizeof answer->key) && is_text(answer->unit, sizeof answer->unit) &&
                 is_text(answer->probe, sizeof answer->probe) && is_text(answer->reason, sizeof answer->reason) &&
                 is_text(answer->caveat, sizeof answer->caveat) && is_text(answer->method, sizeof answer->method) &&
                 is_text(answer->pages, sizeof answer->pages);
    for (size_t i = 0; i < sizeof answer->evidence / sizeof answer->evidence[0]; i++)
        sound = sound && is_text(answer->evidence[i], sizeof answer->evidence[i]);
    /* A pointer of another process points nowhere. */
    return sound && answer->structured == NULL && (int)answer->status >= 0 &&
           (int)answer->status <= (int)BJ_ANSWER_FAILED && (int)answer->confidence >= 0 &&
           (int)answer->confidence <= (int)BJ_CONFIDENCE_HIGH && is_flag(&answer->has_interval) &&
           is_flag(&answer->has_p) && is_flag(&answer->has_claimed) &&
           answer->evidence_count <= sizeof answer->evidence / sizeof answer->evidence[0];
}

static bool is_sound_timing(const bj_timing *timing) {
    return is_sound_answer(&timing->time_ns) && is_flag(&timing->cpu_time) && is_flag(&timing->has_lines) &&
           is_flag(&timing->has_residency) && is_text(timing->asked, sizeof timing->asked) &&
           is_text(timing->remark, sizeof timing->remark);
}

bool bj_cli_read_time_news(const void *bytes, size_t count, size_t jobs, size_t kernels, bj_time_news *news) {
    if (count != sizeof *news)
        return false;
    memcpy(news, bytes, sizeof *news);
    return (int)news->kind >= 0 && (int)news->kind <= (int)BJ_TIME_NEWS_FAILED && is_status(news->status) &&
           news->job < jobs && news->kernel < kernels && is_text(news->clock_reason, sizeof news->clock_reason) &&
           is_text(news->error.text, sizeof news->error.text) && is_sound_timing(&news->timing) &&
           is_sound_answer(&news->ratio);
}

bool bj_cli_read_tune_news(const void *bytes, size_t count, size_t sizes, bj_tune_news *news) {
    if (count != sizeof *news)
        return false;
    memcpy(news, bytes, sizeof *news);
    bool sound = (int)news->kind >= 0 && (int)news->kind <= (int)BJ_TUNE_NEWS_FAILED && is_status(news->status) &&
                 (news->kind != BJ_TUNE_NEWS_RESULT || news->index < sizes) && is_text(news->text, sizeof news->text) &&
                 is_text(news->error.text, sizeof news->error.text) && news->peer_count <= BJ_TUNE_PEERS_MAX;
    for (size_t i = 0; i < BJ_TUNE_PEERS_MAX; i++)
        sound = sound && is_text(news->peers[i], sizeof news->peers[i]);
    return sound;
}
