#include "base/text_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "platform/system/file_system.h"

static bool make_room(bj_text_stream *stream, size_t more) {
    if (stream->room - stream->length > more)
        return true;
    size_t room = stream->room > 0 ? stream->room : 4096;
    while (room - stream->length <= more)
        room *= 2;
    char *grown = realloc(stream->text, room);
    if (grown == NULL)
        return false;
    stream->text = grown;
    stream->room = room;
    return true;
}

static ssize_t append(void *cookie, const char *bytes, size_t count) {
    bj_text_stream *stream = cookie;
    if (stream->failed || !make_room(stream, count)) {
        stream->failed = true;
        errno = ENOMEM;
        return 0;
    }
    memcpy(stream->text + stream->length, bytes, count);
    stream->length += count;
    return (ssize_t)count;
}

static bj_status lack_memory(bj_error *error) {
    return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a text");
}

bj_status bj_base_open_text_stream(bj_text_stream *stream, bj_error *error) {
    *stream = (bj_text_stream){0};
    stream->out = bj_platform_open_writer(append, stream);
    return stream->out != NULL ? BJ_OK : lack_memory(error);
}

bj_status bj_base_close_text_stream(bj_text_stream *stream, char **text, size_t *length, bj_error *error) {
    bool failed = ferror(stream->out) != 0;
    failed = fclose(stream->out) != 0 || failed || stream->failed || !make_room(stream, 0);
    *text = failed ? NULL : stream->text;
    *length = failed ? 0 : stream->length;
    if (failed) {
        free(stream->text);
        return lack_memory(error);
    }
    stream->text[stream->length] = '\0';
    return BJ_OK;
}
