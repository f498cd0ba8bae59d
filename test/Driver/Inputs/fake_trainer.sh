#!/bin/sh
# Stands for a trainer: prints where and with which flags it was run, and leaves
# the files of a run.
echo "in $(pwd): $*"
for flag; do
  [ "$last" = --output-dir ] && folder=$flag
  case $flag in --output-dir=*) folder=${flag#--output-dir=} ;; esac
  last=$flag
done
python3 "$(dirname "$0")/make_run.py" "$folder"
