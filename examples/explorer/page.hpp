// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The parts that all pages of ostraka-plan share: the style, light and dark, and the few lines of script that mark the
/// blocks of the chosen device. A page is one file and loads nothing else.

#include <string>
#include <string_view>

namespace explorer {

inline constexpr char const* page_style = R"css(
:root {
  --paper: #fbfaf7; --card: #ffffff; --ink: #22201d; --soft: #6d675e; --rule: #e4dfd6; --faint: #f2efe9;
  --clay: #b5532b; --clay-soft: #f3d9cc; --slate: #4b6a88; --slate-soft: #d9e3ec; --code: #f5f2ec;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #171614; --card: #1f1d1b; --ink: #e9e5de; --soft: #a39c91; --rule: #35322d; --faint: #262320;
    --clay: #e08a5f; --clay-soft: #54301f; --slate: #8db0d0; --slate-soft: #2a3a49; --code: #1a1917;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.55 system-ui, "Helvetica Neue", Arial, sans-serif;
}
main { max-width: 1080px; margin: 0 auto; padding: 40px 24px 80px; }
h1 { font-size: 26px; font-weight: 600; letter-spacing: -0.01em; margin: 0 0 4px; }
h2 {
  font: 500 17px/1.5 ui-monospace, "SF Mono", "DejaVu Sans Mono", Menlo, monospace; margin: 0 0 20px;
  overflow-wrap: anywhere;
}
h2 .sub, .soft { color: var(--soft); }
p { margin: 0 0 12px; }
header p { color: var(--soft); }
section > :last-child { margin-bottom: 0; }
section {
  background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 24px; margin-top: 24px;
}
.devices { display: flex; flex-wrap: wrap; gap: 8px 28px; margin-top: 20px; align-items: center; }
.devices label { display: flex; align-items: center; gap: 8px; color: var(--soft); }
.devices input { accent-color: var(--clay); width: 120px; }
.devices output { font-variant-numeric: tabular-nums; color: var(--ink); min-width: 3ch; }
.tensors { display: flex; flex-wrap: wrap; gap: 12px 20px; align-items: center; margin-bottom: 20px; }
.tensors > span { font-size: 22px; color: var(--soft); }
figure { margin: 0; }
figcaption { font: 13px/1.5 ui-monospace, "SF Mono", "DejaVu Sans Mono", Menlo, monospace; text-align: center; }
figcaption small { display: block; font: 12px system-ui, sans-serif; color: var(--soft); }
svg text { font: 11px system-ui, "Helvetica Neue", Arial, sans-serif; fill: var(--soft); }
.cell { fill: var(--faint); }
.cell.on { fill: var(--clay-soft); stroke: var(--clay); }
.parts { stroke: var(--soft); stroke-dasharray: 2 3; }
.sheet { fill: none; stroke: var(--rule); }
.plans { border-top: 1px solid var(--rule); margin-bottom: 12px; }
details { border-bottom: 1px solid var(--rule); }
summary, .head {
  display: grid; grid-template-columns: 28px minmax(0, 1fr) 130px 90px 90px 90px 90px; gap: 12px; padding: 9px 4px;
  align-items: center; font-variant-numeric: tabular-nums;
}
.untimed summary, .untimed .head { grid-template-columns: 28px minmax(0, 1fr) 130px 90px 90px; }
summary { cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary:hover { background: var(--faint); }
.head { color: var(--soft); font-size: 13px; }
summary > :nth-child(n+4), .head > :nth-child(n+4) { text-align: right; }
summary .number { color: var(--soft); }
.badge {
  display: inline-block; margin-left: 8px; padding: 0 7px; border-radius: 9px; background: var(--clay-soft);
  color: var(--clay); font-size: 12px;
}
.bar { display: block; height: 4px; border-radius: 2px; background: var(--clay); min-width: 1px; margin-top: 3px; }
.inside { padding: 4px 4px 20px 40px; }
pre {
  margin: 12px 0 0; padding: 14px 16px; background: var(--code); border: 1px solid var(--rule); border-radius: 8px;
  overflow-x: auto; font: 13px/1.6 ui-monospace, "SF Mono", "DejaVu Sans Mono", Menlo, monospace;
}
.steps { width: 100%; border-collapse: collapse; margin-top: 10px; font-size: 13.5px; }
.steps td { padding: 3px 12px 3px 0; vertical-align: top; font-variant-numeric: tabular-nums; }
.steps td:last-child { text-align: right; padding-right: 0; white-space: nowrap; }
.steps code { font: 13px ui-monospace, "SF Mono", "DejaVu Sans Mono", Menlo, monospace; }
.move { fill: var(--clay); } .work { fill: var(--slate); } .lane { stroke: var(--rule); }
svg text.in { fill: var(--paper); }
.moves { color: var(--clay); } .works { color: var(--slate); }
.scroll { overflow-x: auto; }
footer { color: var(--soft); font-size: 13px; margin-top: 32px; }
@media (max-width: 760px) {
  summary, .head { grid-template-columns: 22px minmax(0, 1fr) 90px; }
  summary > :nth-child(n+4), .head > :nth-child(n+4) { display: none; }
  .inside { padding-left: 4px; }
}
@media print { section { break-inside: avoid; } .devices { display: none; } }
)css";

/// Chooses a device by its place along each mesh axis, #X=1,Y=3 in the address, and marks the blocks that it holds.
inline constexpr char const* page_script = R"js(
const inputs = [...document.querySelectorAll('.devices input')];
const at = () => Object.fromEntries(inputs.map(i => [i.name, +i.value]));
function show() {
  const here = at();
  const size = name => +inputs.find(i => i.name === name).dataset.size;
  const block = over => over ? over.split(',').reduce((n, m) => n * size(m) + here[m], 0) : 0;
  inputs.forEach(i => i.nextElementSibling.value = i.value);
  document.querySelectorAll('svg.tensor').forEach(svg => {
    const row = block(svg.dataset.rows), column = block(svg.dataset.columns);
    const inside = (n, range) => { const [from, to] = range.split('-'); return n >= +from && n <= +to; };
    for (const c of svg.querySelectorAll('.cell'))
      c.classList.toggle('on', inside(row, c.dataset.row) && inside(column, c.dataset.column));
  });
}
function read() {
  for (const [, name, value] of decodeURIComponent(location.hash).matchAll(/(\w+)=(\d+)/g)) {
    const i = inputs.find(i => i.name === name);
    if (i) i.value = Math.min(+value, +i.max);
  }
  show();
}
function choose() {
  show();
  history.replaceState(null, '', '#' + inputs.map(i => i.name + '=' + i.value).join(','));
}
inputs.forEach(i => i.addEventListener('input', choose));
addEventListener('hashchange', read);
read();
document.documentElement.dataset.ready = 'yes';
)js";

/// Escapes the characters that HTML takes for markup.
inline std::string escaped(std::string_view s) {
  std::string text;
  for (char c : s)
    text += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : std::string(1, c);
  return text;
}

}  // namespace explorer
