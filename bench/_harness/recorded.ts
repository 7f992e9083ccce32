// Why: a reader without a kcp also sees the comparison, with its date and versions.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../tools/install.mjs";
import type { Figure } from "./report.ts";

/** A run against a kcp. */
export interface Recorded {
  /** Day, as YYYY-MM-DD. */
  readonly date: string;
  /** Version of kcp, from the command line. */
  readonly kcp: string;
  /** Node.js, processors and load average of the machine. */
  readonly machine: string;
  readonly figures: readonly Figure[];
}

const FILE = "bench/peers.recorded.json";
const CHART = "docs/explanation/performance.svg";

/** Returns the recorded run; `undefined` if there is none. */
export function readRecorded(): Recorded | undefined {
  const file = join(root, FILE);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Recorded) : undefined;
}

/** Writes the run and its chart. @returns the names of the files */
export function writeRecorded(run: Recorded): readonly string[] {
  writeFileSync(join(root, FILE), `${JSON.stringify(run, null, 2)}\n`);
  writeFileSync(join(root, CHART), chartOf(run));
  return [FILE, CHART];
}

/** Width of the chart, of its labels, and height of a bar with its gap, in pixels. */
const [WIDTH, LABELS, ROW, TOP] = [860, 430, 26, 58];
/** Ratio at either end of the scale. */
const MOST = 16;

/**
 * Draws how many times better than kcp each measure is, on a logarithmic scale: a rate by how many times more, a cost by how many
 * times less.
 */
export function chartOf({ date, kcp, machine, figures }: Recorded): string {
  const ratios = figures.filter(({ unit, rival }) => unit === "ratio" && rival === "kcp");
  const height = TOP + ratios.length * ROW + 46;
  const middle = LABELS + (WIDTH - LABELS - 60) / 2;
  const scale = (WIDTH - LABELS - 60) / 2 / Math.log2(MOST);
  const at = (times: number): number =>
    Math.round(middle + scale * Math.log2(Math.min(MOST, Math.max(1 / MOST, times))));
  const rows = ratios.map(({ what, value }, nth) => {
    const times = isRate(what) ? value : 1 / value;
    const y = TOP + nth * ROW;
    const end = at(times);
    const [from, width] = [Math.min(middle, end), Math.max(1, Math.abs(end - middle))];
    const label = times >= 1 ? end + 6 : end - 6;
    return [
      `<text x="${LABELS - 10}" y="${y + 14}" text-anchor="end">${escaped(what)}</text>`,
      `<rect class="${times >= 1 ? "ahead" : "behind"}" x="${from}" y="${y + 2}" width="${width}" height="${ROW - 10}"/>`,
      `<text x="${label}" y="${y + 14}" text-anchor="${times >= 1 ? "start" : "end"}">${short(times)}×</text>`,
    ].join("");
  });
  const ticks = [1 / 4, 1, 4].map(
    (times) =>
      `<line x1="${at(times)}" x2="${at(times)}" y1="${TOP - 8}" y2="${TOP + ratios.length * ROW}"/><text x="${at(times)}" y="${TOP - 14}" text-anchor="middle">${times === 1 ? "kcp" : `${times}×`}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="How many times better than kcp each measure is">
<style>
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  line { stroke: #8c959f; stroke-dasharray: 3 3; }
  .ahead { fill: #1a7f37; } .behind { fill: #bc4c00; }
  @media (prefers-color-scheme: dark) { text { fill: #c9d1d9; } .ahead { fill: #3fb950; } .behind { fill: #f0883e; } }
</style>
<text x="10" y="20" font-weight="bold">Times better than kcp (more per second, or less CPU and memory)</text>
${ticks.join("\n")}
${rows.join("\n")}
<text x="10" y="${height - 14}">${escaped(`${date}, kcp ${kcp}, ${machine}`)}</text>
</svg>
`;
}

function isRate(what: string): boolean {
  return /per second|rate/.test(what);
}

function short(times: number): string {
  return times >= 10 ? times.toFixed(0) : times.toPrecision(2);
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
}
