import type { ServerResponse } from "node:http";

/** Code points that all warnings of an answer may have together before they are cut, as Kubernetes does. */
const ALL = 4096;
/** And each of them, once they are. */
const EACH = 256;

/** The `Warning` headers of one answer: each text once, and never so many that a client refuses the header block. */
export class Warnings {
  readonly #res: ServerResponse;
  readonly #texts = new Set<string>();
  #written = 0;
  #cutting = false;

  constructor(res: ServerResponse) {
    this.#res = res;
  }

  add(text: string): void {
    if (text === "" || this.#texts.has(text) || (this.#cutting && this.#written >= ALL)) return;
    this.#texts.add(text);
    if (!this.#cutting && this.#written + lengthOf(text) > ALL) this.#startCutting();
    else this.#write(text);
  }

  #startCutting(): void {
    this.#cutting = true;
    this.#written = 0;
    this.#res.removeHeader("Warning");
    for (const text of this.#texts) this.#write(text);
  }

  #write(text: string): void {
    const shown = this.#cutting ? [...text].slice(0, EACH).join("") : text;
    this.#written += lengthOf(shown);
    this.#res.appendHeader("Warning", `299 - "${quoted(shown)}"`);
  }
}

function lengthOf(text: string): number {
  return [...text].length;
}

/** Header values are UTF-8 on the wire, and Latin-1 to Node. */
function quoted(text: string): string {
  const safe = text.replace(/\p{Cc}/gu, "?").replace(/["\\]/g, (mark) => `\\${mark}`);
  return Buffer.from(safe, "utf8").toString("latin1");
}
