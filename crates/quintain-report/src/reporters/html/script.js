"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const read = (id) => {
    const block = byId(id);
    return block ? JSON.parse(block.textContent) : null;
  };
  const run = read("run");
  const KIND = ["pass", "fail", "error"];
  const WORD = ["Passed", "Failed", "Error"];
  const MARK = ["✓", "✗", "!"];
  const PAGE = 60;

  // Text from targets is inserted as text, never parsed as markup.
  const make = (tag, className, text) => {
    const node = document.createElement(tag);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const took = (ms) => (ms < 9.95 ? ms.toFixed(1) + " ms" : ms < 999.5 ? ms.toFixed(0) + " ms" : (ms / 1000).toFixed(1) + " s");

  const cases = (read("rows") || []).map(([ordinal, test, column, status, name, ms, score, text, place, again, found]) =>
    ({ ordinal, test, column, status, name, ms, score, text, place, again, found }));
  for (const one of cases) one.hay = (one.name + "\n" + one.text + "\n" + one.place).toLowerCase();

  const search = byId("search"), pick = byId("column"), shown = byId("shown"), body = byId("body"), more = byId("more"), none = byId("none");
  const buttons = [...document.querySelectorAll(".switch button")];
  let status = "all", groups = [], written = 0, visible = [];

  const matches = (one) =>
    (status === "all" || KIND[one.status] === status || (status === "bad" && one.status > 0)) &&
    (pick.value === "" || String(one.column) === pick.value) &&
    words.every((word) => one.hay.includes(word));
  let words = [];

  const columns = () => (pick.value === "" ? run.columns.map((_, at) => at) : [Number(pick.value)]);

  const head = () => {
    const row = make("tr");
    row.append(make("th", "n", "#"), make("th", "", run.traces ? "Trace" : "Test"));
    for (const at of columns()) {
      const cell = make("th", "", run.traces ? "Verdict" : run.columns[at].target);
      cell.scope = "col";
      if (run.prompts > 1) cell.append(make("small", "", " " + run.columns[at].prompt));
      row.append(cell);
    }
    byId("head").replaceChildren(row);
  };

  const apply = () => {
    words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    visible = cases.filter(matches);
    const known = new Map();
    groups = [];
    for (const one of visible) {
      let group = known.get(one.test);
      if (!group) groups.push((group = { first: one, cells: [] })), known.set(one.test, group);
      group.cells.push(one);
    }
    head();
    body.replaceChildren();
    written = 0;
    shown.textContent = visible.length === cases.length ? cases.length + " cases" : visible.length + " of " + cases.length + " cases";
    none.hidden = visible.length > 0;
    next();
  };

  const next = () => {
    const part = document.createDocumentFragment();
    for (const { first, cells } of groups.slice(written, written + PAGE)) {
      const row = make("tr");
      row.append(make("td", "n", String(first.test + 1)));
      const test = make("td", "test", first.name);
      if (first.place) test.append(make("small", "", first.place));
      row.append(test);
      for (const at of columns()) {
        const cell = make("td");
        for (const one of cells.filter((one) => one.column === at)) {
          const button = make("button", "cell");
          button.type = "button";
          button.dataset.ordinal = one.ordinal;
          const mark = make("i", KIND[one.status], MARK[one.status]);
          mark.setAttribute("aria-label", WORD[one.status]);
          button.append(mark, make("span", "", one.text || "(nothing)"), make("em", "", run.traces ? one.found : took(one.ms)));
          cell.append(button);
        }
        row.append(cell);
      }
      part.append(row);
    }
    body.append(part);
    written += PAGE;
    more.hidden = written >= groups.length;
  };

  const dialog = byId("case"), detail = byId("detail"), pill = byId("pill");
  let open = -1;
  const block = (title, text) => {
    if (text) detail.append(make("h3", "", title), make("pre", "", text));
  };
  const side = (parent, title, text) => parent.append(make("p", "", title), make("pre", "", text));

  // A graded trace: what was said and called, with each finding at its place.
  const fold = (label, className) => {
    const node = make("details", className);
    node.append(make("summary", "", label));
    return node;
  };
  const findings = (parent, { list, more }) => {
    for (const one of list) {
      const box = make("div", "found l-" + one.severity);
      const title = make("p", "what");
      title.append(make("b", "", one.severity), make("code", "", one.check));
      if (one.pointer) title.append(make("code", "at", one.pointer));
      if (one.metric && one.metric !== one.check) title.append(make("span", "", "by " + one.metric));
      box.append(title, make("p", "", one.message));
      if (one.evidence) box.append(make("pre", "", one.evidence));
      if (one.hint) box.append(make("p", "hint", one.hint));
      parent.append(box);
    }
    if (more) parent.append(make("p", "facts", "... and " + more + " more"));
  };
  const LONG = 600;
  const call = (part, open) => {
    const node = make("details", "step call is-" + part.outcome);
    node.open = open || part.findings.list.length > 0;
    const title = make("summary");
    title.append(make("small", "", "call " + part.at + " · " + part.what), make("b", "", part.name));
    if (part.server) title.append(make("span", "", "on " + part.server));
    if (part.outcome === "error") title.append(make("i", "pill fail", "error"));
    if (part.took !== null) title.append(make("em", "", took(part.took)));
    for (const one of part.findings.list) title.append(make("i", "dot l-" + one.severity, one.check));
    node.append(title);
    if (part.args_note) node.append(make("p", "", "Arguments (" + part.args_note + ")"));
    else node.append(make("p", "", "Arguments"));
    if (part.args) node.append(make("pre", "", part.args));
    node.append(make("p", "", part.outcome === "none" ? "Result (not recorded)" : part.outcome === "error" ? "Error" : "Result"));
    if (part.outcome !== "none") node.append(make("pre", "", part.result || "(empty)"));
    findings(node, part.findings);
    return node;
  };
  const message = (part) => {
    const isLong = part.role === "system" && part.text.length > LONG;
    const node = make("div", "step said " + part.role);
    if (isLong) {
      const more = fold("system", "");
      more.append(make("div", "text", part.text));
      node.append(more);
    } else node.append(make("small", "", part.role), make("div", "text", part.text || "(empty)"));
    findings(node, part.findings);
    return node;
  };
  const steps = (parent, parts, open) => {
    for (const part of parts) {
      if (part.kind === "message") parent.append(message(part));
      else if (part.kind === "call") parent.append(call(part, open));
      else if (part.kind === "gap") parent.append(make("p", "gap", part.label));
      else {
        const node = part.kind === "fold" ? fold(part.label, "quiet") : make("div", "step said");
        if (part.kind === "fold") steps(node, part.parts, false);
        else node.append(make("small", "", part.label)), findings(node, part.findings);
        parent.append(node);
      }
    }
  };
  const converse = (full) => {
    if (full.metrics.length) {
      const list = make("ul", "checks");
      for (const one of full.metrics) {
        const item = make("li");
        const kind = one.status === "none" ? "none" : one.status;
        const mark = make("i", kind, { pass: "✓", fail: "✗", error: "!", none: "–" }[kind]);
        mark.setAttribute("aria-label", { pass: "passed", fail: "failed", error: "error", none: "not applicable" }[kind]);
        item.append(mark, make("b", "", one.name), make("code", "", one.score), make("p", "", one.reason));
        if (one.judge) item.append(make("p", "facts", "A judge would also decide " + one.judge + "."));
        list.append(item);
      }
      detail.append(make("h3", "", "Metrics"), list);
    }
    if (full.expected.length) {
      detail.append(make("h3", "", "Expected calls"));
      const list = make("ul", "checks");
      for (const one of full.expected) {
        const item = make("li");
        item.append(make("i", "none", "→"), make("b", "", one.name));
        if (one.args) item.append(make("p", "json", one.args));
        list.append(item);
      }
      detail.append(list);
      if (full.more_expected) detail.append(make("p", "facts", "... and " + full.more_expected + " more"));
    }
    detail.append(make("h3", "", "Conversation"));
    const talk = make("div", "talk");
    steps(talk, full.parts, full.parts.length < 6);
    detail.append(talk);
    if (full.silent.length) {
      const node = fold(full.silent.length + " checks do not apply", "quiet");
      const list = make("dl");
      for (const [check, why] of full.silent) list.append(make("dt", "", check), make("dd", "", why));
      node.append(list);
      detail.append(node);
    }
  };

  const show = (at) => {
    const one = visible[at];
    if (!one) return;
    open = at;
    const full = read("d" + one.ordinal);
    pill.className = "pill " + KIND[one.status];
    pill.textContent = WORD[one.status];
    byId("before").disabled = at === 0;
    byId("after").disabled = at === visible.length - 1;
    detail.replaceChildren(make("h2", "", one.name));
    const column = run.columns[one.column];
    const facts = run.traces ? [] : [column.target];
    if (run.prompts > 1) facts.push(column.prompt);
    facts.push("score " + one.score);
    if (!run.traces || one.ms) facts.push(took(one.ms));
    if (one.again) facts.push("repeat " + (one.again + 1));
    if (full && full.attempts > 1) facts.push("attempt " + full.attempts);
    if (one.place) facts.push(one.place);
    detail.append(make("p", "facts", facts.join(" · ")));
    if (!full) {
      block(one.status ? "Reason" : "Output", one.text);
      detail.append(make("p", "facts", "The report omits details because of its size; the JSON report contains everything."));
    } else {
      if (one.status) block("Reason", full.reason);
      if (full.conversation) converse(full.conversation);
      if (full.checks.length) {
        const list = make("ul", "checks");
        for (const check of full.checks) {
          const item = make("li", check.member ? "in" : "");
          const kind = check.ok ? "pass" : "fail";
          const mark = make("i", kind, check.ok ? "✓" : "✗");
          mark.setAttribute("aria-label", check.ok ? "passed" : "failed");
          item.append(mark, make("b", "", check.kind), make("code", "", check.place), make("p", "", check.reason));
          list.append(item);
        }
        detail.append(make("h3", "", "Assertions"), list);
      }
      block("Prompt", full.prompt);
      block("Output", full.output);
      block("Variables", full.vars);
      block("Named scores", full.named);
      if (full.exchanges.length) {
        detail.append(make("h3", "", "Exchanges"));
        for (const exchange of full.exchanges) {
          const fold = make("details");
          fold.open = full.exchanges.length === 1;
          fold.append(make("summary", "", exchange.server + " " + exchange.method + ": " + exchange.outcome + " (" + took(exchange.millis) + ")" + (exchange.extra ? ", made by a check" : "")));
          side(fold, "Sent", exchange.sent);
          side(fold, "Received", exchange.received);
          detail.append(fold);
        }
        if (full.more) detail.append(make("p", "facts", "... and " + full.more + " more"));
      }
    }
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    history.replaceState(null, "", "#case-" + one.ordinal);
  };

  body.addEventListener("click", (event) => {
    const button = event.target.closest("button.cell");
    if (button) show(visible.findIndex((one) => String(one.ordinal) === button.dataset.ordinal));
  });
  dialog.addEventListener("close", () => {
    history.replaceState(null, "", location.pathname + location.search);
    const one = visible[open];
    const button = one && body.querySelector('button[data-ordinal="' + one.ordinal + '"]');
    if (button) button.focus();
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft" || event.key === "k") show(open - 1);
    if (event.key === "ArrowRight" || event.key === "j") show(open + 1);
  });
  byId("before").addEventListener("click", () => show(open - 1));
  byId("after").addEventListener("click", () => show(open + 1));
  byId("close").addEventListener("click", () => dialog.close());
  more.addEventListener("click", next);
  if ("IntersectionObserver" in window) {
    new IntersectionObserver((seen) => { if (seen[0].isIntersecting && !more.hidden) next(); }, { rootMargin: "600px" }).observe(more);
  }
  let timer;
  search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(apply, 120); });
  pick.addEventListener("change", apply);
  for (const button of buttons) {
    button.addEventListener("click", () => {
      status = button.value;
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      apply();
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !dialog.open && document.activeElement !== search) { event.preventDefault(); search.focus(); }
  });

  // A page opened as a file may have no clipboard; then the text is selected.
  const copy = async (button) => {
    const text = button.previousElementSibling;
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    } catch {
      getSelection().selectAllChildren(text);
    }
  };
  for (const button of document.querySelectorAll("button.copy")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }

  run.columns.forEach((column, at) => {
    const option = make("option", "", column.target + (run.prompts > 1 ? " · " + column.prompt : ""));
    option.value = at;
    pick.append(option);
  });
  pick.hidden = run.columns.length < 2;
  byId("live").hidden = false;
  apply();
  const asked = /^#case-(\d+)$/.exec(location.hash);
  if (asked) show(visible.findIndex((one) => String(one.ordinal) === asked[1]));
})();
