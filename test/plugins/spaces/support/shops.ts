// Spaces of servers with notes: each has a server, resource versions, a history and a connection of its own.
import { type FaultyUpstream, startFaulty } from "../../../_support/faulty.ts";
import { type NoteObject, Notes } from "../../../client/informer/support.ts";
import { type AnySpace, conditionOf, isReady, Management, SECRET } from "./management.ts";

/** A server and the connection to it. */
interface Shop {
  readonly notes: Notes;
  readonly wire: FaultyUpstream;
}

export interface ShopOptions {
  /** Number of events in the server's history. @default many */
  readonly history?: number;
  /** Whether the server is unreachable until its connection is started. @default false */
  readonly isDown?: boolean;
}

/** Whether a request is a list, or a page of one, and not a watch. */
export const isList = ({ path }: { readonly path: string }): boolean =>
  path.includes("/notes?") && !path.includes("watch=");

export class Shops implements AsyncDisposable {
  readonly management: Management;
  readonly #shops = new Map<string, Shop>();
  readonly #stack = new AsyncDisposableStack();

  private constructor(management: Management) {
    this.management = this.#stack.use(management);
    this.#stack.use(management.manager());
  }

  /** Starts a management cluster and Spaces `default/<name>`. */
  static async start(...names: readonly string[]): Promise<Shops> {
    const shops = new Shops(await Management.start());
    for (const name of names) await shops.open(name);
    return shops;
  }

  /** Starts another server and creates its Space. */
  async open(name: string, options: ShopOptions = {}): Promise<void> {
    await this.move(name, options);
    await this.found(name);
  }

  /** Creates a Space for an existing server, and waits until the manager has tried to reach it. */
  async found(name: string): Promise<void> {
    await this.management.make("default", name, { Type: "imported" });
    const isTried = (space: AnySpace | undefined): boolean =>
      /^False (?!Connecting)/.test(conditionOf(space, "Reached"));
    await this.management.until("default", name, (space) => isReady(space) || isTried(space));
  }

  /** Moves a Space to another server at another address. @param from initial notes of that server */
  async move(
    name: string,
    { history, isDown = false }: ShopOptions = {},
    from: ReadonlyMap<string, string> = new Map(),
  ): Promise<FaultyUpstream> {
    const notes = this.#stack.use(await Notes.start(history === undefined ? {} : { history: { events: history } }));
    for (const [note, text] of from) notes.set(note, text);
    const wire = this.#stack.use(await startFaulty(`http://127.0.0.1:${notes.port}`));
    this.#shops.set(name, { notes, wire });
    if (isDown) await wire.stop();
    await this.rotate(name, "alice");
    return wire;
  }

  /** Creates another Space for an existing server, with a path of its own there. */
  async alias(name: string, of: string): Promise<void> {
    const kubeconfig = this.management.kubeconfig(name, "alice", `${this.wire(of).url}/services/notes`);
    for (const scope of ["incluster", "external"]) await this.management.keep(`${scope}-${name}`, { kubeconfig });
    await this.found(name);
  }

  /** Replaces the credential at the same address. */
  async rotate(name: string, token: string): Promise<void> {
    const url = `${this.wire(name).url}/services/notes`;
    const kubeconfig = this.management.kubeconfig("root", token, url);
    for (const scope of ["incluster", "external"]) await this.management.keep(`${scope}-${name}`, { kubeconfig });
  }

  /** Deletes the Space and keeps its server. */
  remove(name: string): Promise<void> {
    return this.management.removeSpace("default", name);
  }

  /** Deletes the external access Secret of a Space, until it is rotated. */
  async conceal(name: string): Promise<void> {
    await this.management.client.resource(SECRET).in("default").delete(`external-${name}`);
  }

  set(name: string, note: string, text: string): NoteObject {
    return this.notes(name).set(note, text);
  }

  delete(name: string, note: string): void {
    this.notes(name).delete(note);
  }

  /** Returns the current notes: names and texts. */
  has(name: string): Map<string, string> {
    const all = this.notes(name).notes.in("root").list() as NoteObject[];
    return new Map(all.map(({ metadata, spec }) => [metadata.name ?? "", spec.text ?? ""]));
  }

  /** Makes a server forget all but the last few events. */
  async forget(name: string, events: number): Promise<void> {
    for (let n = 0; n <= events; n++) {
      this.set(name, "noise", `${n}`);
      // A connected watch must receive the events before the server forgets them.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.delete(name, "noise");
  }

  /** Returns the server's notes. */
  notes(name: string): Notes {
    return this.#of(name).notes;
  }

  /** Returns the connection to the server. */
  wire(name: string): FaultyUpstream {
    return this.#of(name).wire;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }

  #of(name: string): Shop {
    const shop = this.#shops.get(name);
    if (shop === undefined) throw new Error(`there is no shop ${name}`);
    return shop;
  }
}
