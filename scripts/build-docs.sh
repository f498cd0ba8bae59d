#!/usr/bin/env bash
# Builds the site of the documentation: build/site/index.html. Warnings are
# errors: a link or a heading that is not there, a page that no menu has. Pages
# may load nothing from the network, and building them needs none either, once
# the packages of scripts/requirements-docs.txt are in build/docs-venv.
#
# usage: build-docs.sh [--junit-xml FILE]   status 77: the packages cannot be had
set -euo pipefail
junit=
case ${1:-} in
  '') ;;
  --junit-xml) junit=$(realpath -m "${2:?}") ;;
  *)
    echo "usage: scripts/build-docs.sh [--junit-xml FILE]" >&2
    exit 2
    ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/make-venv.sh build/docs-venv scripts/requirements-docs.txt || exit 77

log=build/site.log
status=0
# The theme's authors tell of their next product on standard error unless this is
# set. With --quiet, warnings would not be counted, and --strict would be none.
NO_MKDOCS_2_WARNING=1 \
  build/docs-venv/bin/python -m mkdocs build --strict --clean >"$log" 2>&1 || status=$?
sed -i '/^INFO/d; /^$/d' "$log"
if ((status == 0)); then
  loads='<(script|img|iframe|source)[^>]* src="?(https?:)?//|<link[^>]* rel="?(stylesheet|preload|preconnect|icon)[^>]* href="?(https?:)?//'
  if grep -rElI --include='*.html' "$loads" build/site >>"$log"; then
    echo "these pages load something from the network" >>"$log"
    status=1
  fi
fi
cat "$log"
if [[ -n $junit ]]; then
  {
    echo '<testsuite name="site"><testcase classname="site" name="build">'
    if ((status)); then
      echo "<failure>$(sed 's/&/\&amp;/g; s/</\&lt;/g' "$log")</failure>"
    fi
    echo '</testcase></testsuite>'
  } >"$junit"
fi
((status == 0)) && echo "build/site: $(find build/site -name '*.html' | wc -l) pages"
exit "$status"
