// Recorded answers of kcp: one file for each area, one line for each exchange.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseOwnJson, stringifyJson } from "@virtual-workspaces/apimachinery/json";
import type { Answer } from "../../differential/play.ts";
import type { Area, Case, Step } from "./step.ts";

interface Recording {
  /** Version of kcp. */
  readonly kcp: string;
  readonly cases: Readonly<Record<string, readonly { readonly step: Step; readonly answer: Answer }[]>>;
}

const fileOf = ({ name }: Area): string => join(import.meta.dirname, "recorded", `${name}.snapshot.json`);

export function recordingOf(area: Area): Recording {
  const file = fileOf(area);
  return existsSync(file) ? (parseOwnJson(readFileSync(file, "utf8")) as unknown as Recording) : { kcp: "", cases: {} };
}

/** Returns the recorded answers of a case. @throws Error when it is not recorded, or with other steps */
export function answersOf({ cases }: Recording, { name, steps }: Case): Answer[] {
  const exchanges = cases[name];
  const recorded = exchanges?.map(({ step }) => stringifyJson(step)).join("\n");
  if (exchanges === undefined || recorded !== steps.map((step) => stringifyJson(step)).join("\n"))
    throw new Error(`the recording of ${name} is missing or outdated: see README.md beside ${import.meta.filename}`);
  return exchanges.map(({ answer }) => answer);
}

export function record(area: Area, kcp: string, answers: ReadonlyMap<string, readonly Answer[]>): void {
  const cases = area.cases.map(({ name, steps }) => {
    const lines = steps.map((step, at) => stringifyJson({ step, answer: answers.get(name)?.[at] }));
    return `${JSON.stringify(name)}: [\n${lines.join(",\n")}\n]`;
  });
  writeFileSync(fileOf(area), `{\n"kcp": ${JSON.stringify(kcp)},\n"cases": {\n${cases.join(",\n")}\n}\n}\n`);
}
