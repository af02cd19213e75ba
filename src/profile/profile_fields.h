/* The sections "tool", "run" and "environment" of a profile: one list of fields for reading and writing; one characteristic
 * alone. */
#pragma once

#include "base/json_read.h"
#include "profile/json_text.h"
#include "profile/profile.h"

/* Sections and fields that are absent leave the profile as it is. */
bj_status bj_profile_read_fields(const bj_json_place *whole, const json_t *root, bj_profile *profile) BJ_WARN_UNUSED;
/* `,\n  "tool": {…},\n  "run": {…},\n  "environment": {…}` */
void bj_profile_append_fields(bj_json_text *json, const bj_profile *profile);
/* A characteristic as one JSON object. */
bj_status bj_profile_append_answer(bj_json_text *json, const bj_answer *answer, bj_error *error) BJ_WARN_UNUSED;
