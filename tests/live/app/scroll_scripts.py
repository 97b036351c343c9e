"""Scripts that watch the scroller of the phone app from within its page: what moves, and what is made."""

# What is measured before the app has kept the place, nobody sees: it does so when heights are observed, before the
# picture is drawn, and whoever observes them later measures what will be drawn. So does where it stands at first.
WATCH = """async (pixels) => {
  const box = document.querySelector(".scroller");
  const top = box.getBoundingClientRect().top;
  const row = [...document.querySelectorAll(".row")].find((one) => one.getBoundingClientRect().top > top + 20);
  const answer = [...document.querySelectorAll(".row")].at(-1);
  const height = answer.offsetHeight;
  let before = null;
  let moved = 0;
  let measured = 0;
  const observer = new ResizeObserver(() => {
    measured += 1;
    before ??= row.getBoundingClientRect().top;
    moved = Math.max(moved, Math.abs(row.getBoundingClientRect().top - before));
  });
  observer.observe(document.querySelector(".rows"));
  while (answer.offsetHeight < height + pixels) await new Promise(requestAnimationFrame);
  return measured > 2 ? moved : "nothing was measured";
}"""
# As above, until text has come below what is read and older messages above it. It scrolls by itself, and watches from
# the picture on that shows it: older messages that came before somebody watched would be waited for in vain. Where so
# many came within that picture that the app makes no more, it scrolls once more.
WATCH_BOTH = """async (pixels) => {
  const box = document.querySelector(".scroller");
  const rows = document.querySelector(".rows");
  do {
    box.scrollTop = 900 - box.scrollHeight + box.clientHeight;
    await new Promise(requestAnimationFrame);
  } while (box.scrollHeight - box.clientHeight + box.scrollTop >= 1500);
  const top = box.getBoundingClientRect().top;
  const row = [...document.querySelectorAll(".row")].find((one) => one.getBoundingClientRect().top > top + 20);
  const place = () => row.getBoundingClientRect();
  const above = () => place().top - rows.getBoundingClientRect().top;
  const below = () => rows.getBoundingClientRect().bottom - place().bottom;
  let before = null;
  let moved = 0;
  new ResizeObserver(() => {
    before ??= { top: place().top, above: above(), below: below() };
    moved = Math.max(moved, Math.abs(place().top - before.top));
  }).observe(rows);
  while (before === null || above() < before.above + pixels || below() < before.below + pixels)
    await new Promise(requestAnimationFrame);
  return moved;
}"""
# What was measured before the next picture is drawn, nobody has seen.
TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
FOLLOW = """async (pixels) => {
  const box = document.querySelector(".scroller");
  const answer = [...document.querySelectorAll(".row")].at(-1);
  const height = answer.offsetHeight;
  let away = 0;
  while (answer.offsetHeight < height + pixels) {
    await new Promise(requestAnimationFrame);
    away = Math.max(away, Math.abs(box.scrollTop));
  }
  return away;
}"""
# How far what is read moves beside a scroll, when the newest row grows in the moment in which somebody scrolls.
SCROLL_AND_GROW = """async () => {
  const box = document.querySelector(".scroller");
  const top = box.getBoundingClientRect().top;
  const row = [...document.querySelectorAll(".row")].find((one) => one.getBoundingClientRect().top > top + 20);
  const before = row.getBoundingClientRect().top;
  const grown = document.createElement("div");
  grown.style.height = "21px";
  box.scrollTop -= 40;
  [...document.querySelectorAll(".row")].at(-1).append(grown);
  for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
  return Math.abs(row.getBoundingClientRect().top - before - 40);
}"""
# The most rows, once they have grown no more for a while: a few come with every frame, and as many go then.
CLIMB = """async () => {
  const box = document.querySelector(".scroller");
  let most = 0;
  for (let still = 0; still < 20; ) {
    box.scrollTop = -box.scrollHeight;
    await new Promise(requestAnimationFrame);
    const rows = document.querySelectorAll(".row").length;
    still = rows > most || rows < 100 ? 0 : still + 1;
    most = Math.max(most, rows);
  }
  return most;
}"""


# The most rows that one frame had to make.
MADE_AT_ONCE = """async () => {
  const box = document.querySelector(".scroller");
  let most = 0;
  new MutationObserver((changes) => {
    most = Math.max(most, changes.reduce((sum, one) => sum + one.addedNodes.length, 0));
  }).observe(document.querySelector(".rows"), { childList: true });
  for (let step = 0; step < 100; step += 1) {
    box.scrollTop -= 120;
    await new Promise(requestAnimationFrame);
  }
  return most;
}"""
