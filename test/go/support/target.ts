// A plain cluster of a few pods to pass requests on to: test/go/target, whose README says what is in it.
import { goProgram } from "./build.ts";
import { Program } from "./program.ts";

/** What the target tells: `event` says of what, the rest are particulars. */
export interface TargetEvent {
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: particulars differ from event to event
  readonly [particular: string]: any;
}

/** A request as it arrived there. */
export interface TargetRequest extends TargetEvent {
  readonly event: "request";
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** What the connection is to become, "" if it is to stay HTTP. */
  readonly upgrade: string;
  /** What the client offers to speak then. */
  readonly protocols: readonly string[];
  /** As whom it came, by `Impersonate-User`; "" if by nothing. */
  readonly user: string;
  readonly groups: readonly string[] | null;
}

/** The target at work. Build it before: `before(building("target"))`. */
export class Target extends Program {
  readonly events: TargetEvent[] = [];
  url = "";

  /** @param older one that leaves WebSockets to its nodes, which do not speak today's clients' */
  static async start({ older = false }: { readonly older?: boolean } = {}): Promise<Target> {
    const target = new Target(goProgram("target", "target"), older ? ["-older"] : []);
    target.url = (await target.event("listening"))["url"];
    return target;
  }

  protected override heard(line: string): void {
    this.events.push(JSON.parse(line) as TargetEvent);
  }

  /** The first of those events that `is` holds of, now or later. */
  event(name: string, is: (event: TargetEvent) => boolean = () => true): Promise<TargetEvent> {
    return this.until(`${name} of the target`, () => this.events.find((one) => one.event === name && is(one)));
  }

  /** Requests that were to become something else than HTTP, in order. */
  get upgrades(): TargetRequest[] {
    return (this.events as TargetRequest[]).filter(({ event, upgrade }) => event === "request" && upgrade !== "");
  }

  /** Writes a line to the log of a pod. */
  log(line: string, pod = "running"): void {
    this.say(JSON.stringify({ pod, log: line }));
  }

  /** Ends the log of a pod, as its container does by ending. */
  endLog(pod = "running"): void {
    this.say(JSON.stringify({ pod, end: true }));
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.ended;
  }
}
