import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@virtual-workspaces/client";
import { staticTokens } from "@virtual-workspaces/framework";
import type { Log } from "@virtual-workspaces/framework/server";
import { issueCertificate } from "@virtual-workspaces/framework/tls";
import { ServiceAccountKeys } from "@virtual-workspaces/workspace-server";
import { untilReady } from "../until-ready.ts";
import type { Faults } from "./faults.ts";
import { Interception } from "./interception.ts";
import { readManifests } from "./manifests.ts";
import type { WatchEnd } from "./open-watches.ts";
import type { TestServerOptions } from "./options.ts";
import type { RecordedRequests } from "./recorded-requests.ts";
import type { RequestMatch } from "./request-match.ts";
import { RunningServer, type RunningServerOptions } from "./running-server.ts";
import { TestClock } from "./test-clock.ts";
import { TestUser } from "./test-user.ts";

const ADMIN = "admin";

/**
 * API server in the process of a test, with objects in memory. `startTestServer` starts it; it runs until it is disposed.
 * Security: it listens on 127.0.0.1 only, and its tokens are random. Every process of this machine that knows a token can use
 * it.
 */
export class TestServer implements AsyncDisposable {
  /** Users by name. */
  readonly users: ReadonlyMap<string, TestUser>;
  /** Time of the server. A reset does not turn it back. */
  readonly clock: TestClock = new TestClock();
  readonly #options: RunningServerOptions;
  readonly #interception: Interception;
  readonly #ca: string | undefined;
  readonly #readyWithin: number | undefined;
  #running: RunningServer | undefined;
  #listening: { readonly url: string; readonly port: number } | undefined;
  #folder: string | undefined;
  /** Resets one after another, and closes after them. */
  #work: Promise<void> = Promise.resolve();
  #closed: Promise<void> | undefined;

  private constructor(options: TestServerOptions, tls: Tls | undefined) {
    const { crds = [], objects = [], virtualWorkspaces, log = onlyErrors } = options;
    this.#interception = new Interception(options.requests, (request) => this.#running?.isExpired(request) ?? false);
    const { intercept, onRequest } = this.#interception;
    this.#ca = tls?.ca;
    this.#readyWithin = options.readyWithin;
    const users = new Map<string, TestUser>();
    const server = { users, endpoint: () => this.#endpoint() };
    for (const entry of Object.entries({ [ADMIN]: { groups: ["system:masters"] }, ...options.users }))
      users.set(entry[0], new TestUser(entry, server));
    this.users = users;
    const tokens = Object.fromEntries(Array.from(users.values(), ({ token, identity }) => [token, identity]));
    this.#options = {
      content: { crds: readManifests(crds, "crds"), objects: readManifests(objects, "objects") },
      workspaces: workspacesOf(options),
      authentication: [staticTokens(tokens)],
      serviceAccountKeys: new ServiceAccountKeys({ signing: signingKey() }),
      rootCa: () => tls?.ca ?? "",
      ...(tls !== undefined && { tls: tls.serving }),
      ...(virtualWorkspaces !== undefined && { virtualWorkspaces }),
      clock: this.clock,
      intercept,
      onRequest,
      log,
    };
  }

  /** @internal Use `startTestServer`. */
  static async start(options: TestServerOptions = {}): Promise<TestServer> {
    const server = new TestServer(options, options.tls === false ? undefined : await newTls());
    await server.#start(options.port ?? 0);
    return server;
  }

  /** `https://127.0.0.1:<port>`, without a trailing slash. */
  get url(): string {
    return this.#where.url;
  }

  /** Certificate authority of the server, PEM; `undefined` over plain HTTP. */
  get ca(): string | undefined {
    return this.#ca;
  }

  /** User `admin`, a member of `system:masters` unless the options state other groups. */
  get admin(): TestUser {
    return this.user(ADMIN);
  }

  /** Returns a user. @throws Error for a name that the options do not have */
  user(name: string): TestUser {
    const found = this.users.get(name);
    if (found !== undefined) return found;
    throw new Error(`unknown user ${JSON.stringify(name)}: add it to the option users of startTestServer`);
  }

