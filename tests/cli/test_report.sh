#!/bin/sh
# report: the page as a file; what it looks like is for tests/web.
. "$(dirname "$0")/lib.sh"
profile=$here/profile.json

expect 2 report missing.json -o page.html
one_line_error
printf 'not JSON' >wrong.json
expect 2 report wrong.json -o page.html
one_line_error
printf '{"format": "blackjack-unheard-of/1"}' >other.json
expect 2 report other.json -o page.html
one_line_error
expect 2 report "$profile" "$profile" "$profile" -o page.html
one_line_error
[ -e page.html ] && complain "no page expected of files that cannot be read"
echo kept >there.html
expect 2 report "$profile" -o there.html
one_line_error
err_has "--force"
[ "$(cat there.html)" = kept ] || complain "a file that was there is gone"

"$blackjack" report "$profile" -o page.html >out 2>err </dev/null
if grep -qF "built without the report page" err; then
    one_line_error
    err_has "node, npm and the packages of web/package.json"
    [ -e page.html ] && complain "no page expected of a program without one"
    finish "built without the page"
fi
expect 0 report "$profile" -o page.html --force
err_has "the page is in page.html"
[ "$(head -n 1 page.html)" = "<!doctype html>" ] || complain "expected a page of HTML"
grep -q "script-src 'sha256-" page.html || complain "expected a content security policy by hash"
expect 0 report "$profile" -o there.html --force --quiet
[ -s err ] && complain "--quiet said something"
expect 0 report "$profile" -o -
cmp -s out page.html || complain "standard output and the file differ"
expect 0 report "$profile" "$profile" -o two.html
# 450 kB beside the data
[ "$(($(wc -c <page.html) - $(wc -c <"$profile")))" -le 460800 ] || complain "the page is larger than 450 KiB beside its data"

# Text of a profile never ends the element that holds it.
sed 's|"cpu": *"[^"]*"|"cpu": "</script><script>alert(1)</script><!--"|' "$profile" >hostile.json
grep -q '</script>' hostile.json || complain "the hostile profile is not hostile"
expect 0 report hostile.json -o hostile.html
plain=$(grep -o '</script' page.html | wc -l)
[ "$(grep -o '</script' hostile.html | wc -l)" -eq "$plain" ] || complain "text of the profile closes a script"
grep -q 'u003c/script' hostile.html || complain "the text is not in the page"
finish
