#!/bin/sh
# cmake -S SOURCE -B BUILD ..., cmake --build BUILD: the trainer is a script. END
# is what becomes of the build. There is nothing but the shell on the PATH.
if [ "$1" = -S ]; then
  if [ -e "$4/source" ] && read -r source <"$4/source" && [ "$source" != "$2" ]; then
    echo "CMake Error: the source \"$2\" does not match the source \"$source\" used to generate cache"
    exit 1
  fi
  echo "$2" >"$4/source"
  exit 0
fi
printf '#!/bin/sh\necho half a trainer\n' >"$2/trainer"
/bin/chmod +x "$2/trainer"
case $END in
  fails)
    echo "it is said so"
    exit 1
    ;;
  killed)
    kill -9 $PPID
    exit 1
    ;;
  waits)
    # Until another one builds as well, and not in this folder.
    echo "$2" >>"$MEET"
    for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
      while read -r folder; do
        [ "$folder" = "$2" ] || break 2
      done <"$MEET"
      [ "$try" = 20 ] && exit 1
      /bin/sleep 1
    done
    ;;
esac
printf '#!/bin/sh\necho a whole trainer\n' >"$2/trainer"
