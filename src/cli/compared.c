#include "cli/compared.h"

#include <stdlib.h>

#include "profile/places.h"

bj_status bj_cli_complete_compared(const bj_cli_arguments *given, bj_cli_compared *compared, bj_error *error) {
    *compared = (bj_cli_compared){.arguments = *given};
    if (given->operand_count >= 2)
        return BJ_OK;
    if (given->operand_count == 0)
        BJ_TRY(bj_profile_find_older(&compared->found[0], error));
    BJ_TRY(bj_profile_find_default(&compared->found[1], error));
    compared->operands[0] = given->operand_count > 0 ? given->operands[0] : compared->found[0];
    compared->operands[1] = compared->found[1];
    compared->arguments.operands = compared->operands;
    compared->arguments.operand_count = 2;
    return BJ_OK;
}

void bj_cli_free_compared(bj_cli_compared *compared) {
    free(compared->found[0]);
    free(compared->found[1]);
}
