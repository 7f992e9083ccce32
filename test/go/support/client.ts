// Go clients for tests: their events by name, and the objects that an informer has reported.
import { expect } from "chai";
import { goProgram } from "./build.ts";
import { Program } from "./program.ts";

/** Event of a Go client: `event` is its name, the other members are details. */
export interface GoEvent {
  readonly event: string;
  /** Time of arrival, from `performance.now()`. */
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
  | "formats"
  | "increment"
  | "scale"
  | "operator"
  | "sites"
  | "teams"
  | "headers"
  | "kinds"
  | "workspace"
  | "webhook";

export interface GoClientOptions {
  readonly kubeconfig: string;
  /** Flags of test/go/clients. */
  readonly flags?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** Running Go client. */
export class GoClient extends Program {
  readonly events: GoEvent[] = [];
  /** Resource versions by key, from its events. */
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

  /** Returns all events with a name so far. */
  all(event: string): GoEvent[] {
    return this.events.filter((told) => told.event === event);
  }

  /** Returns the first event with a name that satisfies `is`, now or later. */
  event(event: string, is: (told: GoEvent) => boolean = () => true, within?: number): Promise<GoEvent> {
    return this.until(`${event} event`, () => this.events.find((told) => told.event === event && is(told)), within);
  }

  /** Resolves when it has reported exactly these objects at these versions. */
  async holds(expected: ReadonlyMap<string, string>, within?: number): Promise<void> {
    await this.until(`exactly ${expected.size} objects`, () => isEqual(this.objects, expected), within);
  }

  /** Requests the content of its store through stdin. */
  async state(): Promise<GoEvent> {
    const before = this.all("state").length;
    this.say("state");
    return this.until("state", () => this.all("state")[before]);
  }

  /** Resolves when its store has reached a version, within the test's time limit. */
  async reaches(resourceVersion: string): Promise<void> {
    while ((await this.state())["resourceVersion"] !== resourceVersion);
  }

  /** Returns the verbs of its requests so far: `["watchlist", "watch"]`. */
  verbs(): string[] {
    return this.all("request").map((request) => request["verb"]);
  }

  /** Returns log messages that would alarm users. */
  noise(): GoEvent[] {
    return this.events.filter(
      (told) => told.event === "bad-frame" || (told.event === "log" && told["level"] === "error"),
    );
  }

  /** Stops it like its users do, and expects a clean exit. */
  async end(): Promise<void> {
    this.endInput();
    const { code, signal } = await this.ended;
    expect({ code, signal, stderr: this.stderr }).to.deep.equal({ code: 0, signal: null, stderr: "" });
  }
}

function isEqual(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);
}