  /** Client of `admin`. */
  get client(): Client {
    return this.admin.client;
  }

  /** Text of a kubeconfig with a context for each user; the current one is that of `admin`. Security: it has all tokens. */
  get kubeconfig(): string {
    return this.admin.kubeconfig;
  }

  /** Path of a file with {@link kubeconfig}, readable by its owner only. The server removes it when it closes. */
  get kubeconfigFile(): string {
    return this.admin.kubeconfigFile;
  }

  /** Faults for requests of clients. */
  get faults(): Faults {
    return this.#interception.faults;
  }

  /** Requests of clients, recorded as they arrive. */
  get requests(): RecordedRequests {
    return this.#interception.requests;
  }

  /** Ends open watches that match. @returns their number */
  endWatches(match: RequestMatch = {}, how: WatchEnd = "close"): number {
    return this.#interception.watches.end(match, how);
  }

  /**
   * Starts over with the state of the start: its CustomResourceDefinitions and objects, and nothing else. Address, users and
   * clients stay. Open watches of the earlier state end cleanly, and its resource versions are expired (410). Faults and
   * recorded requests are cleared. With `workspaces` the server starts again on the same port instead.
   *
   * @throws Error after `close`
   */
  reset(): Promise<void> {
    if (this.#closed !== undefined) throw new Error("the test server is closed: reset it before close");
    const done = this.#work.then(() => this.#reset());
    this.#work = done.catch(() => undefined);
    return done;
  }

  /** Ends open watches, and stops the server. Requests under way get a second to finish. */
  close(): Promise<void> {
    this.#closed ??= this.#work.then(() => this.#close());
    return this.#closed;
  }

  /** Alias of {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #start(port: number): Promise<void> {
    const { running, ...listening } = await RunningServer.start(this.#options, port);
    try {
      await untilReady({ url: listening.url, ca: this.#ca }, this.#readyWithin);
    } catch (error) {
      await running[Symbol.asyncDispose]();
      throw error;
    }
    this.#running = running;
    this.#listening = listening;
  }

  async #reset(): Promise<void> {
    if (this.#options.workspaces === undefined) await this.#running?.renew(() => this.endWatches());
    else {
      await this.#running?.[Symbol.asyncDispose]();
      await this.#start(this.#where.port);
    }
    this.#interception.clear();
  }

  async #close(): Promise<void> {
    for (const user of this.users.values()) await user[Symbol.asyncDispose]();
    await this.#running?.[Symbol.asyncDispose]();
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }

  get #where(): { readonly url: string; readonly port: number } {
    if (this.#listening === undefined) throw new Error("the test server has not started: await startTestServer first");
    return this.#listening;
  }

  #endpoint() {
    return {
      url: this.#options.workspaces === undefined ? this.url : `${this.url}/clusters/root`,
      ca: this.#ca,
      folder: () => {
        this.#folder ??= mkdtempSync(join(tmpdir(), "test-server-"));
        return this.#folder;
      },
    };
  }
}

interface Tls {
  readonly serving: { readonly cert: string; readonly key: string };
  readonly ca: string;
}

/** Returns a certificate for this machine, of an authority whose key is dropped. */
async function newTls(): Promise<Tls> {
  const now = new Date();
  const authority = await issueCertificate({
    subject: { name: "test-server", groups: [] },
    purpose: { kind: "authority" },
    now,
  });
  const purpose = { kind: "server", hosts: ["localhost"], addresses: ["127.0.0.1"] } as const;
  const serving = await issueCertificate({ subject: { name: "localhost", groups: [] }, purpose, now }, authority);
  return { serving, ca: authority.cert };
}

function signingKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

function workspacesOf({ workspaces = false }: TestServerOptions): readonly string[] | undefined {
  if (workspaces === false) return undefined;
  return workspaces === true ? [] : workspaces;
}

const onlyErrors: Log = ({ level, message, ...details }) => {
  if (level === "error") process.emitWarning(`${message} ${JSON.stringify(details)}`);
};
