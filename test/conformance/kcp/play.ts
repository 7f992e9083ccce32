// Plays cases against a workspace server, each in a new workspace of its own.
import { isJsonObject } from "@virtual-workspaces/apimachinery";
import { stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { parse } from "yaml";
import { Answers, parsed } from "../../differential/answers.ts";
import { Caller, type RawAnswer, type Target } from "../../differential/caller.ts";
import type { Answer } from "../../differential/play.ts";
import { has, toldOf } from "./members.ts";
import type { Ask, Case, Step, User, Watch } from "./step.ts";
import { KcpSymbols } from "./symbols.ts";

/** Workspace server with the tokens of its users. */
export interface Subject extends Target {
  /** Timeout for controllers, in ms. */
  readonly patienceMs: number;
  readonly tokens: Readonly<Record<Exclude<User, "nobody" | "stranger">, string>>;
  /** Server of the virtual workspaces, if it is a different one. */
  readonly views?: Target;
  /** Address that the server publishes for its views, if it differs from its own. */
  readonly published?: string;
}

const HEADERS = ["content-type", "warning", "retry-after", "allow", "location", "www-authenticate"];
const WORKSPACES = "/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces";
const OWN_HEADERS = { "user-agent": "conformance/1.0 (test)", accept: "application/json" };
const PAUSE_MS = 50;
const VIEWS = /^\/services\/(?:apiexport|initializingworkspaces|terminatingworkspaces)\//;

export class Player implements Disposable {
  readonly #subject: Subject;
  readonly #callers: Callers;

  constructor(subject: Subject) {
    this.#subject = subject;
    this.#callers = new Callers(subject);
  }

  /** @returns one answer for each step */
  async play({ steps }: Case): Promise<Answer[]> {
    const run = new Run(this.#subject, this.#callers);
    const isAlone = /\$\((?:ws|path|name)\)/.test(stringifyJson(steps));
    if (isAlone) await run.begin();
    const answers: Answer[] = [];
    for (const step of steps) answers.push(await run.step(step));
    if (isAlone) await run.end();
    return answers;
  }

  [Symbol.dispose](): void {
    this.#callers[Symbol.dispose]();
  }
}

/** Callers of a server and of its views. */
class Callers implements Disposable {
  readonly #server: Caller;
  readonly #views: Caller;

  constructor(subject: Subject) {
    this.#server = new Caller(subject);
    this.#views = subject.views === undefined ? this.#server : new Caller(subject.views);
  }

  of(path: string): Caller {
    return VIEWS.test(path) ? this.#views : this.#server;
  }

  [Symbol.dispose](): void {
    this.#server[Symbol.dispose]();
    this.#views[Symbol.dispose]();
  }
}

class Run {
  readonly #subject: Subject;
  readonly #callers: Callers;
  readonly #answers = new Answers();
  readonly #symbols: KcpSymbols;
  readonly #name = `c${Math.random().toString(36).slice(2, 10).padEnd(8, "0")}`;

  constructor(subject: Subject, callers: Callers) {
    this.#subject = subject;
    this.#callers = callers;
    this.#symbols = new KcpSymbols(subject.url, subject.published);
  }

  async begin(): Promise<void> {
    const body = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name: this.#name } };
    await this.#ask({ send: `POST ${WORKSPACES}`, body: { ...body, spec: { type: UNIVERSAL } } });
    const until = { body: { status: { phase: "Ready" } } };
    const ready = await this.#ask({ send: `GET ${WORKSPACES}/${this.#name}`, until });
    if (ready.status !== 200) throw new Error(`the workspace of the case is not ready: ${ready.status} ${ready.text}`);
    const { cluster } = (parsed(ready.text) as { spec: { cluster: string } }).spec;
    this.#answers.set("ws", cluster);
    this.#answers.set("path", `root:${this.#name}`);
    this.#answers.set("name", this.#name);
    this.#symbols.name(cluster, "<ws>");
    this.#symbols.name(this.#name, "<name>");
  }

  async end(): Promise<void> {
    await this.#ask({ send: `DELETE ${WORKSPACES}/${this.#name}` });
  }

  async step(step: Step): Promise<Answer> {
    if ("watch" in step) return this.#watch(step);
    const answer = await this.#ask(step);
    if (step.as !== undefined) this.#answers.set(step.as, parsed(answer.text));
    return this.#told(answer, step);
  }

  /** Sends a request, and repeats it until `until` holds. */
  async #ask({ send, user, headers, body, text, until }: Ask): Promise<RawAnswer> {
    const [method = "", path = ""] = (this.#answers.fill(send) as string).split(/ (.*)/s);
    const payload = text ?? (body === undefined ? undefined : stringifyJson(this.#answers.fill(body)));
    const given = this.#answers.fill(headers ?? {}) as Record<string, string>;
    const type = payload === undefined ? {} : { "content-type": "application/json" };
    const call = { method, path, body: payload, headers: { ...this.#headers(user), ...type, ...given } };
    const wanted = this.#answers.fill(until);
    for (const start = performance.now(); ; await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))) {
      const answer = await this.#callers.of(path).call(call);
      const isIt = until === undefined || has({ code: answer.status, body: parsed(answer.text) }, wanted);
      if (isIt || performance.now() - start > this.#subject.patienceMs) return answer;
    }
  }

  async #watch({ watch, user, headers, meanwhile, until, tell }: Watch): Promise<Answer> {
    const path = this.#answers.fill(watch) as string;
    const { answer, events } = await this.#callers.of(path).watch({
      method: "GET",
      path,
      headers: { ...this.#headers(user), ...headers },
    });
    if (events === undefined) return this.#told(answer, {});
    using _ = events;
    if (meanwhile !== undefined) await this.#ask(meanwhile);
    const wanted = this.#answers.fill(until);
    const lines = await events.take((line) => has(parsed(line), wanted));
    const told = lines.map((line) => toldOf(this.#symbols.value(line), tell));
    return { status: 200, events: told.filter((one, at) => stringifyJson(one) !== stringifyJson(told[at - 1])) };
  }

  #headers(user: User = "admin"): Record<string, string> {
    if (user === "nobody") return OWN_HEADERS;
    const token = user === "stranger" ? "nobodys" : this.#subject.tokens[user];
    return { ...OWN_HEADERS, authorization: `Bearer ${token}` };
  }

  #told({ status, headers, text }: RawAnswer, { tell, names }: Pick<Ask, "tell" | "names">): Answer {
    const kept = HEADERS.flatMap((name) => {
      const value = headers[name] === undefined ? undefined : this.#symbols.text(String(headers[name]));
      return value === undefined || value === "application/json" ? [] : [[name, value]];
    });
    const isYaml = String(headers["content-type"]).startsWith("application/yaml");
    const whole = this.#symbols.value(isYaml ? stringifyJson(parse(text)) : text);
    const members = names === undefined ? undefined : toldOf(whole, [names])[names];
    const isTold = status < 300 && isJsonObject(whole);
    const body = isJsonObject(members) ? { [`names of ${names}`]: Object.keys(members) } : whole;
    return {
      status,
      ...(kept.length === 0 ? {} : { headers: Object.fromEntries(kept) }),
      ...(text === "" ? {} : { body: isTold && tell !== undefined ? toldOf(whole, tell) : body }),
    };
  }
}

const UNIVERSAL = { name: "universal", path: "root" };
