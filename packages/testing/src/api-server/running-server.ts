import { Client } from "@virtual-workspaces/client";
import { sameCaller } from "@virtual-workspaces/forwarding";
import type { InterceptedRequest } from "@virtual-workspaces/framework/server";
import { memoryStore, type Store } from "@virtual-workspaces/store";
import {
  createWorkspaceServer,
  loopback,
  type ServerClock,
  type WorkspaceServer,
  type WorkspaceServerOptions,
} from "@virtual-workspaces/workspace-server";
import { type Content, createWorkspaces, fill, newCluster } from "./content.ts";
import type { TestServerOptions } from "./options.ts";
import { removeCluster, Snapshot } from "./snapshot.ts";

/** Options of a workspace server that a test server runs. */
export interface RunningServerOptions
  extends Omit<WorkspaceServerOptions, "store" | "loopback" | "clusterAtRoot" | "closeTimeout" | "virtualWorkspaces"> {
  readonly virtualWorkspaces?: TestServerOptions["virtualWorkspaces"];
  readonly content: Content;
  readonly clock: ServerClock;
  /** Workspaces to create; `undefined` for a single cluster at the root of the URL. */
  readonly workspaces: readonly string[] | undefined;
}

/** Time that requests get to finish when the server closes, ms. */
const CLOSE_WITHIN = 1000;

/** Time limit for the server to notice a new state, ms. */
const CONFIRMED_WITHIN = 30_000;

/** A workspace server with a store of its own, from start to close. */
export class RunningServer implements AsyncDisposable {
  readonly #options: RunningServerOptions;
  readonly #store: Store;
  readonly #server: WorkspaceServer;
  /** Requests as a member of `system:masters` within the process: no fault concerns them, and they are not recorded. */
  readonly #itself: Client;
  #cluster: string | undefined;
  /** State of the single cluster at the start. */
  #first: Snapshot | undefined;
  /** Revision of the store at the last renewal. */
  #renewed = 0;

  private constructor(options: RunningServerOptions) {
    const { content: _, workspaces: __, virtualWorkspaces = [], ...others } = options;
    this.#options = options;
    this.#store = memoryStore({ clock: options.clock });
    const itself = loopback();
    this.#itself = new Client({ upstream: itself.upstream });
    this.#server = createWorkspaceServer({
      ...others,
      virtualWorkspaces: virtualWorkspaces.map((view) =>
        typeof view === "function" ? view({ upstream: itself.upstream, identity: sameCaller }) : view,
      ),
      store: this.#store,
      loopback: itself,
      clusterAtRoot: () => this.#cluster,
      closeTimeout: CLOSE_WITHIN,
    });
  }

  /** @throws Error on content that the server does not serve, and the errors of the listener */
  static async start(
    options: RunningServerOptions,
    port: number,
  ): Promise<{ readonly running: RunningServer; readonly url: string; readonly port: number }> {
    const running = new RunningServer(options);
    try {
      const listening = await running.#server.listen({ port });
      if (options.workspaces === undefined) await running.#create();
      else {
        await createWorkspaces(running.#itself, options.workspaces);
        await fill(running.#itself.cluster("root"), options.content);
      }
      return { running, ...listening };
    } catch (error) {
      await running[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Whether a watch starts at a version of an earlier state. */
  isExpired({ cluster, req: { url = "" } }: InterceptedRequest): boolean {
    if (cluster !== this.#cluster || this.#renewed === 0) return false;
    const version = /[?&]resourceVersion=(\d+)(?=&|$)/.exec(url)?.[1] ?? "0";
    return version !== "0" && Number(version) < this.#renewed;
  }

  /**
   * Replaces the single cluster by a new one as at the start. The objects of the earlier one are removed, whatever finalizers
   * they have.
   *
   * @param left called when new requests are for the new cluster
   */
  async renew(left: () => void): Promise<void> {
    const earlier = this.#cluster;
    const name = await this.#first?.copy(this.#store);
    await this.#confirm();
    this.#cluster = name;
    const compactTo = this.#renewed;
    this.#renewed = await this.#store.head();
    left();
    if (earlier !== undefined) await removeCluster(this.#store, earlier);
    await this.#store.compact(compactTo);
    // Lists are as new as the removal, so that watches after them are not expired.
    await this.#confirm();
  }

  async #create(): Promise<void> {
    const cluster = await newCluster(this.#itself, this.#options.content);
    this.#first = await Snapshot.of(this.#store, cluster);
    await this.#confirm();
    this.#cluster = cluster;
  }

  #confirm(): Promise<void> {
    return this.#server.confirm({ signal: AbortSignal.timeout(CONFIRMED_WITHIN) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close();
    await this.#itself[Symbol.asyncDispose]();
    await this.#store[Symbol.asyncDispose]();
  }
}
