import type { Authenticator, Server, ServerOptions, VirtualWorkspace } from "@virtual-workspaces/framework";
import type { SniCertificate } from "@virtual-workspaces/framework/tls";
import { Interrupt } from "../../process/interrupt.ts";
import { type ListenAddress, startFailure, tellReady } from "../../server/listening.ts";

/** Endpoint of a process: its own port, or the connections that a primary process hands over. */
export interface ServingEndpoint extends AsyncDisposable {
  readonly peers?: ServerOptions["peers"];
  /** Authenticators that precede all others. */
  readonly authenticators: readonly Authenticator[];
  readonly sni: readonly SniCertificate[];
  /** Additional views. */
  readonly views: readonly VirtualWorkspace[];
  /** Serves until a signal or message stops it. @param paths paths of views @throws Failure */
  serve(server: Server, paths: readonly string[]): Promise<void>;
}

/** Endpoint of a single process. */
export class SingleProcess implements ServingEndpoint {
  readonly authenticators: ServingEndpoint["authenticators"] = [];
  readonly sni: ServingEndpoint["sni"] = [];
  readonly views: ServingEndpoint["views"] = [];
  readonly #interrupt = new Interrupt();
  readonly #place: ListenAddress;

  constructor(place: ListenAddress) {
    this.#place = place;
  }

  async serve(server: Server, paths: readonly string[]): Promise<void> {
    const { bindAddress, port } = this.#place;
    const listening = await server.listen({ port, host: bindAddress }).catch((error: unknown) => {
      throw startFailure(error, { bindAddress, port });
    });
    tellReady(listening.url, paths);
    await this.#interrupt.requested;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#interrupt[Symbol.dispose]();
  }
}
