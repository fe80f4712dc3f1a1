// Heads of tables sort their column. Before printing, all of the tree is opened. Without this the page is complete.
"use strict";
(() => {
  const value = (cell) => (cell.dataset.value === undefined ? NaN : Number(cell.dataset.value));
  const compare = (a, b, isNumber, sign) => {
    if (!isNumber) return sign * a.textContent.localeCompare(b.textContent);
    const x = value(a), y = value(b);
    if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y); // unknown comes last, whichever way
    return sign * (x - y);
  };
  for (const table of document.querySelectorAll("table")) {
    const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
    heads.forEach((head, column) => {
      const button = document.createElement("button"), isNumber = head.classList.contains("n");
      button.type = "button";
      button.textContent = head.textContent;
      head.textContent = "";
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : isNumber;
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...body.rows].sort((a, b) => compare(a.cells[column], b.cells[column], isNumber, down ? -1 : 1));
        body.append(...rows);
      });
    });
  }
  const open = [];
  addEventListener("beforeprint", () => {
    for (const d of document.querySelectorAll("details:not([open])")) {
      d.open = true;
      open.push(d);
    }
  });
  addEventListener("afterprint", () => {
    for (const d of open.splice(0)) d.open = false;
  });
})();
