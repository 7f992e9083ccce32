// Plain cluster with a few pods, as a target for forwarded requests: test/go/target, described in its README.
import { goProgram } from "./build.ts";
import { Program } from "./program.ts";

/** Event of the target: `event` is its name, the other members are details. */
export interface TargetEvent {
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: particulars differ from event to event
  readonly [particular: string]: any;
}

/** Request as the target received it. */
export interface TargetRequest extends TargetEvent {
  readonly event: "request";
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Protocol of the upgrade, "" without one. */
  readonly upgrade: string;
  /** Subprotocols that the client offers. */
  readonly protocols: readonly string[];
  /** User in `Impersonate-User`, "" without one. */
  readonly user: string;
  readonly groups: readonly string[] | null;
}

/** Running target. Build it first: `before(building("target"))`. */
export class Target extends Program {
  readonly events: TargetEvent[] = [];
  url = "";

  /** @param older whether to leave WebSockets to its nodes, which do not support those of current clients */
  static async start({ older = false }: { readonly older?: boolean } = {}): Promise<Target> {
    const target = new Target(goProgram("target", "target"), older ? ["-older"] : []);
    target.url = (await target.event("listening"))["url"];
    return target;
  }

  protected override heard(line: string): void {
    this.events.push(JSON.parse(line) as TargetEvent);
  }

  /** Returns the first event that satisfies `is`, now or later. */
  event(name: string, is: (event: TargetEvent) => boolean = () => true): Promise<TargetEvent> {
    return this.until(`${name} of the target`, () => this.events.find((one) => one.event === name && is(one)));
  }

  /** Upgrade requests, in order. */
  get upgrades(): TargetRequest[] {
    return (this.events as TargetRequest[]).filter(({ event, upgrade }) => event === "request" && upgrade !== "");
  }

  /** Writes a line to the log of a pod. */
  log(line: string, pod = "running"): void {
    this.say(JSON.stringify({ pod, log: line }));
  }

  /** Ends the log of a pod, as the exit of its container does. */
  endLog(pod = "running"): void {
    this.say(JSON.stringify({ pod, end: true }));
  }

  /** Stops it like a crash. */
  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.ended;
  }
}
