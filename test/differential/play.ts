// Plays the steps of a case against one server, and normalizes its answers for comparison.
import { isJsonObject } from "@virtual-workspaces/apimachinery";
import { stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { parse } from "yaml";
import { Answers, merged, parsed } from "./answers.ts";
import { Caller, type EventReader, type RawAnswer, type Target } from "./caller.ts";
import type { Case, RequestStep, Step, WatchStep } from "./step.ts";
import { Symbols } from "./symbols.ts";
import { wipe } from "./wipe.ts";

/** Answer with symbols, and with unusual headers. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly events?: readonly unknown[];
  /** Versions of the case, oldest first; only in the last answer. */
  readonly order?: string;
}

/** Headers that affect clients. */
const HEADERS = ["content-type", "cache-control", "warning", "retry-after", "allow", "location", "www-authenticate"];

/** Usual values of headers. Only other values are recorded. */
const USUAL = new Map([
  ["content-type", "application/json"],
  ["cache-control", "no-cache, private"],
]);

/** The user agent is the default field manager. */
const OWN_HEADERS = { "user-agent": "differential/1.0 (test)", accept: "application/json" };

/** Server that plays cases one after the other. */
export class Player implements Disposable {
  readonly #caller: Caller;

  constructor(target: Target) {
    this.#caller = new Caller(target);
  }

  /** Plays a case on an empty server. @returns one answer for each step */
  async play({ steps }: Case): Promise<Answer[]> {
    await wipe(this.#caller, steps);
    using run = new Run(this.#caller);
    const answers: Answer[] = [];
    for (const step of steps) answers.push(await run.step(step));
    const order = run.symbols.order();
    const last = answers.pop();
    return last === undefined || order === ""
      ? [...answers, ...(last ? [last] : [])]
      : [...answers, { ...last, order }];
  }

  [Symbol.dispose](): void {
    this.#caller[Symbol.dispose]();
  }
}

class Run implements Disposable {
  readonly symbols: Symbols = new Symbols();
  readonly #caller: Caller;
  readonly #answers = new Answers();
  readonly #watches = new Map<string, EventReader>();

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  async step(step: Step): Promise<Answer> {
    if ("send" in step) return this.#request(step);
    if ("watch" in step) return this.#watch(step);
    const isLast = (line: string, count: number): boolean =>
      "until" in step ? line.includes(`"name":"${step.until}"`) : count === step.events;
    const events = await this.#watches.get(step.read)?.take(isLast);
    return { events: (events ?? ["never opened"]).map((line) => this.symbols.value(parsed(line))) };
  }

  [Symbol.dispose](): void {
    for (const events of this.#watches.values()) events[Symbol.dispose]();
  }

  async #request(step: RequestStep): Promise<Answer> {
    const [method = "", path = ""] = split(this.#answers.fill(step.send) as string);
    const body = this.#body(step);
    const prefix = generateNameOf(step.body);
    if (prefix !== undefined) this.symbols.generates(prefix);
    const headers = { ...OWN_HEADERS, ...(body === undefined ? {} : { "content-type": "application/json" }) };
    const given = this.#answers.fill(step.headers ?? {}) as Record<string, string>;
    const answer = await this.#caller.call({ method, path, body, headers: { ...headers, ...given } });
    if (step.as !== undefined) this.#answers.set(step.as, parsed(answer.text));
    return this.#told(answer);
  }

  async #watch(step: WatchStep): Promise<Answer> {
    const path = this.#answers.fill(step.watch) as string;
    const headers = { ...OWN_HEADERS, ...(this.#answers.fill(step.headers ?? {}) as Record<string, string>) };
    const { answer, events } = await this.#caller.watch({ method: "GET", path, headers });
    if (events !== undefined) this.#watches.set(step.as, events);
    return this.#told(answer);
  }

  #body({ body, text, fill, base }: RequestStep): string | undefined {
    if (text !== undefined) return this.#answers.fill(text) as string;
    if (fill !== undefined) return fill.head + fill.piece.repeat(fill.times) + fill.tail;
    if (base !== undefined) return stringifyJson(merged(this.#answers.get(base), this.#answers.fill(body)));
    return body === undefined ? undefined : stringifyJson(this.#answers.fill(body));
  }

  #told({ status, headers, text }: RawAnswer): Answer {
    const kept = HEADERS.flatMap((name) => {
      const value = headers[name] === undefined ? undefined : this.symbols.text(String(headers[name]));
      return value === USUAL.get(name) ? [] : [[name, value ?? "none"]];
    });
    const body =
      headers["content-type"]?.startsWith("application/yaml") === true ? { yaml: parse(text) } : parsed(text);
    return {
      status,
      ...(kept.length === 0 ? {} : { headers: Object.fromEntries(kept) }),
      ...(text === "" ? {} : { body: typeof body === "string" ? this.symbols.text(body) : this.symbols.value(body) }),
    };
  }
}

function generateNameOf(body: unknown): string | undefined {
  const metadata = isJsonObject(body) ? body["metadata"] : undefined;
  const prefix = isJsonObject(metadata) ? metadata["generateName"] : undefined;
  return typeof prefix === "string" && prefix !== "" ? prefix : undefined;
}

function split(send: string): [string, string] {
  const at = send.indexOf(" ");
  return [send.slice(0, at), send.slice(at + 1)];
}
