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
