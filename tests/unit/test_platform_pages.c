#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "platform/pages.h"

enum { MANY = 8 };

static void expect_mapped(const bj_mapping *mapping, size_t bytes, size_t page) {
    size_t alignment = bj_platform_huge_bytes() > 0 ? bj_platform_huge_bytes() : bj_platform_page_bytes();
    assert_non_null(mapping->memory);
    assert_int_equal((uintptr_t)mapping->memory % alignment, 0);
    assert_true(mapping->bytes >= bytes && mapping->bytes < bytes + page);
    assert_true(mapping->memory >= (char *)mapping->mapping);
    assert_true(mapping->memory + mapping->bytes <= (char *)mapping->mapping + mapping->mapping_bytes);
    memset(mapping->memory, 0xa5, mapping->bytes);
}

static void knows_page_sizes(void **state) {
    (void)state;
    size_t page = bj_platform_page_bytes(), huge = bj_platform_huge_bytes();
    assert_true(page >= 4096 && (page & (page - 1)) == 0);
    assert_true(huge == 0 || (huge > page && huge % page == 0));
}

static void maps_base_pages(void **state) {
    (void)state;
    size_t page = bj_platform_page_bytes();
    const size_t sizes[] = {1, page, page + 1, 300 * page, (size_t)5 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        bj_mapping mapping;
        bj_error error = {""};
        if (bj_platform_map_pages(sizes[i], false, &mapping, &error) != BJ_OK)
            fail_msg("%s", error.text);
        expect_mapped(&mapping, sizes[i], page);
        bj_platform_unmap_pages(&mapping);
        assert_null(mapping.memory);
        bj_platform_unmap_pages(&mapping);
    }
}

/* Either all of it, or a reason and nothing mapped. */
static bool map_huge(size_t bytes, bj_mapping *mapping) {
    bj_error error = {""};
    bj_status status = bj_platform_map_pages(bytes, true, mapping, &error);
    if (status == BJ_OK) {
        expect_mapped(mapping, bytes, bj_platform_huge_bytes());
        return true;
    }
    assert_int_equal(status, BJ_ERR_UNSUPPORTED);
    assert_true(error.text[0] != '\0');
    assert_null(mapping->memory);
    assert_null(mapping->mapping);
    return false;
}

static void maps_huge_pages_or_says_why_not(void **state) {
    (void)state;
    const size_t sizes[] = {1, (size_t)2 << 20, (size_t)7 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        bj_mapping mapping;
        if (map_huge(sizes[i], &mapping))
            bj_platform_unmap_pages(&mapping);
    }
    if (bj_platform_huge_bytes() == 0) {
        bj_mapping mapping;
        assert_false(map_huge(1, &mapping));
    }
}

/* Neighbours of both kinds must not be taken for one another. */
static void verifies_each_mapping_alone(void **state) {
    (void)state;
    bj_mapping base[MANY], huge[MANY];
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(bj_platform_map_pages((size_t)2 << 20, false, &base[i], NULL), BJ_OK);
        map_huge((size_t)2 << 20, &huge[i]);
    }
    for (int i = 0; i < MANY; i++) {
        bj_platform_unmap_pages(&base[i]);
        bj_platform_unmap_pages(&huge[i]);
    }
}

static void refuses_what_cannot_be(void **state) {
    (void)state;
    bj_mapping mapping;
    bj_error error = {""};
    assert_int_equal(bj_platform_map_pages(0, false, &mapping, &error), BJ_ERR_USAGE);
    assert_int_equal(bj_platform_map_pages(SIZE_MAX, false, &mapping, &error), BJ_ERR_RESOURCE);
    if (sizeof(void *) > 4) /* of 32 bits' 4 GiB one may well have a quarter */
        assert_int_equal(bj_platform_map_pages(SIZE_MAX / 4, false, &mapping, NULL), BJ_ERR_RESOURCE);
    assert_null(mapping.mapping);
}

/* Where the address space is used up, the reason is the resource and nothing stays mapped. */
static void says_when_nothing_is_left(void **state) {
    (void)state;
    bj_mapping mapping;
    struct rlimit before, now;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    struct rlimit none = {.rlim_cur = 4096, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    assert_int_equal(getrlimit(RLIMIT_AS, &now), 0);
    if (now.rlim_cur != none.rlim_cur) {
        print_message("left out: this system takes a limit of address space and sets none, as qemu-user does\n");
        skip();
    }
    bj_status status = bj_platform_map_pages((size_t)1 << 20, false, &mapping, NULL);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(status, BJ_ERR_RESOURCE);
    assert_null(mapping.mapping);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_page_sizes),
        cmocka_unit_test(maps_base_pages),
        cmocka_unit_test(maps_huge_pages_or_says_why_not),
        cmocka_unit_test(verifies_each_mapping_alone),
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(says_when_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
