#!/bin/sh
# Stands for a trainer: prints where and with which flags it was run.
echo "in $(pwd): $*"
