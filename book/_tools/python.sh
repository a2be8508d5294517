# Prints a Python that serves: every pin has wheels for it, and it makes environments.
# python.sh ENVIRONMENT [PYTHON]: only PYTHON is tried where one is named, else that of
# the environment where it is there.
version='import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))'

serves() {
    "$1" -c "$version" 2>/dev/null && "$1" -c "import venv, $2" 2>/dev/null && echo "$1"
}

made=$1/bin/python
if [ -n "$2" ]; then
    serves "$2" ensurepip && exit
    tried=$2
elif [ -x "$made" ]; then
    serves "$made" pip && exit
    tried=$made
else
    for python in python3.11 python3.12 python3.13 python3.14 python3; do
        serves "$python" ensurepip && exit
    done
    tried=python3
fi
found=$("$tried" -V 2>&1) || found="not there"
cat >&2 <<END
Python 3.11 to 3.14 is needed, with venv and pip; $tried is $found.
One of these lines makes one that serves:
  sudo apt install python3 python3-venv               Debian 12, Ubuntu 24.04 and later
  brew install python@3.13                            macOS
  uv venv --clear --seed --python 3.13 $1          anywhere with uv
or name one: make book PY=/path/to/python3.13
END
exit 1
