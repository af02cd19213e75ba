/* What a compiler with its flags makes of C: asked by having it compile a few lines. */
#pragma once

#include "timer/build.h"
#include "tune/model.h"

bj_status bj_tune_ask_target(const bj_timer_build *build, bj_tune_target *target, bj_error *error) BJ_WARN_UNUSED;
