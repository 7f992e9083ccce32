// Server whose requests wait for the test, which thus controls the requests in flight and in the queue.
import {
  allow,
  createServer,
  defineVirtualWorkspace,
  type ServerOptions,
  staticTokens,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import type { RequestLimits } from "@virtual-workspaces/framework/server";
import type { Storage } from "@virtual-workspaces/framework/storage";
import { testLog } from "../_setup/log.ts";
import { Note } from "./note.ts";
import { Wire } from "./wire.ts";

export const NOTES = "/apis/test.dev/v1/notes";
const SWITCHED = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n";
const note = (name: string) => ({ apiVersion: "test.dev/v1", kind: "Note", metadata: { name }, spec: {} });

/** Request in a handler, as `user/name`, with the function that completes it. */
interface Entered {
  readonly what: string;
  readonly signal: AbortSignal;
  go(): void;
}

export interface GatedOptions extends Partial<ServerOptions> {
  readonly limits?: RequestLimits;
}

/**
 * Server with users `a` to `z`, whose names are their tokens. Requests wait in the workspaces `one`, `two` and `raw`, but not
 * in `watched`.
 */
export class Gated implements AsyncDisposable {
  /** Requests in handlers, in order of arrival. */
  readonly entered: Entered[] = [];
  readonly server;
  port = 0;
  #wake = (): void => undefined;
  #opened = false;

  constructor(options: GatedOptions = {}) {
    const { virtualWorkspaces = [], ...rest } = options;
    this.server = createServer({
      virtualWorkspaces: [this.#objects("one"), this.#objects("two"), this.#raw(), watched(), ...virtualWorkspaces],
      authentication: [staticTokens(Object.fromEntries(USERS.map((name) => [name, { name }])))],
      log: testLog().log,
      ...rest,
    });
  }

  static async start(options?: GatedOptions): Promise<Gated> {
    const gated = new Gated(options);
    gated.port = (await gated.server.listen({ port: 0 })).port;
    return gated;
  }

  /** Sends a request on a new connection. */
  async ask(user: string, line: string, ...more: readonly string[]): Promise<Wire> {
    const wire = await Wire.open(this.port);
    wire.request(`${line} HTTP/1.1`, "Host: x", `Authorization: Bearer ${user}`, ...more);
    return wire;
  }

  /** Sends a get of an object, which waits for the test. */
  get(user: string, name: string, workspace = "one"): Promise<Wire> {
    return this.ask(user, `GET /services/${workspace}${NOTES}/${name}`);
  }

  /** Resolves when `count` requests have reached handlers. @returns the requests, as `user/name` */
  async has(count: number): Promise<string[]> {
    await this.#when(() => this.entered.length >= count);
    return this.entered.map(({ what }) => what);
  }

  /** Resolves when the server's counters have these values. */
  async counts(expected: Partial<Record<"inFlight" | "queued" | "longRunning", number>>): Promise<void> {
    const names = Object.keys(expected) as (keyof typeof expected)[];
    for (let patience = performance.now() + 15_000; ; ) {
      const { stats } = this.server;
      if (names.every((name) => stats[name] === expected[name])) return;
      if (performance.now() > patience)
        throw new Error(`${JSON.stringify(stats)} instead of ${JSON.stringify(expected)}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Completes all waiting requests and all later ones. */
  open(): void {
    this.#opened = true;
    for (const { go } of this.entered) go();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.open();
    return this.server.close();
  }

  #enter(what: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.entered.push({ what, signal, go: resolve });
    if (this.#opened) resolve();
    this.#wake();
    return promise;
  }

  async #when(ready: () => boolean): Promise<void> {
    const { promise: tooLong, reject } = Promise.withResolvers<never>();
    const late = setTimeout(
      () => reject(new Error(`only these have come: ${this.entered.map(({ what }) => what)}`)),
      15_000,
    );
    while (!ready()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await Promise.race([promise, tooLong]);
    }
    clearTimeout(late);
  }

  #objects(name: string): VirtualWorkspace {
    const storage: Storage = {
      get: async ({ identity }, { name: object }, { signal }) => {
        // The name of the objects that are created is free: the server checks that before each create.
        if (object === "new") return undefined;
        await this.#enter(`${identity.name}/${object}`, signal);
        return note(object);
      },
      list: async ({ identity }, { signal }) => {
        await this.#enter(`${identity.name}/`, signal);
        return { items: [], resourceVersion: "1" };
      },
      create: async ({ identity }, object, { signal }) => {
        await this.#enter(`${identity.name}/create`, signal);
        return { ...object, metadata: { ...object.metadata, resourceVersion: "2" } };
      },
    };
    return defineVirtualWorkspace({
      name,
      path: "/",
      authorize: () => allow(),
      resources: [Note.serve(storage as Storage<never>)],
    });
  }

  #raw(): VirtualWorkspace {
    return defineVirtualWorkspace({
      name: "raw",
      path: "/",
      authorize: () => allow(),
      handle: async (_req, res, { user, tail, signal }) => {
        if (tail.startsWith("/stream")) res.writeHead(200).write("begun");
        await this.#enter(`${user.name}${tail}`, signal);
        res.end("done");
      },
      upgrade: async (_req, socket, { user, tail, signal }) => {
        socket.write(SWITCHED);
        socket.once("end", () => socket.end()).resume();
        await this.#enter(`${user.name}${tail}`, signal);
        socket.end();
      },
    });
  }
}

const USERS = [..."abcdefghijklmnopqrstuvwxyz"];

/** Returns a view with watchable objects. */
function watched(): VirtualWorkspace {
  const notes = Note.collection();
  notes.in("").set("first", {});
  return defineVirtualWorkspace({
    name: "watched",
    path: "/",
    authorize: () => allow(),
    resources: [Note.serve(notes)],
  });
}
