// The Go clients as tests see them: events by name, and the objects that an informer has told of.
import { expect } from "chai";
import { goProgram } from "./build.ts";
import { Program } from "./program.ts";

/** What a Go client tells: `event` says of what, the rest are particulars. */
export interface GoEvent {
  readonly event: string;
  /** When it arrived, as of `performance.now()`. */
  readonly at: number;
  // biome-ignore lint/suspicious/noExplicitAny: particulars differ from event to event
  readonly [particular: string]: any;
}

export type GoCommand =
  | "informer"
  | "typed-informer"
  | "metadata-informer"
  | "marker"
  | "cache"
  | "discovery"
  | "list"
  | "watch"
  | "table"
  | "writes"
  | "dynamic"
  | "increment"
  | "scale"
  | "operator"
  | "sites"
  | "teams"
  | "headers"
  | "kinds"
  | "workspace";

export interface GoClientOptions {
  readonly kubeconfig: string;
  /** Those of test/go/clients. */
  readonly flags?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** A Go client at work. */
export class GoClient extends Program {
  readonly events: GoEvent[] = [];
  /** Key to resource version, by what it has told. */
  readonly objects = new Map<string, string>();

  static start(command: GoCommand, { kubeconfig, flags = {}, env = {} }: GoClientOptions): GoClient {
    const args = Object.entries(flags).map(([name, value]) => `-${name}=${value}`);
    return new GoClient(goProgram("clients", "clients"), [command, ...args], { ...env, KUBECONFIG: kubeconfig });
  }

  protected override heard(line: string): void {
    const told = { ...JSON.parse(line), at: performance.now() } as GoEvent;
    this.events.push(told);
    if (told.event === "added" || told.event === "updated") this.objects.set(told["key"], told["resourceVersion"]);
    if (told.event === "deleted") this.objects.delete(told["key"]);
  }

  /** All events of a name so far. */
  all(event: string): GoEvent[] {
    return this.events.filter((told) => told.event === event);
  }

  /** The first event of a name for which `is` holds, now or later. */
  event(event: string, is: (told: GoEvent) => boolean = () => true, within?: number): Promise<GoEvent> {
    return this.until(`${event} event`, () => this.events.find((told) => told.event === event && is(told)), within);
  }

  /** Resolves when it has been told of exactly these objects at these versions. */
  async holds(expected: ReadonlyMap<string, string>, within?: number): Promise<void> {
    await this.until(`exactly ${expected.size} objects`, () => isEqual(this.objects, expected), within);
  }

  /** The answer to a question on stdin: what its store holds. */
  async state(): Promise<GoEvent> {
    const before = this.all("state").length;
    this.say("state");
    return this.until("state", () => this.all("state")[before]);
  }

  /** Resolves when its store stands at a version; asked again until it does, or the test runs out of time. */
  async reaches(resourceVersion: string): Promise<void> {
    while ((await this.state())["resourceVersion"] !== resourceVersion);
  }

  /** How objects were asked for so far: `["watchlist", "watch"]`. */
  verbs(): string[] {
    return this.all("request").map((request) => request["verb"]);
  }

  /** What users would see in their logs and wonder about. */
  noise(): GoEvent[] {
    return this.events.filter(
      (told) => told.event === "bad-frame" || (told.event === "log" && told["level"] === "error"),
    );
  }

  /** Ends it as its users do, and expects it to end well. */
  async end(): Promise<void> {
    this.endInput();
    const { code, signal } = await this.ended;
    expect({ code, signal, stderr: this.stderr }).to.deep.equal({ code: 0, signal: null, stderr: "" });
  }
}

function isEqual(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);
}
