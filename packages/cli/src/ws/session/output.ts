import type { OwnFlag, Values } from "../../kubectl/connection.ts";
import type { Session } from "./session.ts";

/** A command of `kubectl ws`. */
export interface WsCommand {
  /** What follows `kubectl ws`. */
  readonly usage: string;
  readonly flags: readonly OwnFlag[];
  /** How many words it takes. */
  readonly words: readonly [least: number, most: number];
  /** @throws Failure, UsageError, or what a server answered */
  run(session: Session, words: readonly string[], values: Values): Promise<void>;
}

export function say(text: string): void {
  process.stdout.write(`${printable(text)}\n`);
}

/** For people, beside what a script reads. */
export function note(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

/** What a server says may be anything: control characters could have a terminal do something else than show it. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, (character) => JSON.stringify(character).slice(1, -1));
}
