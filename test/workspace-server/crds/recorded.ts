// Recorded responses of Kubernetes to the definitions, one per line.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Verdict } from "./judge.ts";

export type Verdicts = Readonly<Record<string, Verdict>>;

const FILE = join(import.meta.dirname, "verdicts.snapshot.json");

export function recorded(): Verdicts {
  return JSON.parse(readFileSync(FILE, "utf8")) as Verdicts;
}

export function record(verdicts: Verdicts): void {
  const lines = Object.entries(verdicts).map(
    ([name, verdict]) => `${JSON.stringify(name)}: ${JSON.stringify(verdict)}`,
  );
  writeFileSync(FILE, `{\n${lines.join(",\n")}\n}\n`);
}
