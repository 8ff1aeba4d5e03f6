// Filters the claims, and opens the one that a link names. The page is whole without it.
(() => {
  const form = document.querySelector("form.filter"), claims = [...document.querySelectorAll("details.claim")];
  const show = () => {
    const algorithm = form.algorithm.value, text = form.text.value.trim().toLowerCase();
    const verdicts = [...form.querySelectorAll("input[name=verdict]:checked")].map(box => box.value);
    let shown = 0;
    for (const c of claims) {
      c.hidden = algorithm && c.dataset.algorithm !== algorithm || !verdicts.includes(c.dataset.verdict) ||
        text && !c.firstElementChild.textContent.toLowerCase().includes(text);
      shown += !c.hidden;
    }
    form.querySelector("output").textContent = shown + " of " + claims.length + " claims";
  };
  const open = () => {
    const c = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!c || !c.matches("details.claim")) return;
    c.hidden = false;
    c.open = true;
    c.scrollIntoView({block: "center"});
  };
  form.hidden = false;
  form.addEventListener("input", show);
  form.addEventListener("submit", e => e.preventDefault());
  addEventListener("hashchange", open);
  show();
  open();
})();
