// Server of notes, clients of it, and the recorded events of an informer.
import type { KindReference, StoredObject } from "@virtual-workspaces/apimachinery";
import {
  Client,
  Informer,
  type InformerEvent,
  type InformerOptions,
  type LifecycleEvent,
} from "@virtual-workspaces/client";
import {
  type Authorizer,
  allow,
  type Collection,
  type CollectionOptions,
  createServer,
  defineVirtualWorkspace,
  type Server,
  type ServerOptions,
  staticTokens,
} from "@virtual-workspaces/framework";
import type { UpstreamOptions } from "@virtual-workspaces/transport";
import { testLog } from "../../_setup/log.ts";
import { Note } from "../../_support/note.ts";

export type NoteContent = { spec: { text?: string } };
export type NoteObject = StoredObject<NoteContent>;

export interface NotesOptions extends Partial<ServerOptions> {
  readonly notes?: Collection<NoteContent>;
  readonly history?: CollectionOptions["history"];
  readonly port?: number;
  readonly authorize?: Authorizer;
}

/** Server of notes in all clusters, and its collection. */
export class Notes implements AsyncDisposable {
  readonly notes: Collection<NoteContent>;
  readonly server: Server;
  readonly port: number;

  private constructor(notes: Collection<NoteContent>, server: Server, port: number) {
    this.notes = notes;
    this.server = server;
    this.port = port;
  }

  static async start(options: NotesOptions = {}): Promise<Notes> {
    const { history, port = 0, authorize = () => allow(), ...rest } = options;
    const notes =
      options.notes ??
      (Note.collection(history === undefined ? {} : { history }) as unknown as Collection<NoteContent>);
    const view = defineVirtualWorkspace({
      name: "notes",
      path: "/clusters/:cluster",
      wildcard: true,
      authorize,
      resources: [Note.serve(notes as never)],
    });
    const server = createServer({
      virtualWorkspaces: [view],
      authentication: [staticTokens({ alice: { name: "alice" } })],
      log: testLog().log,
      ...rest,
    });
    const listening = await server.listen({ port });
    return new Notes(notes, server, listening.port);
  }

  set(name: string, text: string, cluster = "root"): NoteObject {
    return this.notes.in(cluster).set(name, { text }) as NoteObject;
  }

  delete(name: string, cluster = "root"): void {
    this.notes.in(cluster).delete(name);
  }

  /** Returns the versions of the existing objects by name. */
  versions(cluster = "root"): Map<string, string> {
    return versionsOf(this.notes.in(cluster).list() as NoteObject[]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server.close();
  }
}

/** Versions by name. */
export function versionsOf(objects: readonly NoteObject[]): Map<string, string> {
  const all = objects.map(({ metadata }) => [metadata.name ?? "", metadata.resourceVersion ?? ""] as const);
  return new Map([...all].sort(([a], [b]) => (a < b ? -1 : 1)));
}

export const NOTE = Note as unknown as KindReference<NoteContent>;

/** Times that suit a test. */
export const QUICK = { backoff: { first: 1, most: 20 }, initialDeadline: 2000 } as const;

export interface WatchedOptions extends Partial<InformerOptions<NoteContent>> {
  readonly cluster?: string;
  readonly upstream?: Partial<UpstreamOptions>;
}

/** Informer of notes that records all events. */
export class Watched implements AsyncDisposable {
  readonly client: Client;
  readonly informer: Informer<NoteContent>;
  readonly events: InformerEvent<NoteObject>[] = [];
  readonly lifecycle: LifecycleEvent[] = [];
  #wake = Promise.withResolvers<void>();

  constructor(port: number, { cluster = "root", upstream, ...options }: WatchedOptions = {}) {
    const headers = ["Authorization", "Bearer alice"];
    const url = `http://127.0.0.1:${port}/services/notes`;
    this.client = new Client({ upstream: { url, credentials: { get: () => ({ headers }) }, ...upstream }, cluster });
    this.informer = new Informer({ ...QUICK, resource: this.client.resource(NOTE), ...options });
    const event = (_object: unknown, ...more: unknown[]): void => {
      this.events.push(more.at(-1) as InformerEvent<NoteObject>);
      this.#woken();
    };
    this.informer.on({
      added: event,
      updated: event,
      deleted: event,
      lifecycle: (told) => {
        this.lifecycle.push(told);
        this.#woken();
      },
    });
  }

  static async synced(port: number, options?: WatchedOptions): Promise<Watched> {
    const watched = new Watched(port, options);
    watched.informer.start();
    await watched.informer.synced;
    return watched;
  }

  /** Events in the form `added a`. */
  get labels(): string[] {
    return this.events.map(({ type, key }) => `${type} ${key.name}`);
  }

  /** Types of lifecycle events. */
  get told(): string[] {
    return this.lifecycle.map(({ type }) => type);
  }

  /** Resolves when a condition holds, which is checked at each event. */
  async until(holds: () => boolean, patience = 15_000): Promise<void> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => reject(new Error(`not so within ${patience} ms: ${this.told.slice(-30)}; ${this.labels.slice(-30)}`)),
      patience,
    );
    try {
      while (!holds()) await Promise.race([this.#wake.promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  versions(): Map<string, string> {
    return versionsOf(this.informer.store.list());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.informer.stop();
    await this.client[Symbol.asyncDispose]();
  }

  #woken(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }
}
