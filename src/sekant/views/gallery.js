// Pictures: the page of each visible model draws its picture in a frame, one after the other.
const drawer = Object.assign(document.createElement("iframe"), { id: "drawer", title: "", tabIndex: -1 });
drawer.setAttribute("aria-hidden", "true");
const PATIENCE_MS = 15000;
const waiting = [];
let drawn = null;
let late = 0;

function next() {
  clearTimeout(late);
  drawn = waiting.shift() || null;
  if (!drawn) {
    drawer.remove();
    return;
  }
  document.body.append(drawer);
  drawer.src = `${drawn.dataset.page}#picture`;
  late = setTimeout(next, PATIENCE_MS);
}

addEventListener("message", ({ source, data }) => {
  if (source !== drawer.contentWindow || !drawn || typeof data !== "string" || !data.startsWith("data:image/")) return;
  drawn.src = data;
  next();
});

const seen = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    waiting.push(target);
  }
  if (!drawn) next();
}, { rootMargin: "200px" });
for (const image of document.querySelectorAll("img[data-page]")) seen.observe(image);

const search = document.getElementById("search");
search.addEventListener("input", () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let any = false;
  for (const group of document.querySelectorAll("section")) {
    let here = false;
    for (const card of group.querySelectorAll("article")) {
      const text = `${card.id} ${card.querySelector(".text").textContent}`.toLowerCase();
      card.hidden = !words.every((word) => text.includes(word));
      here ||= !card.hidden;
    }
    group.hidden = !here;
    any ||= here;
  }
  document.getElementById("none").hidden = any;
});
