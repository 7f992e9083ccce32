import { cpus, totalmem } from "node:os";
import { styleText } from "node:util";

/** One number of a bench, and what it is held against. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly rival: string | null;
  /** In words: `at most 2`. `null` where the number is for the reader only. */
  readonly goal: string | null;
  readonly met: boolean | null;
}

/** A number and its goal. */
export interface Measured {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly rival?: string;
  readonly atMost?: number;
  readonly atLeast?: number;
  readonly below?: number;
  readonly exactly?: number;
}

const GOALS = [
  ["atMost", "at most", (value: number, goal: number) => value <= goal],
  ["atLeast", "at least", (value: number, goal: number) => value >= goal],
  ["below", "below", (value: number, goal: number) => value < goal],
  ["exactly", "exactly", (value: number, goal: number) => value === goal],
] as const;

export function figure(measured: Measured): Figure {
  const { what, value, unit, rival = null } = measured;
  for (const [name, words, holds] of GOALS) {
    const goal = measured[name];
    if (goal !== undefined)
      return { what, value: rounded(value), unit, rival, goal: `${words} ${goal}`, met: holds(value, goal) };
  }
  return { what, value: rounded(value), unit, rival, goal: null, met: null };
}

/** Prints a table, or with `--json` one object. A goal that is missed is said, not failed: machines are noisy. */
export function report(name: string, figures: readonly Figure[]): void {
  if (process.argv.includes("--json")) console.log(JSON.stringify({ name, figures }));
  else for (const line of table(name, figures)) console.log(line);
}

function table(name: string, figures: readonly Figure[]): string[] {
  const rows = figures.map(({ what, value, unit, rival, goal, met }) => {
    const verdict = met === null ? "" : met ? styleText("green", "met") : styleText("red", "MISSED");
    return [what, String(value), unit, rival ?? "", goal ?? "", verdict];
  });
  const head = ["what", "value", "unit", "rival", "goal", ""];
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => (column === 1 ? cell.padStart(widths[1] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join("  ")
      .trimEnd();
  return [`${name} (${machine()})`, line(head), ...rows.map(line)];
}

/** Date, Node version and machine size. */
function machine(): string {
  const date = new Date().toISOString().slice(0, 10);
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return `${date}, Node ${process.versions.node}, ${cpus().length} cores, ${memory}, ${process.platform}/${process.arch}`;
}

/** Three digits that mean something. */
function rounded(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(3));
}
