import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { type PeerGroup, peerGroup } from "@virtual-workspaces/forwarding";
import type { Server } from "@virtual-workspaces/framework";
import type { Log } from "@virtual-workspaces/framework/server";
import { processMinter } from "@virtual-workspaces/framework/storage";
import { timerDelay } from "@virtual-workspaces/transport";
import type { PeersOptions } from "./group-options.ts";
import { type Roster, rosterView } from "./replicas.ts";
import { Routes, WORKER_NAME } from "./routes.ts";
import type { ServingEndpoint } from "./serving-endpoint.ts";
import type { GroupTrust, MemberPlace, Serving } from "./worker-messages.ts";

export interface WorkerEndpointOptions {
  readonly trust: GroupTrust;
  readonly replicas: PeersOptions | undefined;
  /** Time to accept other workers after {@link WorkerEndpoint.finish}, ms. */
  readonly closeDelay: number;
  readonly log: Log;
  readonly onServing: (serving: Serving) => void;
}

/** Endpoint of a worker: the primary process hands clients over, and other workers connect to a port on this machine alone. */
export class WorkerEndpoint implements ServingEndpoint {
  readonly authenticators: ServingEndpoint["authenticators"];
  readonly sni: ServingEndpoint["sni"];
  readonly views: ServingEndpoint["views"];
  readonly peers: ServingEndpoint["peers"];
  readonly #group: PeerGroup;
  readonly #routes: Routes;
  readonly #onServing: WorkerEndpointOptions["onServing"];
  readonly #closeDelay: number;
  readonly #finished = Promise.withResolvers<void>();
  #members: readonly MemberPlace[] = [];
  #server: Server | undefined;

  /** Creates the endpoint. @throws Error on invalid certificate authorities */
  constructor({ trust, replicas, closeDelay, log, onServing }: WorkerEndpointOptions) {
    const others = replicas === undefined ? [] : [{ caFile: replicas.caFile }];
    this.#group = peerGroup({
      trust: [{ ca: trust.ca, allowedNames: [WORKER_NAME] }, ...others],
      onError: (error) => log({ level: "warn", message: "peer failed", error: String(error) }),
    });
    this.authenticators = this.#group.authenticators;
    this.peers = this.#group.peers;
    this.sni = [{ ...trust.server, names: [WORKER_NAME] }];
    this.#routes = new Routes(trust, replicas);
    const roster = (): Roster => ({
      members: this.#members.flatMap(({ name, minter, at }) => (typeof at === "number" ? [{ name, minter }] : [])),
    });
    this.views = replicas === undefined ? [] : [rosterView(this.#group, roster)];
    this.#onServing = onServing;
    this.#closeDelay = closeDelay;
  }

  /** Sets the members of the group. */
  meet(members: readonly MemberPlace[]): void {
    this.#members = members;
    this.#group.members = this.#routes.to(members);
  }

  /** Serves a client; `undefined` if it has disconnected. */
  accept(connection: Socket | undefined): void {
    if (connection !== undefined) this.#server?.accept(connection);
  }

  /** Makes {@link serve} return. */
  finish(): void {
    this.#finished.resolve();
  }

  async serve(server: Server, views: readonly string[]): Promise<void> {
    await server.start();
    this.#server = server;
    const among = createServer((connection) => server.accept(connection));
    await once(among.listen({ port: 0, host: "127.0.0.1" }), "listening");
    this.#onServing({ minter: processMinter.id, port: (among.address() as AddressInfo).port, views });
    await this.#finished.promise;
    if (this.#closeDelay === 0) among.close();
    else setTimeout(() => among.close(), timerDelay(this.#closeDelay)).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#routes[Symbol.asyncDispose]();
  }
}
