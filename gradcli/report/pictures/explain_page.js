// Light up the steps of the chain rule one after the other: values forward, adjoints backward.
const steps = [...document.querySelectorAll("#steps > li")], graph = document.querySelector("svg.graph");
const words = document.querySelector("#step"), buttons = document.querySelectorAll("nav button");
let at = steps.length;
function show(next) {
  at = Math.max(0, Math.min(steps.length, next));
  graph.classList.toggle("stepping", at < steps.length);
  steps.forEach((step, n) => {
    const part = document.getElementById(step.dataset.box)?.querySelectorAll("." + step.dataset.part) ?? [];
    part.forEach(one => one.classList.toggle("lit", n < at));
    step.classList.toggle("now", n === at - 1);
  });
  document.querySelectorAll("g.box").forEach(box => box.classList.toggle("now", at > 0 && at < steps.length && box.id === steps[at - 1].dataset.box));
  words.innerHTML = at === 0 ? "press ▶ or the right arrow key" : steps[at - 1].innerHTML;
  buttons[0].disabled = at === 0; buttons[1].disabled = at === 0; buttons[2].disabled = at === steps.length;
}
buttons[0].onclick = () => show(0);
buttons[1].onclick = () => show(at - 1);
buttons[2].onclick = () => show(at + 1);
addEventListener("keydown", event => {
  if (event.key === "ArrowRight") show(at === steps.length ? 1 : at + 1);
  else if (event.key === "ArrowLeft") show(at - 1);
  else return;
  event.preventDefault();
});
document.querySelector("nav").hidden = false;
show(0);
