#!/bin/sh
# A formula in a file, checked again whenever the file is saved; with `gradcli warm start` that takes a moment.
set -u

# recheck FILE OPTION...: until the file is gone, or Ctrl-C.
recheck() {
    seen=
    while now=$(cksum "$1" 2> /dev/null); do
        if [ "$now" != "$seen" ]; then
            seen=$now
            gradcli check "@$1" "$2" "$3" --format plain | head -n 1
        fi
        sleep 0.2
    done
}

# Here the editor is a script, which saves again as soon as the first answer is there.
folder=$(mktemp -d)
echo "(1 - cos(x))/x**2" > "$folder/f.txt"
: > "$folder/said"
recheck "$folder/f.txt" --at 1e-8 >> "$folder/said" &
until [ "$(wc -l < "$folder/said")" -eq 1 ]; do sleep 0.1; done
echo "2*sin(x/2)**2/x**2" > "$folder/new.txt"
mv "$folder/new.txt" "$folder/f.txt" # as editors save: the file is never empty
until [ "$(wc -l < "$folder/said")" -eq 2 ]; do sleep 0.1; done
cat "$folder/said"
rm -r "$folder"
wait
