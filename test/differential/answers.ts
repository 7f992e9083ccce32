// Answers of a server so far, and their values in later requests.
import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { parseOwnJson, setMember } from "@virtual-workspaces/apimachinery/json";

/** Answers by name. */
export class Answers {
  readonly #answers = new Map<string, unknown>();

  set(name: string, answer: unknown): void {
    this.#answers.set(name, answer);
  }

  get(name: string): unknown {
    return this.#answers.get(name);
  }

  /** Fills in values: `$(name.metadata.uid)` is that member of the answer named `name`. */
  fill(value: unknown): unknown {
    if (typeof value === "string") return value.replace(/\$\(([\w.]+)\)/g, (_, path) => this.#at(path));
    if (Array.isArray(value)) return value.map((item) => this.fill(item));
    if (!isJsonObject(value)) return value;
    const filled: JsonObject = {};
    for (const [name, member] of Object.entries(value)) setMember(filled, name, this.fill(member));
    return filled;
  }

  #at(path: string): string {
    const [name = "", ...members] = path.split(".");
    let value = this.#answers.get(name);
    for (const member of members)
      value = isJsonObject(value) || Array.isArray(value) ? Reflect.get(value, member) : undefined;
    return String(value);
  }
}

/** Parses a body as JSON, or else returns the text. */
export function parsed(text: string): unknown {
  try {
    return parseOwnJson(text);
  } catch {
    return text;
  }
}

/** Returns a copy of a value with a merge patch applied. */
export function merged(base: unknown, change: unknown): unknown {
  if (!isJsonObject(change)) return change === undefined ? base : change;
  const result: JsonObject = isJsonObject(base) ? { ...base } : {};
  for (const [name, member] of Object.entries(change)) {
    if (member === null) delete result[name];
    else setMember(result, name, merged(result[name], member));
  }
  return result;
}
