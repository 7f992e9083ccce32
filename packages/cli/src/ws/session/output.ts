export function say(text: string): void {
  process.stdout.write(`${printable(text)}\n`);
}

/** Prints a text for people to stderr. */
export function note(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

/** Escapes control characters. Security: texts of a server could otherwise control the terminal. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, (character) => JSON.stringify(character).slice(1, -1));
}
