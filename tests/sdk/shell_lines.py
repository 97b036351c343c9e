"""Shell lines for the tests of policies: those that once escaped or might, and those that only read."""

# Each of these once ran without a question, or is next door to one that did.
ESCAPES = r"""
find . -maxdepth 0 {-exec,sh,-c,'id>out',\;}
find . -maxdepth 0 -exec sh -c id ;
find . -fprintf out x
find -L . -name key
find . -newer ../outside/key
find /
uniq {in.txt,/tmp/file}
uniq in.txt out.txt
tac in.txt
git diff --no-index {--output=out,/dev/null,in.txt}
git diff --no-index /dev/null ../outside/key
git diff /dev/null ../outside/key
git diff --output=out
git diff --outp=out
git log --output=out
git log --ext-diff -p
git show --textconv HEAD
git log --show-signature
git log --format=%G?
git -c core.fsmonitor=./trap status
git --exec-path=. status
git --git-dir=evil/.git status
git -C .. status
git status --no-optional-locks ../outside
git branch new
git branch -D main
git branch -m old new
git log -- ../outside
git -p log
git --paginate log
cat {../outside/key,in.txt}
cat ~/.ssh/id_rsa
cat ../outside/key
cat link
cat l*nk
cat folder/key
cat fold*/key
cat $HOME/.ssh/id_rsa
cat "$HOME/x"
cat `ls`
cat $(ls)
cat <(ls)
cat in.txt > out
cat in.txt >> in.txt
cat in.txt | tee out
cat in.txt; rm in.txt
cat in.txt && touch x
cat in.txt &
cat 'in.txt' $'\x2fetc\x2fpasswd'
cat ..
git diff -U /etc/hostname in.txt
git diff -U -O/etc/passwd
git diff -U --ignore-submodules=none
git diff --unified ../outside/key in.txt
git diff --abbrev ../outside/key in.txt
git log --format %G?
git log --format=%+G?
git log --format=%-GK
git log -n --output=out
git log --format=%(describe)
git log --pretty=format:%(describe:tags)
git branch --format=%(describe)
grep --color root ../outside/key
grep --colour x /etc/passwd
ls --color ../outside
ls --color /etc
grep -R . .
grep -rR . .
grep --dereference-recursive . .
grep -hf/etc/passwd in.txt
grep -f ../outside/key in.txt
grep --file=../outside/key in.txt
grep --fil=../outside/key in.txt
grep -e x ../outside/key
grep x --exclude-from=../outside/key in.txt
rg --pre ./trap x
rg --pre=./trap x
rg -f ../outside/key
rg -L x
rg --follow x
rg --hostname-bin ./trap x
rg -z x
ls ../outside
ls -L folder
ls -RL .
ls {.,../outside}
head -n 1 ../outside/key
tail -f in.txt
tail --follow in.txt
tail --pid=1 in.txt
sed -n 1p ../outside/key
sed -n 1w in.txt
sed -n '1p;w out' in.txt
sed -n 1p -i in.txt
sed -i 1d in.txt
sed -n '1e id' in.txt
base64 -o out in.txt
base64 ../outside/key
wc --files0-from=../outside/key
wc --files0-from ../outside/key
stat ../outside/key
paste in.txt ../outside/key
cut -f1 ../outside/key
./cat in.txt
sub/ls
env cat in.txt
PATH=. cat in.txt
LD_PRELOAD=./x.so cat in.txt
command cat in.txt
exec cat in.txt
time cat in.txt
! cat in.txt
(cat in.txt)
{ cat in.txt; }
cat in.txt # x
cat <<< x
cat \
in.txt
echo `id`
echo $(id)
echo ${x@P}
echo a{b,c}
xargs cat in.txt
sh -c 'cat in.txt'
awk 'BEGIN{system("id")}'
sort -o out in.txt
date -s now
""".strip("\n").split("\n")
SAFE = r"""
ls
ls -la src
ls -- src
ls --color=never src
grep --color=never needle in.txt
git diff -U3 --stat
git log -n 2 --author someone
cat in.txt
cat 'with blank.txt'
cat "with blank.txt" in.txt
head -5 in.txt
head -n 5 in.txt src/a.py
tail -n 2 in.txt
wc -l in.txt
grep -rn needle src
grep -e needle -e other in.txt
grep -i 'a b' in.txt
find . -name '*.py' -not -path './x/*' -type f
find src -maxdepth 2 -size +1k -print0
sed -n 1,5p in.txt
git status
git status --short --branch
git log --oneline -n 5
git log -3 HEAD~1 -- in.txt
git diff
git diff --stat HEAD~1 HEAD
git diff --cached -U5 in.txt
git show HEAD
git show HEAD:in.txt
git branch -a
git branch --show-current
git --no-pager log
pwd
echo hello world
echo "a; b"
which ls
uname -a
stat -c %s in.txt
cut -d: -f1 in.txt
tr a b
seq 3
base64 in.txt
""".strip("\n").split("\n")
