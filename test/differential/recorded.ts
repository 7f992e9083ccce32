// Recorded answers of the oracle: one file for each topic, one line for each exchange.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseOwnJson, stringifyJson } from "@virtual-workspaces/apimachinery/json";
import type { Answer } from "./play.ts";
import type { Case, Step, Topic } from "./step.ts";

export interface Exchange {
  readonly step: Step;
  readonly answer: Answer;
}

export type Recording = Readonly<Record<string, readonly Exchange[]>>;

const fileOf = (topic: Topic): string => join(import.meta.dirname, "recorded", `${topic.name}.snapshot.json`);

/** Returns the recording of a topic, empty if there is none. */
export function recordingOf(topic: Topic): Recording {
  const file = fileOf(topic);
  return existsSync(file) ? (parseOwnJson(readFileSync(file, "utf8")) as Recording) : {};
}

/** Returns the recorded answers of a case. @throws Error when it is not recorded, or with other steps */
export function answersOf(recording: Recording, { name, steps }: Case): Answer[] {
  const exchanges = recording[name];
  const recorded = exchanges?.map(({ step }) => stringifyJson(step)).join("\n");
  if (exchanges === undefined || recorded !== steps.map((step) => stringifyJson(step)).join("\n"))
    throw new Error(
      `the recording of ${name} is missing or outdated: run RECORD=1 npm run test:go -- test/go/differential.test.ts`,
    );
  return exchanges.map(({ answer }) => answer);
}

export function record(topic: Topic, answers: ReadonlyMap<string, readonly Answer[]>): void {
  const cases = topic.cases.map(({ name, steps }) => {
    const lines = steps.map((step, at) => stringifyJson({ step, answer: answers.get(name)?.[at] }));
    return `${JSON.stringify(name)}: [\n${lines.join(",\n")}\n]`;
  });
  writeFileSync(fileOf(topic), `{\n${cases.join(",\n")}\n}\n`);
}
