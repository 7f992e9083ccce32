import type { RequestRecord } from "@virtual-workspaces/framework";

/** A request as a line of the terminal: time, method, path, user (behind it in brackets who impersonates them), code, and how long it took. */
export function accessLine(record: RequestRecord, now: Date): string {
  const { stage, method, verb, path, user = "-", impersonator, code, duration } = record;
  const who = impersonator === undefined ? printable(user) : `${printable(user)}(${printable(impersonator)})`;
  const what = verb === "watch" ? "WATCH" : method;
  const outcome = code === 0 ? "left" : String(code);
  return [now.toTimeString().slice(0, 8), what, printable(path), who, outcome, spent()].join(" ");

  function spent(): string {
    if (stage === "ResponseStarted") return "begins";
    return verb === "watch" && code === 200
      ? `ends after ${(duration / 1000).toFixed(1)} s`
      : `${duration.toFixed(1)} ms`;
  }
}

/** Whoever can reach the port chooses these: no line breaks, no terminal sequences, no spaces. */
function printable(text: string): string {
  return text.replace(/[^\x21-\x7e]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
