# What the shell snippets of the pages run with. `taskshield serve` runs in the background, from when
# it is ready; what a snippet sets is there for the next one; pip is uv without a network.
set -euo pipefail
_kept="$SNIPPETS_FOLDER/.variables"
if [ -e "$_kept" ]; then . "$_kept"; fi
trap 'status=$?; declare -px | grep -vE " (SNIPPETS_[A-Z]+|PATH|PWD|OLDPWD|SHLVL|_)=" > "$_kept"; exit $status' EXIT

_wait() { # until this answers, or the process ends
  for _ in $(seq 1200); do
    case "$(curl -s -o /dev/null -w "%{http_code}" "$1")" in 200 | 404 | 405) return 0 ;; esac
    if ! kill -0 "$2" 2>/dev/null; then return 1; fi
    sleep 0.1
  done
  return 1
}

_background() {
  local url=$1; shift
  command "$@" </dev/null >>"$SNIPPETS_FOLDER/serve.log" 2>&1 &
  echo $! >>"$SNIPPETS_FOLDER/.pids"
  _wait "$url" $!
}

taskshield() {
  case "$*" in
    serve*--help*) command taskshield "$@" ;;
    serve*) _background "http://127.0.0.1:$SNIPPETS_PORT/readyz" taskshield "$@" ;;
    "mcp --listen"*) _background "http://$3/" taskshield "$@" ;;
    *) command taskshield "$@" ;;
  esac
}

uvx() { shift; taskshield "$@"; }

pip() {
  local command=$1; shift
  command "$SNIPPETS_UV" pip "$command" --quiet --offline --no-config --python "$SNIPPETS_PYTHON" "$@"
}
set -a
