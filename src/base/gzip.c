#include "base/gzip.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool bj_base_is_gzip(const char *bytes, size_t length) {
    return length >= 2 && (unsigned char)bytes[0] == 0x1f && (unsigned char)bytes[1] == 0x8b;
}

bool bj_base_names_gzip(const char *path) {
    size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

#ifdef BJ_HAVE_ZLIB

#include <zlib.h>

/* The largest window, and 16: with gzip's head and checksum. */
enum { GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8, LEAST_ROOM = 4096 };

static bj_status fail_memory(const char *name, bj_error *error) {
    return bj_base_set_error(error, BJ_ERR_RESOURCE, "%s: out of memory", name);
}

typedef struct {
    char *text;
    size_t used, room, most;
} growing;

/* Room for more, up to one byte beyond the most: that one tells that there is too much. False: no memory. */
static bool grow(growing *out) {
    if (out->used < out->room)
        return true;
    size_t room = out->room * 2 <= out->most ? out->room * 2 : out->most + 1;
    char *text = realloc(out->text, room + 1);
    if (text == NULL)
        return false;
    out->text = text;
    out->room = room;
    return true;
}

/* One member; the stream is ready. Z_STREAM_END: all of it. */
static int expand_member(z_stream *stream, growing *out) {
    int result = Z_OK;
    while (result == Z_OK && out->used <= out->most) {
        if (!grow(out))
            return Z_MEM_ERROR;
        size_t left = out->room - out->used;
        stream->next_out = (Bytef *)out->text + out->used;
        stream->avail_out = left < UINT_MAX ? (uInt)left : UINT_MAX;
        uInt before = stream->avail_out;
        result = inflate(stream, Z_NO_FLUSH);
        out->used += before - stream->avail_out;
        if (result == Z_BUF_ERROR && stream->avail_out == 0)
            result = Z_OK;
    }
    return result;
}

static bj_status expand_all(const char *name, z_stream *stream, growing *out, bj_error *error) {
    int result;
    do {
        result = expand_member(stream, out);
        if (out->used > out->most)
            return bj_base_set_error(error, BJ_ERR_INPUT, "%s: larger than %zu bytes when it is expanded", name,
                                     out->most);
    } while (result == Z_STREAM_END && bj_base_is_gzip((const char *)stream->next_in, stream->avail_in) &&
             inflateReset(stream) == Z_OK);
    if (result == Z_MEM_ERROR)
        return fail_memory(name, error);
    if (result == Z_BUF_ERROR)
        return bj_base_set_error(error, BJ_ERR_INPUT, "%s: compressed by gzip, and cut short", name);
    if (result != Z_STREAM_END)
        return bj_base_set_error(error, BJ_ERR_INPUT, "%s: compressed by gzip, and damaged", name);
    return BJ_OK;
}

bj_status bj_base_expand_gzip(const char *name, const char *bytes, size_t length, size_t max_bytes, char **text,
                              size_t *text_length, bj_error *error) {
    z_stream stream = {.next_in = (Bytef *)(void *)bytes, .avail_in = (uInt)length};
    growing out = {.room = LEAST_ROOM < max_bytes ? LEAST_ROOM : max_bytes + 1, .most = max_bytes};
    *text = NULL;
    *text_length = 0;
    if (length > UINT_MAX || max_bytes > SIZE_MAX / 4)
        return bj_base_set_error(error, BJ_ERR_INPUT, "%s: larger than can be expanded", name);
    out.text = malloc(out.room + 1);
    if (out.text == NULL || inflateInit2(&stream, GZIP_WINDOW) != Z_OK) {
        free(out.text);
        return fail_memory(name, error);
    }
    bj_status status = expand_all(name, &stream, &out, error);
    inflateEnd(&stream);
    if (status != BJ_OK) {
        free(out.text);
        return status;
    }
    out.text[out.used] = '\0';
    *text = out.text;
    *text_length = out.used;
    return BJ_OK;
}

bj_status bj_base_compress_gzip(const char *name, const char *text, size_t length, char **bytes, size_t *bytes_length,
                                bj_error *error) {
    z_stream stream = {.next_in = (Bytef *)(void *)text, .avail_in = (uInt)length};
    *bytes = NULL;
    *bytes_length = 0;
    if (length > UINT_MAX / 2)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "%s: too large to be compressed", name);
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return fail_memory(name, error);
    uLong room = deflateBound(&stream, (uLong)length);
    char *out = malloc(room);
    int result = Z_MEM_ERROR;
    if (out != NULL) {
        stream.next_out = (Bytef *)out;
        stream.avail_out = (uInt)room;
        result = deflate(&stream, Z_FINISH);
    }
    *bytes_length = stream.total_out;
    deflateEnd(&stream);
    if (result != Z_STREAM_END) {
        free(out);
        *bytes_length = 0;
        return fail_memory(name, error);
    }
    *bytes = out;
    return BJ_OK;
}

#else

static bj_status refuse(const char *name, char **out, size_t *length, bj_error *error) {
    *out = NULL;
    *length = 0;
    return bj_base_set_error(error, BJ_ERR_UNSUPPORTED,
                             "%s: compressed by gzip, and this program was built without zlib", name);
}

bj_status bj_base_expand_gzip(const char *name, const char *bytes, size_t length, size_t max_bytes, char **text,
                              size_t *text_length, bj_error *error) {
    (void)bytes, (void)length, (void)max_bytes;
    return refuse(name, text, text_length, error);
}

bj_status bj_base_compress_gzip(const char *name, const char *text, size_t length, char **bytes, size_t *bytes_length,
                                bj_error *error) {
    (void)text, (void)length;
    return refuse(name, bytes, bytes_length, error);
}

#endif
