// A strict parser of Prometheus' text format 0.0.4: an exposition that breaks a rule of the format fails the test.
import { expect } from "chai";

/** A metric family of an exposition. */
export interface ExposedFamily {
  readonly type: string;
  readonly help: string;
  /** Values by series: the name of the sample and its labels, as written. */
  readonly series: ReadonlyMap<string, number>;
}

type Building = { type?: string; help?: string; readonly series: Map<string, number> };

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABEL = String.raw`[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"`;
const HELP = new RegExp(String.raw`^# HELP (${NAME}) ((?:[^\\]|\\[\\n])+)$`);
const TYPE = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram|summary|untyped)$`);
const SAMPLE = new RegExp(String.raw`^(${NAME})(?:\{(${LABEL}(?:,${LABEL})*)\})? ([-+]?(?:\d\S*|Inf)|NaN)$`);

/** Parses an exposition. Fails unless each family has one HELP and TYPE before its samples, and each series is there once. */
export function parseExposition(text: string): ReadonlyMap<string, ExposedFamily> {
  expect(text.endsWith("\n"), "the last line ends with a line feed").to.equal(true);
  const families = new Map<string, Building>();
  let current = "";
  for (const line of text.slice(0, -1).split("\n")) {
    const [, described, described2] = HELP.exec(line) ?? [];
    const [, typed, type] = TYPE.exec(line) ?? [];
    const name = described ?? typed;
    if (name !== undefined && name !== current) {
      expect(families.has(name), `${line}: the family is in two places`).to.equal(false);
      families.set(name, { series: new Map() });
      current = name;
    }
    const family = families.get(current);
    expect(family, `${line}: a sample without a family`).not.to.equal(undefined);
    if (family === undefined) continue;
    if (name === undefined) addSample(family, current, line);
    else {
      const key = described === undefined ? "type" : "help";
      expect(family[key], `${line}: a second ${key}`).to.equal(undefined);
      expect(family.series.size, `${line}: after samples`).to.equal(0);
      family[key] = described2 ?? type ?? "";
    }
  }
  for (const [name, family] of families) {
    expect(family, name).to.include.keys("type", "help");
    if (family.type === "histogram") checkHistogram(name, family.series);
  }
  return families as ReadonlyMap<string, ExposedFamily>;
}

function addSample({ type, series }: Building, family: string, line: string): void {
  const [, name = "", labels = "", value = ""] = SAMPLE.exec(line) ?? expect.fail(`${line}: not a line of the format`);
  const own = type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => family + end) : [family];
  expect(own, `${line}: a sample in the wrong family`).to.include(name);
  const pairs = labels.match(new RegExp(LABEL, "g")) ?? [];
  const names = pairs.map((pair) => pair.slice(0, pair.indexOf("=")));
  expect(new Set(names).size, `${line}: a label twice`).to.equal(names.length);
  // The order of labels makes no difference.
  const key = `${name}{${pairs.sort().join(",")}}`;
  expect(series.has(key), `${line}: the series is there twice`).to.equal(false);
  series.set(key, Number(value.replace("Inf", "Infinity")));
}

/** Buckets increase up to `+Inf`, which equals the count, and each set of labels has a sum. */
function checkHistogram(name: string, series: ReadonlyMap<string, number>): void {
  const last = new Map<string, { bound: number; below: number }>();
  for (const [key, below] of series) {
    const bound = /[{,]le="([^"]*)"/.exec(key)?.[1];
    if (!key.startsWith(`${name}_bucket`) || bound === undefined) continue;
    const labels = key.slice(name.length + "_bucket{".length, -1).split(`le="${bound}"`);
    const of = labels
      .map((part) => part.replace(/^,|,$/g, ""))
      .filter(Boolean)
      .join(",");
    const at = Number(bound.replace("Inf", "Infinity"));
    const before = last.get(of);
    if (before !== undefined) {
      expect(at, `${key}: buckets ascend`).to.be.greaterThan(before.bound);
      expect(below, `${key}: buckets are cumulative`).to.be.at.least(before.below);
    }
    last.set(of, { bound: at, below });
  }
  for (const [of, { bound, below }] of last) {
    expect(bound, `${name}{${of}}: the last bucket`).to.equal(Number.POSITIVE_INFINITY);
    expect(series.get(`${name}_count{${of}}`), `${name}_count{${of}}`).to.equal(below);
    expect(series.has(`${name}_sum{${of}}`), `${name}_sum{${of}}`).to.equal(true);
  }
}
