/** Plain charts as SVG. Each says in words what it shows. */

import { h, s } from "./dom.js";
import { count } from "./format.js";
import { said } from "./visible.js";

const HEIGHT = 120;
const WIDTH = 720;

/** @typedef {{name: string, tone: string}} Series */
/** @typedef {{label: string, values: number[]}} Column */

/**
 * Columns in which the series are stacked.
 *
 * @param {string} title
 * @param {Series[]} series the first is the lowest
 * @param {Column[]} columns
 */
export function columnChart(title, series, columns) {
  const top = Math.max(1, ...columns.map((column) => sum(column.values)));
  const step = WIDTH / columns.length;
  const shapes = columns.flatMap((column, index) => stack(column, index * step, step, top, series));
  const totals = series.map(
    (each, index) => `${each.name} ${count(sum(columns.map((column) => column.values[index])))}`,
  );
  return h(
    "figure.chart",
    {},
    h("figcaption", {}, h("h2", {}, title), legend(series)),
    h(
      "div.chart-area",
      {},
      h("span.chart-top.quiet", { "aria-hidden": "true" }, count(top)),
      s(
        "svg",
        {
          viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
          preserveAspectRatio: "none",
          role: "img",
          "aria-label": `${title}: ${totals.join(", ")}`,
        },
        s("line", { class: "axis", x1: 0, x2: WIDTH, y1: HEIGHT, y2: HEIGHT }),
        s("line", { class: "grid", x1: 0, x2: WIDTH, y1: 0.5, y2: 0.5 }),
        shapes,
      ),
    ),
    h(
      "div.chart-labels.quiet",
      { "aria-hidden": "true" },
      h("span", {}, columns[0]?.label ?? ""),
      h("span", {}, columns.at(-1)?.label ?? ""),
    ),
  );
}

/**
 * @param {Column} column
 * @param {number} x
 * @param {number} step
 * @param {number} top
 * @param {Series[]} series
 */
function stack(column, x, step, top, series) {
  let y = HEIGHT;
  const wide = Math.max(1, step - Math.min(4, step / 4));
  return column.values.flatMap((value, index) => {
    if (value === 0) return [];
    const tall = Math.max(1.5, (value / top) * HEIGHT);
    y -= tall;
    const title = `${column.label}: ${count(value)} ${series[index].name}`;
    return [
      s(
        "rect",
        {
          class: `fill-${series[index].tone}`,
          x: x.toFixed(2),
          y: y.toFixed(2),
          width: wide.toFixed(2),
          height: tall.toFixed(2),
        },
        s("title", {}, title),
      ),
    ];
  });
}

/** @param {Series[]} series */
function legend(series) {
  return h(
    "ul.legend",
    {},
    series.map((each) => h("li", {}, h(`span.swatch.back-${each.tone}`), each.name)),
  );
}

/**
 * Names with a bar each; the parts of a bar are stacked.
 *
 * @param {Series[]} series
 * @param {{name: string, values: number[]}[]} rows
 */
export function barList(series, rows) {
  const longest = Math.max(1, ...rows.map((row) => sum(row.values)));
  return h(
    "ol.bars",
    {},
    rows.map((row) =>
      h(
        "li",
        {},
        said(row.name, "span.bar-name"),
        bar(
          row.values.map((value, index) => ({ share: value / longest, tone: series[index].tone })),
        ),
        h("span.bar-value", {}, count(sum(row.values))),
      ),
    ),
  );
}

/**
 * One bar between 0 and 1, with the range of its uncertainty.
 *
 * @param {{share: number, tone: string}[]} parts
 * @param {{low: number, high: number}} [range]
 */
export function bar(parts, range) {
  let x = 0;
  const shapes = parts.map(({ share, tone }) => {
    const shape = s("rect", {
      class: `fill-${tone}`,
      x: 100 * x,
      y: 0,
      width: 100 * share,
      height: 10,
    });
    x += share;
    return shape;
  });
  return s(
    "svg",
    {
      class: "bar-shape",
      viewBox: "0 0 100 10",
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    },
    s("rect", { class: "fill-track", x: 0, y: 0, width: 100, height: 10 }),
    shapes,
    range !== undefined &&
      s("line", { class: "range", x1: 100 * range.low, x2: 100 * range.high, y1: 5, y2: 5 }),
  );
}

/** @param {number[]} values */
function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
